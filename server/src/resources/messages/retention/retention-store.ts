import { sql } from 'kysely'
import type { Random } from '../../../base/keys/random.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Db, Transaction } from '../../../db/database.ts'
import { lockFreeRowsOf } from '../../../db/row-locks.ts'
import { defineSql } from '../../../db/statement.ts'
import { isAmongWaiting } from '../../../db/waiting.ts'
import { keysOf } from '../../../delivery/store/lanes.ts'
import { releaseFiles } from '../../../files/files.ts'
import { listStoredUses } from '../content/stored-files.ts'

/** How many rows one step reads and one transaction removes: little enough that no write waits for long. */
export const stepSize = 200

/** The event of an incoming message is raised in the same transaction, slightly later. */
const eventDelay = 60_000

/** A message to a user that nothing more happens to, besides being read; `m` is its row. */
const hasEnded = (now: number) => sql`(
  m.ended_time IS NOT NULL OR m.state = 'failed' OR m.type = 'reaction' OR m.expires_time <= CAST(${now} AS BIGINT)
  OR (m.group_id IS NULL AND m.state IN ('delivered', 'read', 'played'))
  OR (m.group_id IS NOT NULL AND m.state <> 'accepted' AND NOT EXISTS (
    SELECT 1 FROM message_recipients r WHERE r.message_id = m.id AND r.state = 'sent')))`

/** No event of the message waits to be delivered; chats and conversations of events have the same names. */
const wasDelivered = sql`NOT EXISTS (SELECT 1 FROM deliveries d
  WHERE d.conversation = m.chat_id AND ${isAmongWaiting('d')} AND d.created_time <= m.created_time + ${sql.lit(eventDelay)})`

export interface KeptRow {
  readonly id: string
  readonly created_time: number
  readonly is_over: number
}

interface Position {
  readonly time: number
  readonly id: string
}

const selectContents = defineSql<Position & { now: number }>()(
  ({ time, id, now }) => sql<KeptRow>`
    SELECT c.message_id AS id, c.created_time, CASE WHEN m.id IS NULL
      OR (m.direction = 'to_user' AND ${hasEnded(now)})
      OR (m.direction = 'to_business' AND ${wasDelivered}) THEN 1 ELSE 0 END AS is_over
    FROM message_contents c LEFT JOIN messages m ON m.id = c.message_id
    WHERE (c.created_time, c.message_id) > (${time}, ${id})
    ORDER BY c.created_time, c.message_id LIMIT ${sql.lit(stepSize)}`,
)

/** Contents after a given one, oldest first, with whether their messages are over: delivered, failed, dropped, or with their events delivered. */
export async function listContentsAfter(db: Db, now: number, after: KeptRow | undefined): Promise<KeptRow[]> {
  return db.list(selectContents, { ...positionOf(after), now })
}

const selectOldContents = defineSql<Position & { before: number }>()(
  ({ time, id, before }) => sql<KeptRow>`
    SELECT c.message_id AS id, c.created_time, 1 AS is_over FROM message_contents c
    WHERE c.created_time <= ${before} AND (c.created_time, c.message_id) > (${time}, ${id})
    ORDER BY c.created_time, c.message_id LIMIT ${sql.lit(stepSize)}`,
)

/** Old contents after a given one, oldest first. */
export async function listOldContents(db: Db, before: number, after: KeptRow | undefined): Promise<KeptRow[]> {
  return db.list(selectOldContents, { ...positionOf(after), before })
}

const selectMessages = defineSql<Position & { before: number; now: number }>()(
  ({ time, id, before, now }) => sql<KeptRow>`
    SELECT m.id, m.created_time, CASE WHEN m.direction = 'to_business' OR ${hasEnded(now)} THEN 1 ELSE 0 END AS is_over
    FROM messages m WHERE m.created_time <= ${before} AND (m.created_time, m.id) > (${time}, ${id})
    ORDER BY m.created_time, m.id LIMIT ${sql.lit(stepSize)}`,
)

/** Old messages after a given one, oldest first, with whether they are over. */
export async function listMessagesAfter(
  db: Db,
  { before, now }: { readonly before: number; readonly now: number },
  after: KeptRow | undefined,
): Promise<KeptRow[]> {
  return db.list(selectMessages, { ...positionOf(after), before, now })
}

function positionOf(after: KeptRow | undefined): Position {
  return { time: after?.created_time ?? -1, id: after?.id ?? '' }
}

const deleteListedContents = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ message_id: string; content: string; sha256: string | null }>`
    DELETE FROM message_contents WHERE message_id IN (SELECT key FROM json_each(${ids}))
    RETURNING message_id, content, sha256`,
)

/** Removes what messages say, and returns it with the blobs that it used; the bytes of their media files go with their last use. */
export async function deleteContents(
  tx: Transaction,
  tools: { readonly clock: Clock; readonly random: Random },
  ids: readonly string[],
) {
  const gone = await tx.list(deleteListedContents, { ids: keysOf(ids) })
  const uses = gone.flatMap(listStoredUses)
  const released = Object.fromEntries(uses.map(([used_by, sha256]) => [used_by, [sha256] as const]))
  if (uses.length > 0) await releaseFiles(tx, tools, released)
  return { gone, blobs: uses.map(([, sha256]) => sha256) }
}

const deleteListedRecipients = defineSql<{ ids: object }>()(
  ({ ids }) => sql`DELETE FROM message_recipients WHERE message_id IN (SELECT key FROM json_each(${ids}))`,
)
const deleteListedMessages = defineSql<{ ids: object }>()(
  ({ ids }) => sql`DELETE FROM messages WHERE id IN (SELECT key FROM json_each(${ids}))`,
)

const lockFreeContents = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ id: string }>`
    SELECT c.message_id AS id FROM message_contents c WHERE c.message_id IN (SELECT key FROM json_each(${ids}))
    ${lockFreeRowsOf('c', 'ForUpdate')}`,
)
const lockFreeMessages = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ id: string }>`
    SELECT m.id FROM messages m WHERE m.id IN (SELECT key FROM json_each(${ids})) ${lockFreeRowsOf('m', 'ForUpdate')}`,
)

/** Removes what messages say, but for those that somebody else has locked: the next sweep meets them again. */
export async function sweepContents(
  tx: Transaction,
  tools: { readonly clock: Clock; readonly random: Random },
  ids: readonly string[],
): Promise<void> {
  const free = await tx.list(lockFreeContents, { ids: keysOf(ids) })
  await deleteContents(
    tx,
    tools,
    free.map(({ id }) => id),
  )
}

/** Removes messages entirely, but for those that somebody else has locked. A content that is locked goes as an old content. */
export async function sweepMessages(
  tx: Transaction,
  tools: { readonly clock: Clock; readonly random: Random },
  ids: readonly string[],
): Promise<void> {
  const free = (await tx.list(lockFreeMessages, { ids: keysOf(ids) })).map(({ id }) => id)
  await sweepContents(tx, tools, free)
  tx.run(deleteListedRecipients, { ids: keysOf(free) })
  tx.run(deleteListedMessages, { ids: keysOf(free) })
}

const deleteOldKeys = defineSql<{ before: number }>()(
  ({ before }) => sql<{ key: string }>`
    DELETE FROM idempotency_keys WHERE (app_id, phone_number_id, key) IN (
      SELECT k.app_id, k.phone_number_id, k.key FROM idempotency_keys k WHERE k.created_time <= ${before}
      ORDER BY k.created_time LIMIT ${sql.lit(stepSize)} ${lockFreeRowsOf('k', 'ForUpdate')}
    ) RETURNING key`,
)

/** Removes some idempotency keys whose time is over, and returns whether there may be more. */
export async function deleteKeys(tx: Transaction, before: number): Promise<number> {
  return (await tx.list(deleteOldKeys, { before })).length
}
