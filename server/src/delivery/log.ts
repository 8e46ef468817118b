import type { Clock } from '../base/clock.ts'
import type { Db, Transaction } from '../db/database.ts'

export interface DeliveryFilter {
  readonly failed: boolean
  readonly account: string | undefined
  readonly limit: number
}

/** The newest deliveries of every tenant, or of one account; `failed` leaves those that were given up or have failed so far. */
export async function listDeliveriesForOperators(db: Db, { failed, account, limit }: DeliveryFilter) {
  let query = db.query
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
  if (account !== undefined) query = query.where('deliveries.account_id', '=', account)
  if (failed) {
    query = query.where((eb) =>
      eb.or([
        eb('deliveries.state', '=', 'failed'),
        eb.and([eb('deliveries.state', '=', 'waiting'), eb('deliveries.attempts', '>', 0)]),
      ]),
    )
  }
  return query.execute()
}

/** How many deliveries there are in each state. */
export async function countDeliveriesForOperators(db: Db): Promise<Record<string, number>> {
  const rows = await db.query
    .selectFrom('deliveries')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]))
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

/** Sends a delivery again, whatever came of it before; false when there is none of that id. */
export async function replayDelivery(tx: Transaction, clock: Clock, id: number): Promise<boolean> {
  const now = clock.now()
  const { numUpdatedRows } = await tx.query
    .updateTable('deliveries')
    .set(({ ref }) => ({
      state: 'waiting' as const,
      due_time: now,
      finished_time: null,
      started_time: now,
      earlier_attempts: ref('attempts'),
    }))
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return false
  const lane = tx.query.selectFrom('deliveries').select('lane_id').where('id', '=', id)
  await tx.query.updateTable('lanes').set({ paused_until: 0, failures: 0 }).where('id', 'in', lane).execute()
  return true
}
