import { resolveNode } from '../auth/access.ts'
import { authenticateActing, readActingApp } from '../auth/acting.ts'
import { authenticate } from '../auth/bearer.ts'
import { checkPermission } from '../auth/scopes.ts'
import { linkExpired, notFound } from '../graph/errors.ts'
import type { LinkRow } from '../graph/operation.ts'
import type { DoorPolicy } from '../http/admission.ts'

const noHeaders = {}

/**
 * A signed link from a response of the API, with a token that sees its node. The order is that of the API: token (401), node and tenant
 * (404), permission (403). A forged link gets a 404; that a link has expired is revealed only to callers who may see its node.
 */
export const linkDoor: DoorPolicy = {
  async admit(deps, route, request, progress) {
    const { database, vocabulary, links, guesses } = deps
    const app_id = readActingApp(request, deps)
    const caller = await (app_id === undefined
      ? authenticate(deps, request)
      : authenticateActing(deps, request, app_id))
    progress.caller = caller
    // A caller with a token who forges links is limited by the token, from any address.
    guesses.refuse(caller.token_id)
    const { id, members } = request.path
    const parts = [id, ...Object.values(members)].map(encodeURIComponent).values()
    const link = links.check(
      route.shape.replaceAll('{}', () => parts.next().value ?? ''),
      request.query,
    )
    if (link === 'made up') {
      guesses.noteWrong(caller.token_id)
      throw notFound()
    }
    const node = await resolveNode(database.read, caller, id)
    const row = route.rows.get(node.kind)
    if (!row) throw notFound()
    progress.node = node
    progress.row = row
    checkPermission(caller, (row.operation as LinkRow).permission, vocabulary)
    if (link === 'expired') throw linkExpired()
    return { row, caller, node, headers: noHeaders }
  },
}
