import type { OpenRow } from '../graph/operation.ts'
import type { DoorPolicy } from '../http/admission.ts'
import type { PreparedRow } from '../http/route-table.ts'

const noHeaders = {}

/** Anyone: pages and pictures that links open, documents, health. Nothing is proved, and nothing of a tenant is shown unasked. */
export const openDoor: DoorPolicy = {
  async admit({ openDoorLimit }, route, { remote_address }, progress) {
    const row = route.rows.get(undefined) as PreparedRow
    progress.row = row
    // Health is asked for without a limit, so that nobody can make it fail.
    if (!(row.operation as OpenRow).everyRole) {
      openDoorLimit.refuse(remote_address)
      openDoorLimit.count(remote_address)
    }
    return { row, caller: undefined, node: undefined, headers: noHeaders }
  },
}
