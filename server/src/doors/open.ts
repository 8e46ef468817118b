import type { DoorPolicy } from '../http/admission.ts'
import type { PreparedRow } from '../http/route-table.ts'

const noHeaders = {}

/** Anyone: pages and pictures that links open, documents, health. Nothing is proved, and nothing of a tenant is shown unasked. */
export const openDoor: DoorPolicy = {
  async admit(_deps, route, _request, progress) {
    const row = route.rows.get(undefined) as PreparedRow
    progress.row = row
    return { row, caller: undefined, node: undefined, headers: noHeaders }
  },
}
