import { Type } from 'typebox'
import type { Transaction } from '../../db/database.ts'
import type { GatewayContext } from '../../graph/context.ts'
import { defineGatewayRead, defineGatewayWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { idSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { findNumberForGateway } from '../calls/store.ts'
import { deleteIncoming, failureCodes, isBlockedByUser, isExpired, reportStatus } from '../messages/public.ts'
import { findMessage, lockMessage, lockRecipient, type StoredMessage } from '../messages/store.ts'
import { actionNotPossible, failCodeNotTaken, groupUserRequired, notInGroup } from './errors.ts'
import { type Press, pressMessage } from './press.ts'
import { makeActionSchema, makeMessageSchema, writtenSchema } from './schemas.ts'
import { showMessages, showTools } from './show.ts'
import { type Written, writeMessage } from './write.ts'

const exampleId = 'wamid.q83vEjRWeJCrze8SNFZ4kKvN'
/** A message on the phone of a user, as the gateway shows it. */
export const exampleMessage = {
  id: exampleId,
  direction: 'to_user',
  phone_number_id: '4000000000000001',
  user_wa_id: '16505551234',
  from: '16315551001',
  timestamp: '1780315200',
  type: 'text',
  text: { body: 'Your order is ready.' },
  state: 'delivered',
  states: [
    { status: 'sent', timestamp: '1780315200' },
    { status: 'delivered', timestamp: '1780315200' },
  ],
}
const sendFirst = { send: 'messages.send', take: { pointer: '/messages/0/id', as: 'message_id' } }

export function userMessageOperations(vocabulary: Vocabulary): NewOperation[] {
  return [
    defineGatewayWrite({
      name: 'gateway.write_message',
      method: 'POST',
      path: '/gateway/messages',
      sentence: 'Sends a message of a user to a phone number or a group; media files come from POST /gateway/media.',
      input: writtenSchema,
      output: Type.Object({ message_id: Type.String() }),
      examples: {
        input: {
          phone_number_id: '4000000000000001',
          from: '16505551234',
          name: 'Ada',
          type: 'text',
          text: { body: 'Are you open today?' },
        },
        output: { message_id: exampleId },
      },
      async run(context, input) {
        return { message_id: await writeMessage(context, input as unknown as Written) }
      },
    }),
    defineGatewayRead({
      name: 'gateway.read_message',
      method: 'GET',
      path: '/gateway/messages/{message_id}',
      sentence: 'Reads a message of either direction, with its statuses.',
      input: Type.Object({ message_id: idSchema({ description: 'The id of the message.' }) }),
      output: makeMessageSchema(vocabulary),
      examples: {
        input: { message_id: exampleId },
        output: exampleMessage,
        first: [sendFirst],
      },
      async run(context, { message_id }) {
        const { db } = context
        const message = await findMessage(db, message_id)
        const digits = await requireDigits(context, message)
        const [shown] = await showMessages(
          db,
          showTools(context, () => digits),
          message ? [message] : [],
        )
        return shown ?? {}
      },
    }),
    defineGatewayWrite({
      name: 'gateway.act_on_message',
      method: 'POST',
      path: '/gateway/messages/{message_id}',
      sentence:
        "Reports what a user's phone did with a message: it was delivered, read, played, failed or deleted, or a button in it was pressed.",
      input: makeActionSchema(vocabulary),
      output: Type.Object({ success: Type.Boolean(), message_id: Type.Optional(Type.String()) }),
      examples: { input: { message_id: exampleId, action: 'read' }, output: { success: true }, first: [sendFirst] },
      async run(context, input) {
        const { db } = context
        const message = await lockMessage(db, input.message_id)
        await requireDigits(context, message)
        if (!message) throw notFound()
        if (input.action === 'delete') {
          if (message.direction === 'to_user') throw refuse('delete', 'the business sent it')
          await deleteIncoming(db, context, message)
          return { success: true }
        }
        if (message.direction === 'to_business') throw refuse(input.action, 'the user sent it')
        const user = await findReader(db, message, input.user_wa_id)
        if (input.action !== 'press') {
          await report(context, message, user, input.action, input.code)
          return { success: true }
        }
        if (!(await canReach(context, message, user))) throw refuse('press', 'it has not reached the user')
        const message_id = await pressMessage(context, message, user, input as Press)
        await report(context, message, user, 'read')
        return { success: true, message_id }
      },
    }),
  ]
}

/** Whether a user has a message, or gets it now. */
async function canReach(
  { db, clock }: GatewayContext<Transaction>,
  message: StoredMessage,
  user: string,
): Promise<boolean> {
  const { state, ended_time, group_id, phone_number_id } = message
  if (state === 'accepted' || ended_time !== null || isExpired(message, clock.now())) return false
  return state !== 'sent' || group_id !== null || !(await isBlockedByUser(db, phone_number_id, user))
}

function refuse(action: string, reason: string) {
  return actionNotPossible({ action, reason })
}

const statusOf = { deliver: 'delivered', read: 'read', play: 'played', fail: 'failed' } as const

async function report(
  context: GatewayContext<Transaction>,
  message: StoredMessage,
  user: string,
  action: keyof typeof statusOf,
  code?: number,
): Promise<void> {
  if (action === 'play' && !message.is_voice) throw refuse('play', 'it is no voice message')
  if (action === 'fail' && code !== undefined && !(failureCodes as readonly number[]).includes(code)) {
    throw failCodeNotTaken({ codes: failureCodes })
  }
  await reportStatus(context.db, context, message, user, statusOf[action], code)
}

/** Whose phone an action is about. */
async function findReader(tx: Transaction, message: StoredMessage, given: string | undefined): Promise<string> {
  if (message.group_id === null) return message.user_wa_id ?? ''
  if (given === undefined) throw groupUserRequired()
  if (!(await lockRecipient(tx, message.id, given))) throw notInGroup()
  return given
}

/** The digits of a message's number; 404 unless the caller sees its account. */
export async function requireDigits({ db, sees }: GatewayContext, message: StoredMessage | undefined): Promise<string> {
  const number = message && (await findNumberForGateway(db, message.phone_number_id))
  if (!number || !sees(number.account_id)) throw notFound()
  return number.phone_number
}
