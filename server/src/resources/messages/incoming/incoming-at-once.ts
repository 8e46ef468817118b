import { sql } from 'kysely'
import type { Transaction } from '../../../db/database.ts'
import { signalUnless } from '../../../db/postgres/signal.ts'
import { defineSql } from '../../../db/statement.ts'
import { recordForStream } from '../../../stream/stream-record.ts'
import { streamMessage } from '../status/stream-events.ts'
import {
  describeRow,
  type Incoming,
  isOfUser,
  listWordsOfIncoming,
  nameOfIncoming,
  namesMedia,
  readGroup,
  writeContent,
} from './incoming.ts'
import { type IncomingRow, insertColumns, maxContentInList, orTouch } from './incoming-store.ts'

/** A number that messages are for, as it was when it was looked up last. */
export interface RecentlyVerifiedNumber {
  readonly id: string
  readonly account_id: string
  readonly digits: string
  /** The owner of the account, which stays the same. */
  readonly business_id: string
}

/** A message with everything that storing it writes. */
interface GivenMessage extends IncomingRow {
  readonly n: number
  readonly content: string
  readonly words: readonly string[]
  /** Set in one message of each user: the user's name, if one was given. */
  readonly names: boolean
  readonly name: string | null
  /** Set in the last message of each chat: when the window opened, if it did. */
  readonly touches: boolean
  readonly window_time: number | null
}

interface AtOnce {
  readonly messages: readonly GivenMessage[]
  readonly numbers: readonly RecentlyVerifiedNumber[]
  readonly count: number
  readonly now: number
}

const givenColumns = sql`n INTEGER, id TEXT, chat_id TEXT, phone_number_id TEXT, user_wa_id TEXT, group_id TEXT, type TEXT,
  is_voice BOOLEAN, context_id TEXT, sent_time BIGINT, content TEXT, words JSONB, names BOOLEAN, name TEXT, touches BOOLEAN,
  window_time BIGINT`

// Each is looked up by its key: joins and EXISTS are left to the planner, which would read whole tables. Rows are written in the same
// order as by the statements of `incoming-store.ts`, so that transactions cannot deadlock.
const insertAtOnce = defineSql<AtOnce>()(
  ({ messages, numbers, count, now }) => sql<object>`
    WITH given AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${messages}) AS o (${givenColumns})
    ), received AS (
      INSERT INTO received_messages (phone_number_id, message_id, received_time)
      SELECT phone_number_id, id, CAST(${now} AS BIGINT) FROM given ORDER BY phone_number_id, id
      ON CONFLICT DO NOTHING RETURNING 1
    ), stored AS (
      INSERT INTO messages (id, chat_id, phone_number_id, user_wa_id, group_id, type, is_voice, context_id, sent_time,
        direction, state, created_time)
      SELECT id, chat_id, phone_number_id, user_wa_id, group_id, type, is_voice, context_id, sent_time,
        'to_business', 'sent', CAST(${now} AS BIGINT) FROM given ORDER BY n
      ON CONFLICT (id) DO NOTHING RETURNING 1
    ), named AS (
      INSERT INTO users (wa_id, name, auto_read, read_receipts, reachable)
      SELECT given.user_wa_id, given.name, FALSE, TRUE, TRUE FROM given
      LEFT JOIN LATERAL (
        SELECT wa_id, name FROM users WHERE users.wa_id = given.user_wa_id OFFSET 0
      ) AS known ON TRUE
      WHERE given.names AND (known.wa_id IS NULL OR COALESCE(given.name, known.name) IS DISTINCT FROM known.name)
      ORDER BY given.user_wa_id
      ON CONFLICT (wa_id) DO UPDATE SET name = COALESCE(excluded.name, users.name)
    ), touched AS (
      INSERT INTO chats (${insertColumns})
      SELECT chat_id, phone_number_id, CASE WHEN group_id IS NULL THEN user_wa_id END, group_id, window_time, id,
        CAST('{}' AS JSONB), FALSE, 'resume', 0, 0, CAST(${now} AS BIGINT)
      FROM given WHERE touches ORDER BY chat_id
      ${orTouch}
    ), filled AS (
      INSERT INTO message_contents (message_id, content, words, created_time)
      SELECT id, content, words, CAST(${now} AS BIGINT) FROM given
      ON CONFLICT DO NOTHING
    )
    SELECT ${signalUnless(sql`(SELECT COUNT(*) FROM received) = CAST(${count} AS INTEGER)
        AND (SELECT COUNT(*) FROM stored) = CAST(${count} AS INTEGER)
        AND NOT EXISTS (
          SELECT 1 FROM given WHERE (SELECT n.id FROM phone_numbers n WHERE n.phone_number = given.user_wa_id) IS NOT NULL
            OR (SELECT b.user_wa_id FROM blocked_users b WHERE b.phone_number_id = given.phone_number_id
              AND b.user_wa_id = given.user_wa_id) IS NOT NULL
        ) AND NOT EXISTS (
          SELECT 1 FROM json_to_recordset(${numbers}) AS o (id TEXT, account_id TEXT, digits TEXT)
          WHERE (SELECT n.id FROM phone_numbers n WHERE n.id = o.id AND n.account_id = o.account_id
            AND n.phone_number = o.digits) IS NULL
        )`)} AS is_usual`,
)

/** Whether they can be stored by one statement, as far as that is known without a read. */
export function canStoreAtOnce(arrived: readonly Incoming[]): boolean {
  const ids = new Set(arrived.map(({ id }) => id))
  return ids.size === arrived.length && arrived.every((one) => isOfUser(one) && !namesMedia(one.message))
}

/**
 * Stores messages of users by one statement, whose rows nobody awaits, for the usual case: all of them are new, the numbers are as
 * they were looked up last, and no writer is blocked or a number of this platform. Otherwise the transaction must run again, and ask the
 * store first. Returns false, with nothing done, when a content is too long for that.
 */
export function storeAtOnce(
  tx: Transaction,
  defer: NonNullable<Transaction['defer']>,
  now: number,
  arrived: readonly Incoming[],
  numbers: readonly RecentlyVerifiedNumber[],
): boolean {
  const messages = arrived.map((one, n) => describeMessage(one, n, now))
  if (messages.some(({ content }) => content.length > maxContentInList)) return false
  nameUsers(messages, arrived)
  touchChats(messages)
  defer(insertAtOnce, { messages, numbers, count: messages.length, now }, () => undefined)
  recordForStream(
    tx,
    now,
    arrived.map(({ phone_number_id, id, message }) =>
      streamMessage({ id, phone_number_id, user_wa_id: message.from, group_id: readGroup(message) }),
    ),
  )
  return true
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

function describeMessage(one: Incoming, n: number, now: number): Mutable<GivenMessage> {
  return {
    n,
    ...describeRow(one, now),
    content: writeContent(one, undefined),
    words: listWordsOfIncoming(one),
    names: false,
    name: null,
    touches: false,
    window_time: one.message.type === 'system' ? null : now,
  }
}

/** The latest name counts. */
function nameUsers(messages: readonly Mutable<GivenMessage>[], arrived: readonly Incoming[]): void {
  const firsts = new Map<string, Mutable<GivenMessage>>()
  for (const [index, one] of arrived.entries()) {
    const message = messages[index] as Mutable<GivenMessage>
    const first = firsts.get(one.message.from) ?? message
    firsts.set(one.message.from, first)
    first.names = true
    first.name = nameOfIncoming(one) ?? first.name
  }
}

/** The last message of a chat is noted in it; its window opens if any of them opens it. */
function touchChats(messages: readonly Mutable<GivenMessage>[]): void {
  const lasts = new Map<string, Mutable<GivenMessage>>()
  for (const message of messages) {
    const before = lasts.get(message.chat_id)
    if (before) {
      before.touches = false
      message.window_time ??= before.window_time
    }
    message.touches = true
    lasts.set(message.chat_id, message)
  }
}
