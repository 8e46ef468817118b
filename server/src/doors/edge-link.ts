import { authenticate } from '../auth/bearer.ts'
import { linkExpired, notFound } from '../graph/errors.ts'
import type { DoorPolicy } from '../http/admission.ts'
import type { PreparedRow } from '../http/route-table.ts'
import { checkScope } from './scoped.ts'

const noHeaders = {}
const noQuery = {}

/**
 * A signed link from a response of the gateway, with a token of the network's edge: token (401), scope (403), link (404). Whether the
 * token sees what it leads to is for the row.
 */
export const edgeLinkDoor: DoorPolicy = {
  async admit(deps, route, request, progress) {
    const { links, guesses } = deps
    const row = route.rows.get(undefined) as PreparedRow
    progress.row = row
    const caller = await authenticate(deps, { ...request, query: noQuery })
    progress.caller = caller
    checkScope(caller, 'gateway')
    // A caller with a token who forges links is limited by the token, from any address.
    guesses.refuse(caller.token_id)
    const [member = ''] = Object.values(request.path.members)
    const link = links.check(
      route.shape.replace('{}', () => encodeURIComponent(member)),
      request.query,
    )
    if (link === 'made up') {
      guesses.noteWrong(caller.token_id)
      throw notFound()
    }
    if (link === 'expired') throw linkExpired()
    return { row, caller, node: undefined, headers: noHeaders }
  },
}
