import { sql } from 'kysely'
import type { Clock } from '../../base/time/clock.ts'
import { minute } from '../../base/time/duration.ts'
import type { Db } from '../../db/database.ts'
import { isAmongWaiting } from '../../db/waiting.ts'

export interface DeliveryFilter {
  readonly failed: boolean
  readonly account: string | undefined
  /** When they were raised, in milliseconds. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly limit: number
}

/** The newest deliveries of every tenant, or of one account; `failed` selects those that were given up or have failed so far. */
export async function listDeliveriesForOperators(db: Db, { failed, account, since, until, limit }: DeliveryFilter) {
  let newest = db.query
    .selectFrom('deliveries')
    .innerJoin('lanes', 'lanes.id', 'deliveries.lane_id')
    .select([
      'deliveries.id',
      'deliveries.app_id',
      'deliveries.account_id',
      'deliveries.field',
      'deliveries.conversation',
      'deliveries.state',
      'deliveries.attempts',
      'deliveries.created_time',
      'deliveries.due_time',
      'lanes.callback_url',
    ])
    .orderBy('deliveries.id', 'desc')
    .limit(limit)
  if (account !== undefined) newest = newest.where('deliveries.account_id', '=', account)
  if (since !== undefined) newest = newest.where('deliveries.created_time', '>=', since)
  if (until !== undefined) newest = newest.where('deliveries.created_time', '<', until)
  if (!failed) return newest.execute()
  // Two queries, because each has its index; the delivered ones far outnumber both.
  const givenUp = await newest.where('deliveries.state', '=', sql.lit('failed')).execute()
  const failing = await newest
    .where(isAmongWaiting())
    .whereRef('deliveries.attempts', '>', 'deliveries.earlier_attempts')
    .execute()
  return [...givenUp, ...failing].sort((a, b) => b.id - a.id).slice(0, limit)
}

export interface DeliverySummary {
  readonly waiting: number
  /** How many of the waiting ones have been attempted. */
  readonly failing: number
  readonly failed: number
  readonly deliveredInLastMinute: number
  /** Milliseconds that the oldest has waited; undefined when none waits. */
  readonly oldest: number | undefined
}

/** The state of deliveries. Watchers poll it every second, so it counts only by index and never all that was delivered. */
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
    .where(isAmongWaiting())
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

/** One delivery with its event and every attempt. */
export async function findDeliveryForOperators(db: Db, id: number) {
  const delivery = await db.query
    .selectFrom('deliveries')
    .innerJoin('lanes', 'lanes.id', 'deliveries.lane_id')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .selectAll('deliveries')
    .select(['lanes.callback_url', 'events.value', 'events.trace', 'events.span'])
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
