import type { OpenRow } from '../graph/operation.ts'
import type { DoorPolicy } from '../http/admission.ts'
import type { PreparedRow } from '../http/route-table.ts'
import { checkVersion } from './version.ts'

const noHeaders = {}

/** Anyone: pages and images behind links, documents, health. Nobody is authenticated, and no tenant's data is shown without its link. */
export const openDoor: DoorPolicy = {
  async admit(deps, route, request, progress) {
    if (route.version !== undefined) checkVersion(deps, route, request)
    const row = route.rows.get(undefined) as PreparedRow
    progress.row = row
    // Health has no limit, so that nobody can make it fail.
    if (!(row.operation as OpenRow).everyRole) deps.openDoorLimit.take(request.remote_address)
    return { row, caller: undefined, node: undefined, headers: noHeaders }
  },
}
