import { authenticate, authenticateAgain } from '../auth/bearer.ts'
import { lacksPermission } from '../auth/scopes.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Database } from '../db/database.ts'
import type { Caller, Scope } from '../graph/caller.ts'
import type { DoorPolicy } from '../http/admission.ts'
import type { PreparedRow } from '../http/route-table.ts'

const noHeaders = {}
const noQuery = {}

/** A door for tokens with one scope: token (401), scope (403). There is no version, no node and no limit. */
export function makeScopedDoor(scope: Scope, { usesReserve = false } = {}): DoorPolicy {
  return {
    usesReserve,

    async admit(deps, route, request, progress) {
      const row = route.rows.get(undefined) as PreparedRow
      progress.row = row
      // Never by a token in the query: no client of these doors does that.
      const asked = { ...request, query: noQuery }
      const caller = usesReserve
        ? await authenticate({ ...deps, database: { read: deps.database.reserved } }, asked)
        : await authenticate(deps, asked)
      progress.caller = caller
      checkScope(caller, scope)
      return { row, caller, node: undefined, headers: noHeaders }
    },

    async readmit(deps, before) {
      return { ...before, caller: await readmitScoped(deps, before.caller, scope) }
    },
  }
}

/** Who is calling by now; throws what stands against it. */
export async function readmitScoped(
  { database, clock }: { readonly database: Pick<Database, 'read'>; readonly clock: Clock },
  before: Caller,
  scope: Scope,
): Promise<Caller> {
  const caller = await authenticateAgain(database.read, clock, before)
  checkScope(caller, scope)
  return caller
}

export function checkScope({ scopes }: Caller, scope: Scope): void {
  if (!scopes.has(scope)) throw lacksPermission([scope])
}
