import type { Transaction } from '../../db/database.ts'
import type { ChatsTable, MediaTable, MessagesTable } from '../../db/tables.ts'
import { useFile } from '../../files/files.ts'
import type { Context } from '../../graph/operation.ts'
import { type NewStreamEvent, recordForStream } from '../../stream/record.ts'
import { type Choices, choicesOf } from './choices.ts'
import { groupEmpty, groupUnknown, mediaUnknown, templateUnknown } from './errors.ts'
import { raiseStatus } from './events.ts'
import type { FailureCode } from './failures.ts'
import type { Interactive } from './interactive.ts'
import { checkPermissionRequest, isPermissionRequest, notePermissionRequest } from './permission-request.ts'
import { actAtOnce, type PhoneTools, schedulePhone } from './phone.ts'
import { isTold, timesOf } from './progress.ts'
import type { CheckedMessage } from './request.ts'
import {
  checkMediaType,
  checkSender,
  checkUser,
  defaultFilename,
  drawMessageId,
  isWindowOpen,
  priceService,
  serviceCategory,
  showMedia,
  takeConversation,
  takeFromPair,
} from './rules.ts'
import type { MessageStatus } from './states.ts'
import {
  chatIdOf,
  findMediaOfNumber,
  findMessage,
  findPerson,
  findSender,
  groupChatIdOf,
  insertMessage,
  insertRecipient,
  listParticipants,
  messageUse,
  type NewMessage,
  noteSent,
  type Person,
  type Sender,
  takeChat,
} from './store.ts'
import { streamMessage, streamStatuses } from './stream-events.ts'

type SendContext = Context<Transaction>

/** Who gets a message: one user, or those who are in a group at this moment. */
interface Audience {
  readonly chat: ChatsTable
  readonly sender: Sender
  readonly user: Person | undefined
  readonly participants: readonly Person[]
}

/** Sends a message whose form is right: stores it, and tells what becomes of it at once. Throws what refuses it. */
export async function sendMessage(context: SendContext, message: CheckedMessage) {
  const { db, clock, random, settings } = context
  const now = clock.now()
  const audience = await findAudience(context, message)
  const { chat, sender, user } = audience
  if (isPermissionRequest(message)) await checkPermissionRequest(context, sender, message.to)
  const media = await findMedia(db, sender, message, now)
  if (message.kind === 'template') throw templateUnknown()
  const pair_time = takeFromPair(chat, settings, now)

  const failure = await findFailure(context, message, audience, now)
  const category = serviceCategory(message.toGroup)
  const { open, conversations } =
    failure === undefined
      ? takeConversation(chat, category, random, now)
      : { open: undefined, conversations: chat.conversations }
  const phone: readonly MessageStatus[] =
    failure === undefined && user && !chat.blocked && message.kind !== 'reaction' ? actAtOnce(user, settings) : []
  const statuses: readonly MessageStatus[] = failure === undefined ? ['sent', ...phone] : ['failed']

  const row: NewMessage = {
    ...describeMessage(message, sender, chat),
    id: drawMessageId(random),
    context_id: await findContext(db, message, chat),
    state: statuses.at(-1) as MessagesTable['state'],
    error_code: failure ?? null,
    created_time: now,
    sent_time: failure === undefined ? now : null,
    delivered_time: null,
    read_time: null,
    played_time: null,
    ended_time: null,
    ...timesOf(statuses, now),
    expires_time: now + settings.messageTtl,
    pricing: open ? priceService(open, message.toGroup) : null,
  }
  const value = nameDocument(message, media)
  insertMessage(db, row, {
    content: JSON.stringify({ value, ...(media && { media: showMedia(media) }) }),
    sha256: media?.sha256 ?? null,
  })
  if (media) await useFile(db, media.sha256, messageUse(row.id))
  noteSent(db, { id: chat.id, pair_time, conversations, last_message_id: row.id, last_time: now })

  const tools: PhoneTools = { clock, random, settings, vocabulary: context.vocabulary, publicUrl: context.publicUrl }
  for (const status of statuses) {
    if (user && !isTold(status, user)) continue
    await raiseStatus(db, tools, sender, {
      message: row,
      status,
      time: now,
      code: failure ?? null,
      ...(user && { user }),
    })
  }
  // A user who blocked the number gets nothing.
  const isSeen = failure === undefined && !chat.blocked
  const streamed = [...(isSeen ? [streamMessage(row)] : []), ...streamStatuses(row, row.user_wa_id, statuses, now)]
  if (failure === undefined) {
    if (isPermissionRequest(message)) await notePermissionRequest(context, message.to)
    if (user && !chat.blocked && message.kind !== 'reaction')
      await schedulePhone(db, tools, row.id, user, statuses.at(-1))
    streamed.push(...(await sendToParticipants(db, tools, sender, row, audience.participants)))
  }
  recordForStream(db, now, streamed)
  return row
}

/** What the caller is answered. */
export function describeSent(product: string, { input, to, toGroup }: CheckedMessage, { id }: Pick<NewMessage, 'id'>) {
  return {
    messaging_product: product,
    contacts: [{ input, wa_id: to }],
    messages: [toGroup ? { id, group_id: to } : { id }],
  }
}

async function findAudience({ db, node }: SendContext, { to, toGroup }: CheckedMessage): Promise<Audience> {
  if (toGroup) {
    const sender = await findSender(db, node.id)
    checkSender(sender)
    const users = await listParticipants(db, node.id, to)
    if (!users) throw groupUnknown()
    if (users.length === 0) throw groupEmpty()
    const chat = await takeChat(db, { id: groupChatIdOf(to), phone_number_id: node.id, group_id: to })
    const participants: Person[] = []
    for (const user of users) participants.push(await findPerson(db, node.id, user))
    return { sender, chat, user: undefined, participants }
  }
  // Sent together where they travel to a server; what is refused undoes a chat that was made for it.
  const [sender, user, chat] = await Promise.all([
    findSender(db, node.id),
    findPerson(db, node.id, to),
    takeChat(db, { id: chatIdOf(node.id, to), phone_number_id: node.id, user_wa_id: to }),
  ])
  checkSender(sender)
  checkUser(sender, user)
  return { sender, chat, user, participants: [] }
}

/** The media file that a message carries by its id, of a type that the message takes. */
async function findMedia(
  db: Transaction,
  sender: Sender,
  { media }: CheckedMessage,
  now: number,
): Promise<MediaTable | undefined> {
  if (media?.given.id === undefined) return undefined
  const found = await findMediaOfNumber(db, sender.id, media.given.id, now)
  if (!found) throw mediaUnknown()
  checkMediaType(media.kind, media.given.voice === true, found)
  return found
}

/** Why a message fails that was accepted; the first reason that applies. */
async function findFailure(
  { db, settings }: SendContext,
  { kind, value }: CheckedMessage,
  { user, chat }: Audience,
  now: number,
): Promise<FailureCode | undefined> {
  if (user && (user.isNumber || !user.reachable)) return 131026
  if (!isWindowOpen(chat, settings, now)) return 131047
  if (kind === 'reaction') {
    const target = await findMessage(db, (value as { message_id: string }).message_id)
    if (!target || target.chat_id !== chat.id || target.type === 'reaction') return 131009
  }
  return undefined
}

/** The message that is replied to, if it is one of this chat that is still kept; otherwise the message goes out without a quote. */
async function findContext(db: Transaction, { context_id }: CheckedMessage, chat: ChatsTable): Promise<string | null> {
  if (context_id === null) return null
  const quoted = await findMessage(db, context_id)
  return quoted?.chat_id === chat.id ? quoted.id : null
}

function describeMessage(message: CheckedMessage, sender: Sender, chat: ChatsTable) {
  const { kind, value, to, toGroup, biz_opaque_callback_data } = message
  const choices: Choices | null = kind === 'interactive' ? choicesOf(value as Interactive) : null
  return {
    chat_id: chat.id,
    phone_number_id: sender.id,
    user_wa_id: toGroup ? null : to,
    group_id: toGroup ? to : null,
    direction: 'to_user',
    type: kind,
    is_voice: kind === 'audio' && (value as { voice?: boolean }).voice === true,
    choices,
    biz_opaque_callback_data,
  } as const
}

function nameDocument({ kind, value }: CheckedMessage, media: MediaTable | undefined): object {
  if (kind !== 'document' || !media || (value as { filename?: string }).filename) return value
  return { ...value, filename: defaultFilename(media.mime_type, undefined) }
}

/** Each participant gets the message on its own way, behind the group's `sent`. Returns what the stream tells of it. */
async function sendToParticipants(
  tx: Transaction,
  tools: PhoneTools,
  sender: Sender,
  message: NewMessage,
  participants: readonly Person[],
): Promise<NewStreamEvent[]> {
  const { created_time: time } = message
  const streamed: NewStreamEvent[] = []
  let furthest: MessageStatus = 'sent'
  for (const user of participants) {
    const failed = !user.reachable
    const statuses: readonly MessageStatus[] = failed ? ['failed'] : actAtOnce(user, tools.settings)
    const state = statuses.at(-1) ?? 'sent'
    if (!failed && state !== 'sent' && furthest !== 'read') furthest = state
    insertRecipient(tx, {
      message_id: message.id,
      user_wa_id: user.wa_id,
      state,
      error_code: failed ? 131026 : null,
      delivered_time: null,
      read_time: null,
      played_time: null,
      ended_time: null,
      ...timesOf(statuses, time),
    })
    for (const status of statuses) {
      if (isTold(status, user)) await raiseStatus(tx, tools, sender, { message, status, time, user, code: 131026 })
    }
    streamed.push(...streamStatuses(message, user.wa_id, statuses, time))
    if (!failed) await schedulePhone(tx, tools, message.id, user, state)
  }
  if (furthest !== 'sent') await advance(tx, message.id, furthest)
  return streamed
}

async function advance(tx: Transaction, id: string, state: MessagesTable['state']): Promise<void> {
  await tx.query.updateTable('messages').set({ state }).where('id', '=', id).execute()
}
