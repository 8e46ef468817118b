import { Type } from 'typebox'
import { second } from '../../base/time/duration.ts'
import type { StreamContext } from '../../graph/context.ts'
import { defineGatewayRead } from '../../graph/define.ts'
import { badArgument } from '../../graph/define-error.ts'
import { notFound } from '../../graph/errors.ts'
import { readTimestamp, timestampSchema } from '../../graph/input/timestamps.ts'
import { readWaitTime, waitTimeSchema } from '../../graph/input/wait-time.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { idSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { userWaIdSchema } from '../calls/schemas.ts'
import { type Chat, requireChat } from './chat.ts'
import { afterNotOfChat, nothingArrived, otherMessagesArrived } from './errors.ts'
import { exampleMessage } from './message-operations.ts'
import { makeMessageSchema } from './schemas.ts'
import { showMessages, showTools } from './show.ts'
import { type Arrival, type ArrivedMessage, findArrival, findLastArrival, listArrivals } from './store.ts'

/** For tests: waits until a message has arrived on the phone of a user. */
export function waitOperations(vocabulary: Vocabulary): NewOperation[] {
  return [
    defineGatewayRead({
      name: 'gateway.wait',
      method: 'GET',
      path: '/gateway/wait',
      sentence: 'Waits until a message of a business has arrived on the phone of a user, and responds with the first.',
      waits: true,
      input: Type.Object({
        user_wa_id: userWaIdSchema,
        phone_number_id: Type.Optional(idSchema({ description: 'In the chat with this phone number.' })),
        group_id: Type.Optional(idSchema({ description: 'In this group.' })),
        type: Type.Optional(
          Type.String({ minLength: 1, maxLength: 100, description: 'Only of this type, such as text or template.' }),
        ),
        after: Type.Optional(
          idSchema({
            description:
              'Only what arrived after the message with this id: the last that a wait responded with, or what the user wrote.',
          }),
        ),
        since: Type.Optional(
          timestampSchema('Also what has arrived since then; without after and since: what arrives from now on.'),
        ),
        timeout: Type.Optional(waitTimeSchema),
      }),
      output: makeMessageSchema(vocabulary),
      examples: {
        input: { user_wa_id: '16505551234', phone_number_id: '4000000000000001', since: '1h', timeout: '5s' },
        output: exampleMessage,
        first: [{ send: 'messages.send' }],
      },
      async run(context, { user_wa_id, phone_number_id, group_id, type, after, since, timeout }) {
        const { db, ports, caller, clock } = context
        const milliseconds = readWaitTime('timeout', timeout)
        const from = readTimestamp('since', since, clock.now())
        const chat = await requireChat(context, { wa_id: user_wa_id, phone_number_id, group_id })
        const others = new Set<string>()
        const find = async (start: Arrival): Promise<ArrivedMessage | undefined> => {
          const arrived = await listArrivals(db, chat.chat_id, user_wa_id, start)
          for (const one of arrived) if (type !== undefined && one.type !== type) others.add(one.type)
          return arrived.find((one) => type === undefined || one.type === type)
        }
        const start = await findStart(context, chat, user_wa_id, { after, since: from })
        const found = await waitFor(context, user_wa_id, milliseconds, () => find(start))
        // The token may have been revoked, or limited, while it waited.
        const { gateway_accounts } = await ports.usersStream.readmit(caller)
        if (gateway_accounts && !gateway_accounts.has(chat.number.account_id)) throw notFound()
        if (!found) {
          const said = { waited: milliseconds / second }
          throw others.size === 0 ? nothingArrived(said) : otherMessagesArrived({ ...said, others: [...others] })
        }
        const tools = showTools(context, () => chat.number.phone_number)
        const [shown] = await showMessages(db, tools, [found])
        return shown ?? {}
      },
    }),
  ]
}

async function findStart(
  { db }: StreamContext,
  { chat_id }: Chat,
  user: string,
  { after, since }: { readonly after: string | undefined; readonly since: number | undefined },
): Promise<Arrival> {
  if (after === undefined) {
    return since === undefined ? findLastArrival(db, chat_id, user) : { time: since, position: 0 }
  }
  const arrival = await findArrival(db, chat_id, user, after)
  if (!arrival) throw badArgument(afterNotOfChat('after'))
  return since === undefined || arrival.time >= since ? arrival : { time: since, position: 0 }
}

/** Looks whenever something happens on the phone: the store says what is there, and the stream only when to look. */
async function waitFor<T>(
  { ports, caller }: StreamContext,
  user: string,
  milliseconds: number,
  find: () => Promise<T | undefined>,
): Promise<T | undefined> {
  let isOver = false
  let news = Promise.withResolvers<void>()
  const end = () => {
    isOver = true
    news.resolve()
  }
  // Watching begins first, so that nothing is missed in between.
  const stop = await ports.usersStream.watch(caller, user, () => news.resolve(), end)
  const timer = setTimeout(end, milliseconds)
  try {
    for (;;) {
      const isLast = isOver
      const found = await find()
      if (found !== undefined || isLast) return found
      await news.promise
      if (!isOver) news = Promise.withResolvers<void>()
    }
  } finally {
    clearTimeout(timer)
    stop()
  }
}
