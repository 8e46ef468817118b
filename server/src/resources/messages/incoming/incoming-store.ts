import { sql } from 'kysely'
import type { Db, Transaction } from '../../../db/database.ts'
import { defineSql, defineWithRows } from '../../../db/statement.ts'
import type { ChatsTable, MessageContentsTable, MessagesTable } from '../../../db/tables.ts'
import { insertContent } from '../store.ts'

/** Rows of one statement: an object, which both databases read as keys and values. The keys keep the order of the list. */
type Listed<Row> = Readonly<Record<string, Row>>

function list<Row>(rows: readonly Row[]): Listed<Row> {
  return Object.fromEntries(rows.map((row, index) => [`n${String(index).padStart(5, '0')}`, row]))
}

/** Who writes, as far as storing a message depends on it. */
export interface Writer {
  readonly name: string | null
  /** There is a row of the user. */
  readonly isKnown: boolean
  /** The number has blocked the user. */
  readonly isBlocked: boolean
  /** It is a number of this platform. */
  readonly isNumber: boolean
}

interface WriterRow {
  readonly key: string
  readonly name: string | null
  readonly is_known: number
  readonly is_blocked: number
  readonly is_number: number
}

// Each is looked up by its key: joins and EXISTS are left to the planner, which would read whole tables.
const selectWriters = defineWithRows(
  defineSql<{ writers: Listed<readonly [phone_number_id: string, wa_id: string]> }>()(
    ({ writers }) => sql<WriterRow>`
    SELECT o.key AS key, users.name AS name, CASE WHEN users.wa_id IS NULL THEN 0 ELSE 1 END AS is_known,
      CASE WHEN (SELECT b.user_wa_id FROM blocked_users b WHERE b.phone_number_id = o.value ->> 0
        AND b.user_wa_id = o.value ->> 1) IS NULL THEN 0 ELSE 1 END AS is_blocked,
      CASE WHEN (SELECT n.id FROM phone_numbers n WHERE n.phone_number = o.value ->> 1) IS NULL THEN 0 ELSE 1 END AS is_number
    FROM json_each(${writers}) AS o
    LEFT JOIN LATERAL (SELECT wa_id, name FROM users WHERE wa_id = o.value ->> 1 OFFSET 0) AS users ON TRUE`,
  ),
  ([key, phone_number_id, wa_id]) => sql`
    SELECT ${key} AS key, (SELECT name FROM users WHERE wa_id = ${wa_id}) AS name,
      EXISTS (SELECT 1 FROM users WHERE wa_id = ${wa_id}) AS is_known,
      EXISTS (SELECT 1 FROM blocked_users WHERE phone_number_id = ${phone_number_id} AND user_wa_id = ${wa_id}) AS is_blocked,
      EXISTS (SELECT 1 FROM phone_numbers WHERE phone_number = ${wa_id}) AS is_number`,
  ({ writers }) => Object.entries(writers).map(([key, pair]) => [key, ...pair]),
)

export function writerKeyOf(phone_number_id: string, wa_id: string): string {
  return `${phone_number_id} ${wa_id}`
}

/** Who writes to which number, by `writerKeyOf`. */
export async function readWriters(
  tx: Transaction,
  pairs: readonly (readonly [phone_number_id: string, wa_id: string])[],
): Promise<ReadonlyMap<string, Writer>> {
  const writers = Object.fromEntries(pairs.map((pair) => [writerKeyOf(...pair), pair]))
  const rows = await tx.list(selectWriters, { writers })
  return new Map(
    rows.map(({ key, name, is_known, is_blocked, is_number }) => [
      key,
      { name, isKnown: is_known === 1, isBlocked: is_blocked === 1, isNumber: is_number === 1 },
    ]),
  )
}

export type IncomingRow = Pick<
  MessagesTable,
  'id' | 'chat_id' | 'phone_number_id' | 'user_wa_id' | 'group_id' | 'type' | 'is_voice' | 'context_id' | 'sent_time'
>

const insertMessages = defineWithRows(
  defineSql<{ messages: Listed<readonly (string | number | null)[]>; now: number }>()(
    ({ messages, now }) => sql<{ id: string; phone_number_id: string }>`
    INSERT INTO messages (id, chat_id, phone_number_id, user_wa_id, group_id, type, is_voice, context_id, sent_time,
      direction, state, created_time)
    SELECT o.value ->> 0, o.value ->> 1, o.value ->> 2, o.value ->> 3, o.value ->> 4, o.value ->> 5,
      o.value ->> 6 = 'voice', o.value ->> 7, CAST(o.value ->> 8 AS BIGINT), 'to_business', 'sent', CAST(${now} AS BIGINT)
    FROM json_each(${messages}) AS o WHERE TRUE ORDER BY o.key
    ON CONFLICT (id) DO NOTHING RETURNING id, phone_number_id`,
  ),
  ([now, id, chat_id, phone_number_id, user_wa_id, group_id, type, voice, context_id, sent_time]) => sql`
    INSERT INTO messages (id, chat_id, phone_number_id, user_wa_id, group_id, type, is_voice, context_id, sent_time,
      direction, state, created_time)
    VALUES (${id}, ${chat_id}, ${phone_number_id}, ${user_wa_id}, ${group_id}, ${type}, ${voice} = 'voice', ${context_id},
      ${sent_time}, 'to_business', 'sent', ${now})
    ON CONFLICT (id) DO NOTHING RETURNING id, phone_number_id`,
  ({ messages, now }) => Object.values(messages).map((row) => [now, ...row]),
)

/** Stores messages of users in their order; returns those whose id was free. */
export async function insertIncoming(tx: Transaction, now: number, rows: readonly IncomingRow[]) {
  const messages = list(
    rows.map((row) => [
      row.id,
      row.chat_id,
      row.phone_number_id,
      row.user_wa_id,
      row.group_id,
      row.type,
      row.is_voice ? 'voice' : '',
      row.context_id,
      row.sent_time,
    ]),
  )
  return tx.list(insertMessages, { messages, now })
}

/** Stores a message of which it is known that it is new; false when its id is taken. */
export async function insertOwn(tx: Transaction, row: IncomingRow, now: number): Promise<boolean> {
  const inserted = await tx.query
    .insertInto('messages')
    .values({ ...row, direction: 'to_business', state: 'sent', created_time: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Whose message has an id. */
export interface Holder {
  readonly phone_number_id: string
  /** Whether its number and that one are of one business. */
  isOfBusinessOf(phone_number_id: string): boolean
}

/** Who has the ids of messages that were not stored, by these. */
export async function listHolders(
  db: Db,
  known: readonly { readonly id: string; readonly phone_number_id: string }[],
): Promise<ReadonlyMap<string, Holder>> {
  const numbers = await listNumbersOfMessages(
    db,
    known.map(({ id }) => id),
  )
  const named = [...new Set([...numbers.values(), ...known.map(({ phone_number_id }) => phone_number_id)])]
  const rows = await db.query
    .selectFrom('phone_numbers')
    .innerJoin('accounts', 'accounts.id', 'phone_numbers.account_id')
    .select(['phone_numbers.id', 'accounts.business_id'])
    .where('phone_numbers.id', 'in', named)
    .execute()
  const businesses = new Map(rows.map(({ id, business_id }) => [id, business_id]))
  const isOfOne = (one: string, other: string) => businesses.get(one) === businesses.get(other)
  return new Map(
    [...numbers].map(([id, phone_number_id]) => [
      id,
      { phone_number_id, isOfBusinessOf: (other: string) => isOfOne(phone_number_id, other) },
    ]),
  )
}

const selectNumbers = defineSql<{ ids: Listed<readonly [id: string]> }>()(
  ({ ids }) => sql<{ id: string; phone_number_id: string }>`
    SELECT messages.id, messages.phone_number_id FROM json_each(${ids}) AS o
    JOIN messages ON messages.id = o.value ->> 0`,
)

/** The numbers of those messages that are stored. */
export async function listNumbersOfMessages(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db.list(selectNumbers, { ids: list(ids.map((id) => [id] as const)) })
  return new Map(rows.map(({ id, phone_number_id }) => [id, phone_number_id]))
}

type NewContent = Pick<MessageContentsTable, 'message_id' | 'content' | 'sha256' | 'words'>

const insertNewContents = defineWithRows(
  defineSql<{ contents: Listed<readonly unknown[]>; now: number }>()(
    ({ contents, now }) => sql`
    INSERT INTO message_contents (message_id, content, sha256, words, created_time)
    SELECT o.value ->> 0, o.value ->> 1, o.value ->> 2, o.value -> 3, CAST(${now} AS BIGINT) FROM json_each(${contents}) AS o`,
  ),
  ([now, id, content, sha256, words]) => sql`
    INSERT INTO message_contents (message_id, content, sha256, words, created_time)
    VALUES (${id}, ${content}, ${sha256}, ${words}, ${now})`,
  ({ contents, now }) => Object.values(contents).map((row) => [now, ...row]),
)

/** Longer contents get a statement of their own: in a list they would be escaped once more. */
export const maxContentInList = 16_384

export function insertContents(tx: Transaction, now: number, contents: readonly NewContent[]): void {
  const rows: unknown[][] = []
  for (const { message_id, content, sha256, words } of contents) {
    if (content.length <= maxContentInList) rows.push([message_id, content, sha256, words])
    else tx.run(insertContent, { message_id, content, sha256, words, created_time: now })
  }
  if (rows.length > 0) tx.run(insertNewContents, { contents: list(rows), now })
}

/** A chat that a user has written in; `window_time` is null where that opens no window. */
export type TouchedChat = Pick<ChatsTable, 'id' | 'phone_number_id' | 'user_wa_id' | 'group_id' | 'window_time'> & {
  readonly last_message_id: string
}

export const insertColumns = sql`id, phone_number_id, user_wa_id, group_id, window_time, last_message_id, conversations, blocked,
      marketing, typing_until, pair_time, last_time`

export const orTouch = sql`ON CONFLICT (id) DO UPDATE SET window_time = COALESCE(excluded.window_time, chats.window_time),
      last_message_id = excluded.last_message_id, last_time = excluded.last_time`

const upsertChats = defineWithRows(
  // In a fixed order, so that transactions cannot deadlock.
  defineSql<{ chats: Readonly<Record<string, readonly unknown[]>>; now: number }>()(
    ({ chats, now }) => sql`
    INSERT INTO chats (${insertColumns})
    SELECT o.key, o.value ->> 0, o.value ->> 1, o.value ->> 2, CAST(o.value ->> 3 AS BIGINT), o.value ->> 4, o.value -> 5,
      FALSE, 'resume', 0, 0, CAST(${now} AS BIGINT)
    FROM json_each(${chats}) AS o WHERE TRUE ORDER BY o.key
    ${orTouch}`,
  ),
  ([now, id, phone_number_id, user_wa_id, group_id, window_time, last_message_id, conversations]) => sql`
    INSERT INTO chats (${insertColumns})
    VALUES (${id}, ${phone_number_id}, ${user_wa_id}, ${group_id}, ${window_time}, ${last_message_id}, ${conversations},
      FALSE, 'resume', 0, 0, ${now})
    ${orTouch}`,
  ({ chats, now }) => Object.entries(chats).map(([id, row]) => [now, id, ...row]),
)

/** Notes in chats, which are made where there are none, what was written last and when the window opened. */
export function touchChats(tx: Transaction, now: number, chats: readonly TouchedChat[]): void {
  const rows = chats.map(({ id, phone_number_id, user_wa_id, group_id, window_time, last_message_id }) => [
    id,
    [phone_number_id, user_wa_id, group_id, window_time, last_message_id, {}],
  ])
  tx.run(upsertChats, { chats: Object.fromEntries(rows), now })
}
