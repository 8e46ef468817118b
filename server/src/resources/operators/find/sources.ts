import { type RawBuilder, SqliteAdapter, sql } from 'kysely'
import type { Db } from '../../../db/database.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import { isSeen } from '../limits.ts'
import type { Wanted } from './wanted.ts'
import { hashWords } from './word-hashes.ts'

/** Something that was found, before anything is read of it. */
export interface FoundRow {
  readonly kind: string
  readonly id: string
  /** 0: nothing records it. */
  readonly time: number
  readonly account_id: string | null
}

/** A query for things that fit, each with the columns of `FoundRow`. */
export type Source = RawBuilder<FoundRow>

/** What of everything is searched. */
export interface Scope {
  readonly kind: string | undefined
  readonly limits: OperatorLimits | undefined
  /** Which audit records the operator sees. */
  readonly isRecordSeen: RawBuilder<boolean>
}

export interface TracedRequest {
  readonly trace: string
  readonly time: number
  readonly account_id: string | null
}

const ofNumber = { account: sql.ref<string>('n.account_id') }
const ofNode = { account: sql.ref<string>('o.account_id'), business: sql.ref<string>('o.business_id') }

export function includes({ kind }: Scope, ...kinds: readonly string[]): boolean {
  return kind === undefined || kinds.includes(kind)
}

/** A user belongs to no account: an operator with limits sees those who have a chat with a number of these. */
function isUserSeen(limits: OperatorLimits | undefined, wa_id: string): RawBuilder<boolean> {
  if (!limits) return sql<boolean>`TRUE`
  return sql<boolean>`EXISTS (SELECT 1 FROM chats c JOIN phone_numbers n ON n.id = c.phone_number_id
    WHERE c.user_wa_id = ${sql.ref(wa_id)} AND ${isSeen(limits, ofNumber)})`
}

/** What has that id, or that phone number. */
export function listExact(wanted: Wanted, scope: Scope): Source[] {
  const { id, digits, delivery } = wanted
  const { kind, limits } = scope
  return [
    ...(id !== undefined && includes(scope, 'message') ? [ofNumberTable('messages', 'message', id, limits)] : []),
    ...(id !== undefined && includes(scope, 'call') ? [ofNumberTable('calls', 'call', id, limits)] : []),
    ...(delivery !== undefined && includes(scope, 'delivery') ? [byDelivery(delivery, limits)] : []),
    ...(id === undefined ? [] : [byNode(id, kind, limits)]),
    ...(digits !== undefined && includes(scope, 'user') ? [byUser(digits, limits)] : []),
    ...(digits !== undefined && includes(scope, 'phone_number') ? [byPhoneNumber(digits, limits)] : []),
  ]
}

function ofNumberTable(table: 'messages' | 'calls', kind: string, id: string, limits: Scope['limits']): Source {
  return sql`SELECT ${sql.lit(kind)} AS kind, m.id AS id, m.created_time AS time, n.account_id AS account_id
    FROM ${sql.table(table)} m LEFT JOIN phone_numbers n ON n.id = m.phone_number_id
    WHERE m.id = ${id} AND ${isSeen(limits, ofNumber)}`
}

function byDelivery(id: number, limits: Scope['limits']): Source {
  return sql`SELECT 'delivery' AS kind, CAST(d.id AS TEXT) AS id, d.created_time AS time, d.account_id AS account_id
    FROM deliveries d WHERE d.id = ${id} AND ${isSeen(limits, { account: sql.ref('d.account_id') })}`
}

function byNode(id: string, kind: string | undefined, limits: Scope['limits']): Source {
  return sql`SELECT o.kind AS kind, o.id AS id, COALESCE(s.time, 0) AS time, o.account_id AS account_id
    FROM nodes o LEFT JOIN searchable_names s ON s.kind = o.kind AND s.id = o.id
    WHERE o.id = ${id} AND ${isKind('o.kind', kind)} AND ${isSeen(limits, ofNode)}`
}

function byUser(wa_id: string, limits: Scope['limits']): Source {
  return sql`SELECT 'user' AS kind, u.wa_id AS id, COALESCE(s.time,
      (SELECT MAX(c.last_time) FROM chats c WHERE c.user_wa_id = u.wa_id), 0) AS time, CAST(NULL AS TEXT) AS account_id
    FROM users u LEFT JOIN searchable_names s ON s.kind = 'user' AND s.id = u.wa_id
    WHERE u.wa_id = ${wa_id} AND ${isUserSeen(limits, 'u.wa_id')}`
}

function byPhoneNumber(phone_number: string, limits: Scope['limits']): Source {
  return sql`SELECT 'phone_number' AS kind, n.id AS id, n.creation_time AS time, n.account_id AS account_id
    FROM phone_numbers n WHERE n.phone_number = ${phone_number} AND ${isSeen(limits, ofNumber)}`
}

/** A trace: of a request that this process knows, or of what is stored. */
export function listTraces({ id }: Wanted, scope: Scope, requests: readonly TracedRequest[]): Source[] {
  if (!includes(scope, 'trace')) return []
  const [request] = requests
  if (request) {
    const { trace, time, account_id } = request
    return [
      sql`SELECT 'trace' AS kind, CAST(${trace} AS TEXT) AS id, CAST(${time} AS BIGINT) AS time,
        CAST(${account_id} AS TEXT) AS account_id`,
    ]
  }
  if (id === undefined) return []
  return [
    sql`SELECT 'trace' AS kind, CAST(${id} AS TEXT) AS id, MIN(t.time) AS time, MIN(t.account_id) AS account_id FROM (
        SELECT e.created_time AS time, e.account_id AS account_id FROM events e
        WHERE e.trace = ${id} AND ${isSeen(scope.limits, { account: sql.ref('e.account_id') })}
        UNION ALL SELECT activities.time, activities.account_id FROM activities
        WHERE activities.trace = ${id} AND ${scope.isRecordSeen}
      ) AS t HAVING COUNT(*) > 0`,
  ]
}

/** Names that have all of the words; they are found by the rarest. */
export function listNamed(words: readonly string[], rarest: string, { kind, limits }: Scope): Source {
  return sql`SELECT w.kind AS kind, w.id AS id, w.time AS time, o.account_id AS account_id
    FROM name_words w LEFT JOIN nodes o ON o.id = w.id AND o.kind = w.kind
    WHERE w.word = ${rarest} AND ${isKind('w.kind', kind)} AND ${hasAll(words)}
      AND ${isNameSeen(limits)}`
}

/** Names whose words are not split yet. */
export function listUnsplit(
  names: readonly { readonly kind: string; readonly id: string }[],
  now: number,
  { limits }: Scope,
): Source[] {
  if (names.length === 0) return []
  const keys = sql.join(names.map(({ kind, id }) => sql`(${kind}, ${id})`))
  return [
    sql`SELECT w.kind AS kind, w.id AS id, COALESCE(w.time, CAST(${now} AS BIGINT)) AS time, o.account_id AS account_id
      FROM searchable_names w LEFT JOIN nodes o ON o.id = w.id AND o.kind = w.kind
      WHERE (w.kind, w.id) IN (VALUES ${keys}) AND ${isNameSeen(limits)}`,
  ]
}

function isNameSeen(limits: Scope['limits']): RawBuilder<boolean> {
  if (!limits) return sql<boolean>`TRUE`
  return sql<boolean>`CASE w.kind WHEN 'user' THEN ${isUserSeen(limits, 'w.id')} ELSE ${isSeen(limits, ofNode)} END`
}

/** Up to so many messages are sorted at once; more are looked for in the order of their times. */
export const maxByIndex = 1000
const maxUnindexed = 5000

/** How messages are found by their words: by the index of words, which returns them in no order; or by time, newest first. */
export type MessagePath = 'index' | 'time'

export function listMessages(db: Db, words: readonly string[], path: MessagePath, { limits }: Scope): Source {
  // Looked up for each, by its key: a join is left to the planner, which would read all messages.
  const account = sql`SELECT n.account_id FROM messages m JOIN phone_numbers n ON n.id = m.phone_number_id WHERE m.id = fitting.id`
  const fits = path === 'index' ? sql`${isIndexed(db, words)} LIMIT ${sql.lit(maxByIndex)}` : hasWords(db, words)
  const found = sql<FoundRow>`SELECT 'message' AS kind, fitting.id AS id, fitting.time AS time, (${account}) AS account_id
    FROM (SELECT message_id AS id, created_time AS time FROM message_contents WHERE ${fits}) AS fitting`
  if (!limits) return found
  return sql`SELECT * FROM (${found}) AS n WHERE ${isSeen(limits, ofNumber)}`
}

/** Through which rows the search walks, newest first: those that it cannot find by an index alone. */
export function listWalked(rarestInNames: string | undefined, path: MessagePath | undefined): RawBuilder<unknown>[] {
  // Without a bound of the time SQLite reads and sorts all contents, although an index has their order.
  const contents = sql`SELECT created_time AS time, message_id AS id FROM message_contents WHERE created_time >= 0`
  return [
    ...(rarestInNames === undefined ? [] : [sql`SELECT time, id FROM name_words WHERE word = ${rarestInNames}`]),
    ...(path === 'time' ? [contents] : []),
  ]
}

/** Whether a content has all of the words, by their index. */
export function isIndexed(db: Db, words: readonly string[]): RawBuilder<boolean> {
  if (isEmbedded(db)) return isIndexedInSqlite(db, words)
  // In a query of their own the words are unknown to the planner: that they are common would be a reason for it to read the table, in
  // which those that fit may all be at the end.
  return sql<boolean>`words @> (SELECT CAST(${JSON.stringify(words)} AS JSONB))`
}

/** What came since the worker filled the index is looked through: it is seconds behind. */
function isIndexedInSqlite(db: Db, words: readonly string[]): RawBuilder<boolean> {
  const all = hashWords(db, words)
    .map((word) => `"${word}"`)
    .join(' AND ')
  return sql<boolean>`message_contents.rowid IN (
    SELECT * FROM (SELECT rowid FROM message_words WHERE message_words MATCH ${all} LIMIT ${sql.lit(maxByIndex + 1)})
    UNION ALL SELECT id FROM (
      SELECT rowid AS id, words FROM message_contents WHERE rowid > (SELECT last_rowid FROM message_words_end)
      ORDER BY rowid DESC LIMIT ${sql.lit(maxUnindexed)}
    ) AS fresh WHERE ${hasWords(db, words)})`
}

/** The same without an index, which would list all of very many. Words have no sign that means something here. */
function hasWords(db: Db, words: readonly string[]): RawBuilder<boolean> {
  if (!isEmbedded(db)) return sql<boolean>`(words @> CAST(${JSON.stringify(words)} AS JSONB)) IS TRUE`
  return sql<boolean>`(${sql.join(
    words.map((word) => sql`words LIKE ${`%"${word}"%`}`),
    sql` AND `,
  )})`
}

function isEmbedded({ query }: Db): boolean {
  return query.getExecutor().adapter instanceof SqliteAdapter
}

function hasAll(words: readonly string[]): RawBuilder<boolean> {
  if (words.length === 1) return sql<boolean>`TRUE`
  return sql<boolean>`(SELECT COUNT(*) FROM name_words x WHERE x.word IN (${sql.join(words)})
    AND x.time = w.time AND x.id = w.id AND x.kind = w.kind) = ${sql.lit(words.length)}`
}

function isKind(column: string, kind: string | undefined): RawBuilder<boolean> {
  return kind === undefined ? sql<boolean>`TRUE` : sql<boolean>`${sql.ref(column)} = ${kind}`
}
