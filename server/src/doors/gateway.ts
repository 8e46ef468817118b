import { authenticate, authenticateAgain } from '../auth/bearer.ts'
import { lacksPermission } from '../auth/scopes.ts'
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

  async readmit({ database, clock }, before) {
    const caller = await authenticateAgain(database.read, clock, before.caller)
    checkScope(caller)
    return { ...before, caller }
  },
}

export function checkScope({ scopes }: Caller): void {
  if (!scopes.has('gateway')) throw lacksPermission(['gateway'])
}
