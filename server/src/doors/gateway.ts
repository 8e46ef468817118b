import { missingPermission } from '../graph/errors.ts'
import { type Admit, identifyCaller } from '../http/admission.ts'
import type { PreparedRow } from '../http/route-table.ts'

const noHeaders = {}

/**
 * `/gateway/…`: the network's edge, acting for the users' phones, by a token with the scope `gateway`: token (401), scope (403).
 * There is no version, no node and no limit: the edge is part of the platform.
 */
export const admitGateway: Admit = async (deps, route, request, progress) => {
  const row = route.rows.get(undefined) as PreparedRow
  progress.row = row
  const caller = await identifyCaller(deps, request)
  progress.caller = caller
  if (!caller.scopes.has('gateway')) throw missingPermission(['gateway'])
  return { row, caller, node: undefined, headers: noHeaders }
}
