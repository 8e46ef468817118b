import { type RawBuilder, sql } from 'kysely'
import type { Database, Transaction } from '../../db/database.ts'
import { lockFreeRowsOf } from '../../db/row-locks.ts'
import { defineSql } from '../../db/statement.ts'
import { isAmongWaiting } from '../../db/waiting.ts'
import { failuresUntilDown } from '../rules/pause.ts'
import { keysOf } from '../store/lanes.ts'

/** How much one transaction of a sweep does: little enough that nothing else has to wait for it. */
export const stepSize = 500

/** Processes that sweep at the same time neither wait for each other nor repeat the same work. */
function skipLocked(table: string): RawBuilder<unknown> {
  return lockFreeRowsOf(table, 'ForUpdate')
}

async function countRows(rows: Promise<{ rows: unknown[] }>): Promise<number> {
  return (await rows).rows.length
}

/**
 * Gives up deliveries that were retried long enough, and expired ones: never attempted while the subscriber was down. A delivery
 * that waits only because this service did not run gets its first attempt. One without a lane would wait for ever: a process of an older
 * version sent it again to an address whose lane was removed in that moment, and nothing else knows that address.
 */
export async function expireDeliveries(tx: Transaction, before: number, now: number): Promise<number> {
  return countRows(
    sql`UPDATE deliveries SET state = 'failed', finished_time = ${now} WHERE state = 'waiting' AND id IN (
      SELECT d.id FROM deliveries d LEFT JOIN lanes ON lanes.id = d.lane_id
      WHERE ${isAmongWaiting('d')} AND d.started_time <= ${before}
        AND (lanes.failures >= ${failuresUntilDown} OR d.attempts > d.earlier_attempts OR (lanes.id IS NULL
          AND NOT EXISTS (SELECT 1 FROM lane_wakes WHERE lane_wakes.lane_id = d.lane_id)))
      ORDER BY d.started_time LIMIT ${sql.lit(stepSize)} ${skipLocked('d')}
    ) RETURNING id`.execute(tx.query),
  )
}

/** Removes finished deliveries; a waiting one is never old. */
export async function removeDeliveries(tx: Transaction, before: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    SELECT d.id FROM deliveries d WHERE d.finished_time < ${before}
    ORDER BY d.finished_time LIMIT ${sql.lit(stepSize)} ${skipLocked('d')}`.execute(tx.query)
  if (rows.length === 0) return 0
  const ids = keysOf(rows.map(({ id }) => id))
  await tx.list(deleteAttempts, { ids })
  await tx.list(deleteDeliveries, { ids })
  return rows.length
}

const deleteAttempts = defineSql<{ ids: object }>()(
  ({ ids }) =>
    sql`DELETE FROM delivery_attempts WHERE delivery_id IN (SELECT CAST(key AS BIGINT) FROM json_each(${ids}))`,
)
const deleteDeliveries = defineSql<{ ids: object }>()(
  ({ ids }) => sql`DELETE FROM deliveries WHERE id IN (SELECT CAST(key AS BIGINT) FROM json_each(${ids}))`,
)

export async function removeEvents(tx: Transaction, before: number): Promise<number> {
  return countRows(
    sql`DELETE FROM events WHERE id IN (
      SELECT e.id FROM events e WHERE e.created_time < ${before}
        AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.event_id = e.id)
      ORDER BY e.created_time LIMIT ${sql.lit(stepSize)} ${skipLocked('e')}
    ) RETURNING id`.execute(tx.query),
  )
}

export async function removeReplays(tx: Transaction, before: number): Promise<number> {
  return countRows(
    sql`DELETE FROM replays WHERE id IN (
      SELECT r.id FROM replays r WHERE r.created_time < ${before} AND r.finished_time < ${before}
      ORDER BY r.created_time LIMIT ${sql.lit(stepSize)} ${skipLocked('r')}
    ) RETURNING id`.execute(tx.query),
  )
}

/** Inbound events kept to detect duplicates, by their key columns. */
const received = {
  received_messages: ['phone_number_id', 'message_id'],
  received_statuses: ['phone_number_id', 'digest'],
  received_posts: ['app_id', 'digest'],
} as const

export const removeReceived = Object.entries(received).map(([table, key]) => (tx: Transaction, before: number) => {
  const columns = sql.join(key.map((column) => sql.ref(column)))
  return countRows(
    sql`DELETE FROM ${sql.table(table)} WHERE (${columns}) IN (
      SELECT ${columns} FROM ${sql.table(table)} WHERE received_time < ${before}
      ORDER BY received_time LIMIT ${sql.lit(stepSize)} ${skipLocked(table)}
    ) RETURNING 1`.execute(tx.query),
  )
})

export async function removeActivities(tx: Transaction, before: number): Promise<number> {
  return countRows(
    sql`DELETE FROM activities WHERE id IN (
      SELECT a.id FROM activities a WHERE a.time < ${before}
      ORDER BY a.time LIMIT ${sql.lit(stepSize)} ${skipLocked('a')}
    ) RETURNING id`.execute(tx.query),
  )
}

/** Lanes after a given one, in the order of their ids. */
export async function listLanes({ read }: Pick<Database, 'read'>, after: string): Promise<string[]> {
  const lanes = await read.query
    .selectFrom('lanes')
    .select('id')
    .where('id', '>', after)
    .orderBy('id')
    .limit(stepSize)
    .execute()
  return lanes.map(({ id }) => id)
}

const findForgotten = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ id: string }>`
    SELECT lanes.id FROM json_each(${ids}) AS o JOIN lanes ON lanes.id = o.key
    WHERE lanes.next_due IS NULL AND EXISTS (
      SELECT 1 FROM deliveries d WHERE d.lane_id = lanes.id AND d.state = 'waiting')`,
)
const remindLanes = defineSql<{ ids: object; now: number }>()(
  ({ ids, now }) => sql`UPDATE lanes SET next_due = ${now} WHERE next_due IS NULL AND id IN (
    SELECT lanes.id FROM json_each(${ids}) AS o JOIN lanes ON lanes.id = o.key ${skipLocked('lanes')})`,
)

/** Makes lanes due that have waiting deliveries but no due time: a process of an older version put them there. */
export async function rescheduleStrandedLanes(database: Database, ids: readonly string[], now: number): Promise<void> {
  const forgotten = await database.read.list(findForgotten, { ids: keysOf(ids) })
  if (forgotten.length === 0) return
  await database.execute(remindLanes, { ids: keysOf(forgotten.map(({ id }) => id)), now })
}

/** No callback leads there, nothing waits, and no delivery in the log refers to it. */
const isUnused = sql`lanes.next_due IS NULL AND lanes.leased_until = 0
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.lane_id = lanes.id)
  AND NOT EXISTS (SELECT 1 FROM app_subscriptions s
    WHERE s.app_id = lanes.app_id AND s.callback_url = lanes.callback_url)
  AND NOT EXISTS (SELECT 1 FROM subscribed_apps l
    WHERE l.app_id = lanes.app_id AND l.override_callback_uri = lanes.callback_url)
  AND NOT EXISTS (SELECT 1 FROM phone_number_callbacks n
    WHERE n.app_id = lanes.app_id AND n.override_callback_uri = lanes.callback_url)
  AND NOT EXISTS (SELECT 1 FROM phone_number_callbacks n
    WHERE n.app_id = lanes.app_id AND n.webhook_url = lanes.callback_url)
  AND NOT EXISTS (SELECT 1 FROM phone_number_callbacks n
    WHERE n.app_id = lanes.app_id AND n.temporary_callback_uri = lanes.callback_url)`

const findUnused = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ id: string }>`
    SELECT lanes.id FROM json_each(${ids}) AS o JOIN lanes ON lanes.id = o.key WHERE ${isUnused}`,
)
const lockLanes = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ id: string }>`
    SELECT lanes.id FROM json_each(${ids}) AS o JOIN lanes ON lanes.id = o.key ${skipLocked('lanes')}`,
)
const deleteUnused = defineSql<{ ids: object }>()(
  ({ ids }) => sql`DELETE FROM lanes WHERE id IN (SELECT key FROM json_each(${ids})) AND ${isUnused}`,
)

/** Removes unused lanes. Raising an event for one locks its row, which keeps it. */
export async function removeUnusedLanes(database: Database, ids: readonly string[]): Promise<void> {
  const unused = await database.read.list(findUnused, { ids: keysOf(ids) })
  if (unused.length === 0) return
  await database.transaction(async (tx) => {
    const found = keysOf(unused.map(({ id }) => id))
    const locked = await tx.list(lockLanes, { ids: found })
    await tx.list(deleteUnused, { ids: keysOf(locked.map(({ id }) => id)) })
  })
}
