import { sql } from 'kysely'
import type { Db, Transaction } from '../../db/database.ts'
import { defineSql } from '../../db/statement.ts'
import type { ChatsTable, MessageRecipientsTable, UsersTable } from '../../db/tables.ts'
import { keysOf } from '../../delivery/store/lanes.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import type { StoredMessage } from '../messages/store.ts'

/** The accounts that a user has to do with: by chats, and by groups. */
export async function listAccountsOfUserForGateway(db: Db, wa_id: string): Promise<string[]> {
  const byChat = db.query
    .selectFrom('chats')
    .innerJoin('phone_numbers', 'phone_numbers.id', 'chats.phone_number_id')
    .select('phone_numbers.account_id')
    .where('chats.user_wa_id', '=', wa_id)
  const byGroup = db.query
    .selectFrom('group_participants')
    .innerJoin('groups', 'groups.id', 'group_participants.group_id')
    .innerJoin('phone_numbers', 'phone_numbers.id', 'groups.phone_number_id')
    .select('phone_numbers.account_id')
    .where('group_participants.user_wa_id', '=', wa_id)
  return (await byChat.union(byGroup).execute()).map(({ account_id }) => account_id)
}

export async function upsertUser(
  tx: Transaction,
  wa_id: string,
  changes: Partial<Omit<UsersTable, 'wa_id'>>,
): Promise<void> {
  const defaults = { name: null, presence: null, auto_read: false, read_receipts: true, reachable: true }
  const insert = tx.query.insertInto('users').values({ wa_id, ...defaults, ...changes })
  await (Object.keys(changes).length === 0
    ? insert.onConflict((conflict) => conflict.doNothing())
    : insert.onConflict((conflict) => conflict.column('wa_id').doUpdateSet(changes))
  ).execute()
}

/** The chats of a user: with numbers, and of the groups that the user is in; of these accounts alone, where they are given. */
export async function listChatsForGateway(
  db: Db,
  wa_id: string,
  accounts: ReadonlySet<string> | undefined,
  range: PageRange,
): Promise<ChatsTable[]> {
  let query = db.query
    .selectFrom('chats')
    .selectAll()
    // One list of ids: with OR, PostgreSQL reads every chat of the store.
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('chats as own')
        .select('own.id')
        .where('own.user_wa_id', '=', wa_id)
        .unionAll(
          eb
            .selectFrom('group_participants')
            .select(sql<string>`'group/' || group_participants.group_id`.as('id'))
            .where('group_participants.user_wa_id', '=', wa_id),
        ),
    )
  if (accounts) {
    query = query.where('phone_number_id', 'in', (eb) =>
      eb
        .selectFrom('phone_numbers')
        .select('phone_numbers.id')
        .where('account_id', 'in', [...accounts, '']),
    )
  }
  return range.apply(query).execute()
}

export async function listNumbersForGateway(db: Db, numbers: readonly string[]) {
  if (numbers.length === 0) return []
  return db.query
    .selectFrom('phone_numbers')
    .select(['id', 'display_phone_number', 'verified_name'])
    .where('id', 'in', numbers)
    .execute()
}

export async function listSubjectsForGateway(db: Db, groups: readonly string[]) {
  if (groups.length === 0) return []
  return db.query.selectFrom('groups').select(['id', 'subject']).where('id', 'in', groups).execute()
}

// The conditions as the index says them: values that are bound would not be known to be in it. One count for each chat takes half of
// what all of them by groups take.
const countUnreadOfChats = defineSql<{ chats: object }>()(
  ({ chats }) => sql<{ chat_id: string; count: number }>`
    SELECT o.key AS chat_id, (SELECT COUNT(*) FROM messages WHERE messages.chat_id = o.key
      AND direction = 'to_user' AND state = 'delivered' AND group_id IS NULL) AS count
    FROM json_each(${chats}) AS o`,
)

/** How many messages of each chat the user has got and not read. */
export async function countUnread(db: Db, chats: readonly string[]): Promise<Map<string, number>> {
  if (chats.length === 0) return new Map()
  const rows = await db.list(countUnreadOfChats, { chats: keysOf(chats) })
  return new Map(rows.map(({ chat_id, count }) => [chat_id, Number(count)]))
}

const countUnreadOfParticipant = defineSql<{ chats: object; user_wa_id: string }>()(
  ({ chats, user_wa_id }) => sql<{ chat_id: string; count: number }>`
    SELECT o.key AS chat_id, (SELECT COUNT(*) FROM message_recipients
      INNER JOIN messages ON messages.id = message_recipients.message_id
      WHERE messages.chat_id = o.key AND message_recipients.user_wa_id = ${user_wa_id}
      AND message_recipients.state = 'delivered') AS count
    FROM json_each(${chats}) AS o`,
)

/** The same for chats of groups, whose participants each read for themselves. */
export async function countUnreadInGroups(
  db: Db,
  chats: readonly string[],
  user_wa_id: string,
): Promise<Map<string, number>> {
  if (chats.length === 0) return new Map()
  const rows = await db.list(countUnreadOfParticipant, { chats: keysOf(chats), user_wa_id })
  return new Map(rows.map(({ chat_id, count }) => [chat_id, Number(count)]))
}

export async function listMessagesOfChat(db: Db, chat_id: string, range: PageRange): Promise<StoredMessage[]> {
  return range.apply(db.query.selectFrom('messages').selectAll().where('chat_id', '=', chat_id)).execute()
}

export async function listMessages(db: Db, ids: readonly string[]): Promise<StoredMessage[]> {
  if (ids.length === 0) return []
  return db.query.selectFrom('messages').selectAll().where('id', 'in', ids).execute()
}

export async function listContents(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db.query
    .selectFrom('message_contents')
    .select(['message_id', 'content'])
    .where('message_id', 'in', ids)
    .execute()
  return new Map(rows.map(({ message_id, content }) => [message_id, content]))
}

/** The participants whom messages of groups went to. */
export async function listRecipients(db: Db, ids: readonly string[]): Promise<MessageRecipientsTable[]> {
  if (ids.length === 0) return []
  return db.query
    .selectFrom('message_recipients')
    .selectAll()
    .where('message_id', 'in', ids)
    .orderBy('user_wa_id')
    .execute()
}

export async function isInGroup(db: Db, group_id: string, user_wa_id: string): Promise<boolean> {
  const row = await db.query
    .selectFrom('group_participants')
    .select('user_wa_id')
    .where('group_id', '=', group_id)
    .where('user_wa_id', '=', user_wa_id)
    .executeTakeFirst()
  return row !== undefined
}

/** A group with the number that it is of. */
export async function findGroupForGateway(db: Db, id: string) {
  return db.query.selectFrom('groups').select(['id', 'phone_number_id']).where('id', '=', id).executeTakeFirst()
}

/** Who is in groups, by their ids. */
export async function listParticipantsOf(db: Db, groups: readonly string[]): Promise<Map<string, string[]>> {
  if (groups.length === 0) return new Map()
  const rows = await db.query
    .selectFrom('group_participants')
    .select(['group_id', 'user_wa_id'])
    .where('group_id', 'in', groups)
    .execute()
  const byGroup = Map.groupBy(rows, ({ group_id }) => group_id)
  return new Map([...byGroup].map(([id, members]) => [id, members.map(({ user_wa_id }) => user_wa_id)]))
}

/** Where a message is among those on a phone: when it arrived, then in the order of sending. */
export interface Arrival {
  readonly time: number
  readonly position: number
}

export type ArrivedMessage = StoredMessage & { readonly arrived_time: number }

const maxArrivals = 200

/** When a message came to the phone of a user; null: it has not. What the user wrote is there from the start. */
function selectChat({ query }: Db, chat_id: string, user: string) {
  return query
    .selectFrom('messages')
    .leftJoin('message_recipients', (join) =>
      join.onRef('message_recipients.message_id', '=', 'messages.id').on('message_recipients.user_wa_id', '=', user),
    )
    .where('messages.chat_id', '=', chat_id)
}

const arrivedTime = sql<number | null>`CASE WHEN messages.direction <> 'to_user' THEN messages.created_time
  WHEN messages.group_id IS NULL THEN messages.delivered_time ELSE message_recipients.delivered_time END`

/** What arrived from the business behind a place, in order. */
export async function listArrivals(db: Db, chat_id: string, user: string, after: Arrival): Promise<ArrivedMessage[]> {
  return selectChat(db, chat_id, user)
    .selectAll('messages')
    .select(arrivedTime.$notNull().as('arrived_time'))
    .where('messages.direction', '=', 'to_user')
    .where(
      sql<boolean>`(${arrivedTime} > ${after.time} OR (${arrivedTime} = ${after.time} AND messages.position > ${after.position}))`,
    )
    .orderBy(sql`${arrivedTime}`)
    .orderBy('messages.position')
    .limit(maxArrivals)
    .execute() as Promise<ArrivedMessage[]>
}

/** The place of a message of the chat, of either direction; undefined: there is none on the phone. */
export async function findArrival(db: Db, chat_id: string, user: string, id: string): Promise<Arrival | undefined> {
  const row = await selectChat(db, chat_id, user)
    .select(['messages.position', arrivedTime.as('time')])
    .where('messages.id', '=', id)
    .executeTakeFirst()
  return row && row.time !== null ? { time: Number(row.time), position: Number(row.position) } : undefined
}

/** The place of the last one on the phone. */
export async function findLastArrival(db: Db, chat_id: string, user: string): Promise<Arrival> {
  const row = await selectChat(db, chat_id, user)
    .select(['messages.position', arrivedTime.as('time')])
    .where(sql<boolean>`${arrivedTime} IS NOT NULL`)
    .orderBy(sql`${arrivedTime}`, 'desc')
    .orderBy('messages.position', 'desc')
    .limit(1)
    .executeTakeFirst()
  return { time: Number(row?.time ?? 0), position: Number(row?.position ?? 0) }
}
