import type { FastifyInstance } from 'fastify'
import type { Database } from '../db/database.ts'
import { isInviteCode } from '../resources/groups/rules.ts'
import { findInvitationForAnyone } from '../resources/groups/store.ts'
import { composeMissingPage } from './public/card.ts'
import { composeInvitePage } from './public/invite-page.ts'
import { sendMissing, sendPage } from './public/send.ts'

export const groupPaths = ['invite'] as const

/** `/invite/{code}`: anyone who was sent the invite link of a group. Looked up at every request: a dead link answers 404. */
export function openGroupPages(server: FastifyInstance, database: Database): void {
  const missing = composeMissingPage(
    'The business has replaced or deleted its invite link, or the address was not copied whole. Ask the business for a new link.',
  )
  server.get<{ Params: { code: string } }>('/invite/:code', async (request, reply) => {
    request.operationName = 'public.invite'
    const { code } = request.params
    const invitation = isInviteCode(code) ? await findInvitationForAnyone(database.read, code) : undefined
    if (!invitation) return sendMissing(request, reply, missing)
    return sendPage(reply, composeInvitePage(invitation))
  })
}
