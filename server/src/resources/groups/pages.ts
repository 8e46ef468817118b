import { Type } from 'typebox'
import { defineOpen } from '../../graph/define.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import { composeMissingPage } from '../../replies/card.ts'
import { replyMissing, replyWithPage } from '../../replies/missing.ts'
import { composeInvitePage } from './page.ts'
import { isInviteCode } from './rules.ts'
import { findInvitationForAnyone } from './store.ts'

const missing = composeMissingPage(
  'The business has replaced or deleted its invite link, or the address was not copied whole. Ask the business for a new link.',
)

/** The page of an invite link. The link is looked up at every request: an ended link gets a 404. */
export function groupPages(): NewReplyOperation[] {
  return [
    defineOpen({
      name: 'public.invite',
      path: '/invite/{code}',
      sentence: 'Shows the page of an invite link of a group.',
      input: Type.Object({
        code: Type.String({ description: 'The code of the link.' }),
      }),
      content: { 'text/html': Type.String({ contentMediaType: 'text/html' }) },
      missing: 'page',
      examples: { input: { code: 'AbCdEfGhIjKlMnOpQrStUv' }, output: undefined },
      async run({ db, headers }, { code }) {
        const invitation = isInviteCode(code) ? await findInvitationForAnyone(db, code) : undefined
        return invitation ? replyWithPage(composeInvitePage(invitation)) : replyMissing(headers, missing)
      },
    }),
  ]
}
