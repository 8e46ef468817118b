import { authenticate, authenticateAgain } from '../auth/bearer.ts'
import { lacksPermission } from '../auth/scopes.ts'
import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/database.ts'
import type { Caller } from '../graph/caller.ts'
import type { DoorPolicy } from '../http/admission.ts'
import type { PreparedRow } from '../http/route-table.ts'

const noHeaders = {}
const noQuery = {}

/**
 * `/gateway/…`: the network's edge, acting for users' phones, by a token with the scope `gateway`: token (401), scope (403). There
 * is no version, no node and no limit: the edge is part of the platform.
 */
export const gatewayDoor: DoorPolicy = {
  async admit(deps, route, request, progress) {
    const row = route.rows.get(undefined) as PreparedRow
    progress.row = row
    // Never by a token in the query: no client of the gateway does that.
    const caller = await authenticate(deps, { ...request, query: noQuery })
    progress.caller = caller
    checkScope(caller)
    return { row, caller, node: undefined, headers: noHeaders }
  },

  async readmit(deps, before) {
    return { ...before, caller: await readmitEdge(deps, before.caller) }
  },
}

/** Who of the network's edge is calling by now; throws what stands against it. */
export async function readmitEdge(
  { database, clock }: { readonly database: Pick<Database, 'read'>; readonly clock: Clock },
  before: Caller,
): Promise<Caller> {
  const caller = await authenticateAgain(database.read, clock, before)
  checkScope(caller)
  return caller
}

export function checkScope({ scopes }: Caller): void {
  if (!scopes.has('gateway')) throw lacksPermission(['gateway'])
}
