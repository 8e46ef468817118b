import type { Chapter } from '../../chapter.ts'
import type { Context } from '../../graph/context.ts'
import { defineWrite } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { Ports } from '../../graph/ports.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { blockOperations } from './blocks/block-operations.ts'
import { holdsOpus } from './content/voice.ts'
import { idempotencyHeader, messageAnswerSchema, messageRequestSchema } from './schemas.ts'
import { runIdempotent } from './send/idempotency.ts'
import { type CheckedMessage, checkMessageRequest } from './send/request.ts'
import { describeSent, sendMessage } from './send/send.ts'
import { makePhoneHandlers } from './status/phone.ts'
import { checkReadMark, markAsRead } from './status/read-marks.ts'
import { chatIdOf, findMediaOfNumber } from './store.ts'

export const messagesChapter: Chapter = {
  name: 'messages',
  title: 'Messages',
  rows: (vocabulary) => [...messageOperations(vocabulary), ...blockOperations(vocabulary)],
  timers: makePhoneHandlers,
  leftOutOfWorld: { messages: 'messages' },
}

/** Looks into the file of a voice message, if it is one of the number; what else is wrong with it comes in its order. */
async function lookAtVoice(
  context: Context & { readonly ports: Ports },
  message: CheckedMessage,
): Promise<CheckedMessage> {
  const { db, node, clock } = context
  const [media] = message.media
  if (media?.given.voice !== true || media.given.id === undefined) return message
  const file = await findMediaOfNumber(db, node.id, media.given.id, clock.now())
  const hasOpus = file?.mime_type === 'audio/ogg' && (await holdsOpus(context.ports.files, file))
  return { ...message, media: [{ ...media, hasOpus }] }
}

function messageOperations(vocabulary: Vocabulary): NewOperation[] {
  return [
    defineWrite({
      name: 'messages.send',
      method: 'POST',
      path: '/{Version}/{Phone-Number-ID}/messages',
      sentence: 'Sends a message to a user or a group, or, with status, marks a received message as read.',
      permission: 'messaging',
      rateClass: 'messages',
      countedByPlatform: false,
      errorData: true,
      headers: [idempotencyHeader],
      input: messageRequestSchema(vocabulary),
      output: messageAnswerSchema(vocabulary),
      examples: {
        input: {
          messaging_product: vocabulary.product,
          to: '+1 (650) 555-1234',
          type: 'text',
          text: { body: 'Your order is ready.' },
        },
        output: {
          messaging_product: vocabulary.product,
          contacts: [{ input: '+1 (650) 555-1234', wa_id: '16505551234' }],
          messages: [{ id: 'wamid.q83vEjRWeJCrze8SNFZ4kKvN' }],
        },
      },
      async prepare(context, input) {
        if (input.status !== undefined) return checkReadMark(input)
        const { userIds, node } = context
        const readUserId = userIds && ((id: string) => userIds.read(node.business_id, id))
        return lookAtVoice(context, checkMessageRequest(input, vocabulary.habits, readUserId))
      },
      holds({ node }, input, checked) {
        const isPlain = 'kind' in checked && !checked.toGroup && checked.kind !== 'template'
        return isPlain && input[idempotencyHeader] === undefined ? chatIdOf(node.id, checked.to) : undefined
      },
      async run(context, input, checked) {
        return runIdempotent(context, input, async () => {
          if ('kind' in checked) return describeSent(context, checked, await sendMessage(context, checked))
          await markAsRead(context, checked)
          return { success: true }
        })
      },
    }),
  ]
}
