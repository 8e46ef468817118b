import { sql } from 'kysely'
import type { Db } from '../../../db/database.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import { ownIdOf } from '../../messages/store.ts'
import { isSeen } from '../limits.ts'
import type { CallFacts, MessageFacts, RecipientCount } from './facts.ts'

/** A message or call that an event names: the id, and the number that it is on where that is known. */
export interface SubjectKey {
  readonly id: string
  readonly phone_number_id: string | null
}

/** With the account of its number; null: the number is gone. */
type Owned<T> = T & { readonly account_id: string | null }

const owner = { account: sql.ref<string>('phone_numbers.account_id') }

/** The messages of these ids that an operator sees, with all that decides what became of each. */
export async function listMessagesForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  usersPresence: 'online' | 'offline',
  keys: readonly SubjectKey[],
): Promise<Owned<MessageFacts>[]> {
  if (keys.length === 0) return []
  const rows = await selectMessages(db)
    .where(
      'messages.id',
      'in',
      keys.flatMap(({ id, phone_number_id }) => (phone_number_id === null ? [id] : [id, ownIdOf(phone_number_id, id)])),
    )
    .where(isSeen(limits, owner))
    .execute()
  const isAsked = (row: (typeof rows)[number]) => keys.some((key) => isNamedBy(key, row))
  const found: Owned<MessageFacts>[] = []
  for (const row of rows.filter(isAsked)) {
    const { is_user_blocked, is_fetching, blocked, presence, read_receipts, ...message } = row
    found.push({
      ...message,
      isFetching: is_fetching === 1,
      isNumberBlocked: blocked ?? false,
      isUserBlocked: is_user_blocked === 1,
      isOnline: (presence ?? usersPresence) === 'online',
      hasReadReceipts: read_receipts ?? true,
      recipients: message.group_id === null ? [] : await countRecipients(db, message.id),
    })
  }
  return found
}

/** The id that was handed in may be that of somebody else's message: then the message is stored under one of its own. */
function isNamedBy(
  { id, phone_number_id: number }: SubjectKey,
  message: Pick<MessageFacts, 'id' | 'phone_number_id'>,
): boolean {
  if (number === null) return message.id === id
  return message.phone_number_id === number && (message.id === id || message.id === ownIdOf(number, id))
}

function selectMessages(db: Db) {
  return db.query
    .selectFrom('messages')
    .leftJoin('phone_numbers', 'phone_numbers.id', 'messages.phone_number_id')
    .leftJoin('chats', 'chats.id', 'messages.chat_id')
    .leftJoin('users', 'users.wa_id', 'messages.user_wa_id')
    .select(['messages.id', 'messages.phone_number_id', 'messages.direction', 'messages.type', 'messages.state'])
    .select(['messages.error_code', 'messages.group_id', 'messages.created_time', 'messages.sent_time'])
    .select(['messages.delivered_time', 'messages.read_time', 'messages.played_time', 'messages.ended_time'])
    .select(['messages.expires_time', 'phone_numbers.account_id', 'chats.blocked'])
    .select(['users.presence', 'users.read_receipts'])
    .select([
      sql<number>`CASE WHEN EXISTS (SELECT 1 FROM blocked_users b WHERE b.phone_number_id = messages.phone_number_id
        AND b.user_wa_id = messages.user_wa_id) THEN 1 ELSE 0 END`.as('is_user_blocked'),
      sql<number>`CASE WHEN EXISTS (SELECT 1 FROM link_fetches f WHERE f.message_id = messages.id)
        THEN 1 ELSE 0 END`.as('is_fetching'),
    ])
}

async function countRecipients(db: Db, message_id: string): Promise<RecipientCount[]> {
  const rows = await db.query
    .selectFrom('message_recipients')
    .select(['state', 'error_code', sql<number>`COUNT(*)`.as('count')])
    .where('message_id', '=', message_id)
    .groupBy(['state', 'error_code'])
    .orderBy('state')
    .orderBy('error_code')
    .execute()
  return rows.map((row) => ({ ...row, count: Number(row.count) }))
}

/** The calls of these ids that an operator sees. */
export async function listCallsForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  ids: readonly string[],
): Promise<Owned<CallFacts>[]> {
  if (ids.length === 0) return []
  return db.query
    .selectFrom('calls')
    .leftJoin('phone_numbers', 'phone_numbers.id', 'calls.phone_number_id')
    .select(['calls.id', 'calls.phone_number_id', 'calls.direction', 'calls.state', 'calls.ending'])
    .select(['calls.created_time', 'calls.accepted_time', 'calls.ended_time', 'phone_numbers.account_id'])
    .where('calls.id', 'in', [...ids])
    .where(isSeen(limits, owner))
    .orderBy('calls.created_time')
    .execute()
}
