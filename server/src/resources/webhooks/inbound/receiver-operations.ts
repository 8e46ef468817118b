import { Type } from 'typebox'
import { defineHandshake, defineReceiver } from '../../../graph/define.ts'
import type { NewRow } from '../../../graph/operation.ts'
import { Reply } from '../../../graph/reply.ts'
import { successSchema } from '../../../graph/schemas.ts'
import type { Vocabulary } from '../../../graph/vocabulary.ts'
import { type Envelope, makeEnvelopeCheck } from './envelope.ts'
import { describeEnvelope } from './envelope-schemas.ts'
import { keepNumbers } from './exact-json.ts'
import type { RefusedMessage } from './post.ts'

const success = { success: true }

/** Where the network's edge hands in events, and asks first whether it is here that it should. */
export function receiverOperations(vocabulary: Vocabulary): NewRow[] {
  const path = `/${vocabulary.product}/webhooks` as const
  return [
    defineHandshake({
      name: 'receiver.handshake',
      path,
      sentence: 'Responds to the handshake with the challenge, if an app is subscribed with this verify token.',
      input: Type.Object({
        'hub.mode': Type.Literal('subscribe', { description: 'It must be `subscribe`.' }),
        'hub.verify_token': Type.String({ minLength: 1, description: 'One that an app of this service chose.' }),
        'hub.challenge': Type.String({ minLength: 1, description: 'Any text; it comes back as it is.' }),
      }),
      content: { 'text/plain': Type.String() },
      examples: {
        input: {
          'hub.mode': 'subscribe',
          'hub.verify_token': 'shrub-verify-token',
          'hub.challenge': '1158201444',
        },
        output: undefined,
      },
      async run(_context, { 'hub.challenge': challenge }) {
        // The challenge is the caller's own text: nothing may take it for a page.
        const headers = {
          'content-type': 'text/plain; charset=utf-8',
          'x-content-type-options': 'nosniff',
          'cache-control': 'private, no-store',
        }
        return new Reply(headers, challenge)
      },
    }),
    defineReceiver({
      name: 'receiver.post',
      path,
      sentence:
        'Receives events of accounts, all of a post or none, but for single messages that are refused, and passes each on once to the apps that are linked to the account.',
      input: describeEnvelope(vocabulary),
      output: Type.Object({
        ...successSchema.properties,
        refused: Type.Optional(
          Type.Array(
            Type.Object({
              id: Type.String(),
              phone_number_id: Type.String(),
              error: Type.Object({ code: Type.Integer(), message: Type.String() }),
            }),
            {
              description:
                'Messages that are not taken, while the others are. A post of which nothing is taken is refused.',
            },
          ),
        ),
      }),
      examples: { input: exampleEnvelope(vocabulary), output: success },
      compileCheck: () => makeEnvelopeCheck(vocabulary),
      async run({ post, ports, trace, span }, input) {
        const { sender, text, size, task } = post
        await task.yieldIfDue()
        const { body, write } = keepNumbers(text, input)
        await task.yieldIfDue()
        const refused = await ports.takePost({
          sender,
          envelope: body as Envelope,
          write,
          size,
          cause: { trace, span },
        })
        return refused.length === 0 ? success : { ...success, refused: refused.map(showRefused) }
      },
    }),
  ]
}

function showRefused({ id, phone_number_id, error }: RefusedMessage) {
  return { id, phone_number_id, error: { code: error.code, message: error.message } }
}

/** Ids of the demo world, so that the example works when it is tried. */
function exampleEnvelope(vocabulary: Vocabulary) {
  const message = { from: '16505551234', id: 'wamid.1', timestamp: '1780315200', type: 'text', text: { body: 'Hello' } }
  const value = {
    messaging_product: vocabulary.product,
    metadata: { display_phone_number: '16315551001', phone_number_id: '4000000000000001' },
    contacts: [{ profile: { name: 'Ada' }, wa_id: '16505551234' }],
    messages: [message],
  }
  return {
    object: vocabulary.account_object,
    entry: [{ id: '1000000000000001', changes: [{ field: 'messages', value }] }],
  }
}
