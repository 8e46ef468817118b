import { sql } from 'kysely'
import { writeAccess } from '../auth/access.ts'
import type { Clock } from '../base/clock.ts'
import { minute } from '../base/duration.ts'
import type { Db, Transaction } from '../db/database.ts'

export interface DeliveryFilter {
  readonly failed: boolean
  readonly account: string | undefined
  readonly limit: number
}

/** The newest deliveries of every tenant, or of one account; `failed` leaves those that were given up or have failed so far. */
export async function listDeliveriesForOperators(db: Db, { failed, account, limit }: DeliveryFilter) {
  let newest = db.query
    .selectFrom('deliveries')
    .innerJoin('lanes', 'lanes.id', 'deliveries.lane_id')
    .select([
      'deliveries.id',
      'deliveries.app_id',
      'deliveries.account_id',
      'deliveries.field',
      'deliveries.state',
      'deliveries.attempts',
      'deliveries.created_time',
      'deliveries.due_time',
      'lanes.callback_url',
    ])
    .orderBy('deliveries.id', 'desc')
    .limit(limit)
  if (account !== undefined) newest = newest.where('deliveries.account_id', '=', account)
  if (!failed) return newest.execute()
  // Two looks, because each of them has its index; what was delivered at last is far more than both.
  const givenUp = await newest.where('deliveries.state', '=', sql.lit('failed')).execute()
  const failing = await newest
    .where('deliveries.state', '=', sql.lit('waiting'))
    .whereRef('deliveries.attempts', '>', 'deliveries.earlier_attempts')
    .execute()
  return [...givenUp, ...failing].sort((a, b) => b.id - a.id).slice(0, limit)
}

export interface DeliverySummary {
  readonly waiting: number
  /** Of those that wait: how many have been tried. */
  readonly failing: number
  readonly failed: number
  readonly deliveredInLastMinute: number
  /** Milliseconds that the oldest has been waiting; undefined when none waits. */
  readonly oldest: number | undefined
}

/** How deliveries stand. Asked every second by whoever watches, so it counts what has an index and not all that was delivered. */
export async function summarizeForOperators(db: Db, clock: Clock): Promise<DeliverySummary> {
  const count = sql<number>`COUNT(*)`
  const now = clock.now()
  const waiting = await db.query
    .selectFrom('deliveries')
    .select([
      count.as('count'),
      sql<number>`COALESCE(SUM(CASE WHEN attempts > earlier_attempts THEN 1 ELSE 0 END), 0)`.as('failing'),
      ({ fn }) => fn.min('started_time').as('oldest'),
    ])
    .where('state', '=', sql.lit('waiting'))
    .executeTakeFirstOrThrow()
  const failed = await db.query
    .selectFrom('deliveries')
    .select(count.as('count'))
    .where('state', '=', sql.lit('failed'))
    .executeTakeFirstOrThrow()
  const recent = await db.query
    .selectFrom('deliveries')
    .select(count.as('count'))
    .where('finished_time', '>', now - minute)
    .where('state', '=', 'delivered')
    .executeTakeFirstOrThrow()
  return {
    waiting: Number(waiting.count),
    failing: Number(waiting.failing),
    failed: Number(failed.count),
    deliveredInLastMinute: Number(recent.count),
    oldest: waiting.oldest === null ? undefined : Math.max(0, now - Number(waiting.oldest)),
  }
}

/** One delivery with every try at it, and what it tells. */
export async function findDeliveryForOperators(db: Db, id: number) {
  const delivery = await db.query
    .selectFrom('deliveries')
    .innerJoin('lanes', 'lanes.id', 'deliveries.lane_id')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .selectAll('deliveries')
    .select(['lanes.callback_url', 'events.value'])
    .where('deliveries.id', '=', id)
    .executeTakeFirst()
  if (!delivery) return undefined
  const attempts = await db.query
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('delivery_id', '=', id)
    .orderBy('number')
    .execute()
  return { delivery, attempts }
}

/**
 * Sends a delivery again, whatever came of it before, its tries beginning anew; but not to an app whose business has no access
 * to the account any more.
 */
export async function replayDelivery(
  tx: Transaction,
  clock: Clock,
  id: number,
): Promise<'sent again' | 'unknown' | 'withdrawn'> {
  const delivery = await tx.query
    .selectFrom('deliveries')
    .innerJoin('apps', 'apps.id', 'deliveries.app_id')
    .select([
      'deliveries.lane_id',
      writeAccess(sql.ref('apps.business_id'), sql.ref('deliveries.account_id')).as('has_access'),
    ])
    .where('deliveries.id', '=', id)
    .executeTakeFirst()
  if (!delivery) return 'unknown'
  if (delivery.has_access === 0) return 'withdrawn'
  const now = clock.now()
  await tx.query
    .updateTable('deliveries')
    .set(({ ref }) => ({
      state: 'waiting' as const,
      due_time: now,
      finished_time: null,
      started_time: now,
      earlier_attempts: ref('attempts'),
    }))
    .where('id', '=', id)
    .execute()
  await tx.query.updateTable('lanes').set({ paused_until: 0, failures: 0 }).where('id', '=', delivery.lane_id).execute()
  return 'sent again'
}
