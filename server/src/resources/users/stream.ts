import { Type } from 'typebox'
import { defineGatewayStream } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import { eventStreamHeaders, PushReply } from '../../graph/reply.ts'
import { idSchema } from '../../graph/schemas.ts'
import { userWaIdSchema } from '../calls/schemas.ts'
import { findNumberForGateway } from '../calls/store.ts'

const lastEventHeader = 'last-event-id'

export function streamOperations(): NewReplyOperation[] {
  return [
    defineGatewayStream({
      name: 'gateway.stream',
      path: '/gateway/stream',
      sentence:
        'Sends messages, statuses, typing indicators and calls as they happen, as Server-Sent Events; resumes after Last-Event-ID, or sends reset.',
      headers: [lastEventHeader],
      input: Type.Object({
        user_wa_id: Type.Optional(userWaIdSchema),
        phone_number_id: Type.Optional(idSchema({ description: 'Only what happens with this phone number.' })),
        [lastEventHeader]: Type.Optional(
          Type.String({
            maxLength: 1000,
            description: 'The id of the last event that arrived: the stream goes on after it.',
          }),
        ),
      }),
      examples: { input: { user_wa_id: '16505551234' }, output: undefined },
      async run({ db, caller, ports, sees }, { user_wa_id, phone_number_id, [lastEventHeader]: last }) {
        if (phone_number_id !== undefined) {
          const number = await findNumberForGateway(db, phone_number_id)
          if (!number || !sees(number.account_id)) throw notFound()
        }
        const asked = { ...(user_wa_id && { user_wa_id }), ...(phone_number_id && { phone_number_id }) }
        return new PushReply(eventStreamHeaders, await ports.usersStream.open(caller, asked, last))
      },
    }),
  ]
}
