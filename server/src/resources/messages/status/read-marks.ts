import { sql } from 'kysely'
import type { Transaction } from '../../../db/database.ts'
import { defineStatement } from '../../../db/statement.ts'
import type { Context } from '../../../graph/context.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing } from '../../../graph/errors.ts'
import { recordForStream } from '../../../stream/stream-record.ts'
import { incomingUnknown, statusNotTaken } from '../errors.ts'
import { checkRegistered } from '../rules.ts'
import type { MessageRequest } from '../schemas.ts'
import { findSender, lockMessageOf, updateChat } from '../store.ts'
import { streamStatuses, streamTyping } from './stream-events.ts'

/** A request to mark a message as read whose form is right. */
export interface ReadMark {
  readonly message_id: string
  readonly showsTyping: boolean
}

export function checkReadMark({ status, message_id, typing_indicator }: MessageRequest): ReadMark {
  if (status !== 'read') throw statusNotTaken()
  if (message_id === undefined) throw badArgument(argumentMissing('message_id', { expected: 'the id of a message' }))
  return { message_id, showsTyping: typing_indicator !== undefined }
}

const markUpTo = defineStatement<{ chat_id: string; position: number; now: number }>()(
  (db, { chat_id, position, now }) =>
    db
      .updateTable('messages')
      .set({ state: 'read', read_time: now })
      .where('chat_id', '=', chat_id)
      .where('direction', '=', 'to_business')
      .where('position', '<=', position)
      // As the index says it: a value that is bound would not be known to be in it.
      .where(sql<boolean>`state IN ('sent', 'delivered') AND state = 'sent'`)
      .returning(['id', 'position']),
)

/** Marks a message that came in as read, and those of its chat that came before it. */
export async function markAsRead(
  { db, node, clock, settings }: Context<Transaction>,
  { message_id, showsTyping }: ReadMark,
): Promise<void> {
  checkRegistered(await findSender(db, node.id))
  const message = await lockMessageOf(db, node.id, message_id)
  const isOurs = message?.phone_number_id === node.id && message.direction === 'to_business'
  if (!isOurs || message.group_id !== null) throw incomingUnknown()
  const now = clock.now()
  const { chat_id, position } = message
  const user = message.user_wa_id ?? ''
  const marked = await db.list(markUpTo, { chat_id, position, now })
  const events = marked
    .sort((one, other) => one.position - other.position)
    .flatMap(({ id }) => streamStatuses({ ...message, id }, user, ['read'], now))
  if (showsTyping) {
    const typing_until = now + settings.typingTime
    await updateChat(db, chat_id, { typing_until })
    events.push(streamTyping(node.id, user, typing_until))
  }
  recordForStream(db, now, events)
}
