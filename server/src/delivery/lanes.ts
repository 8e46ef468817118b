import { sql } from 'kysely'
import { minute } from '../base/duration.ts'
import type { Db, Transaction } from '../db/database.ts'

/** How long a lane belongs to the process that claimed it; every recorded result makes it longer. */
const leaseMilliseconds = minute

export interface Lane {
  readonly id: string
  readonly app_id: string
  readonly callback_url: string
  readonly failures: number
}

/** A delivery that is to be tried now, with what it tells. */
export interface DueDelivery {
  readonly id: number
  readonly account_id: string
  readonly field: string
  readonly value: string
  readonly attempts: number
  readonly created_time: number
}

const isWaitingAndDue = (now: number) =>
  sql<boolean>`EXISTS (SELECT 1 FROM deliveries d WHERE d.lane_id = lanes.id AND d.state = 'waiting' AND d.due_time <= ${now})`

/**
 * Claims lanes that have something to send: nobody else works on them, or whoever did is dead. Processes that claim at the same
 * moment pass over each other's.
 */
export async function claimLanes(tx: Transaction, now: number, owner: string, limit: number): Promise<Lane[]> {
  let free = tx.query
    .selectFrom('lanes')
    .select(['id', 'app_id', 'callback_url', 'failures'])
    .where('leased_until', '<=', now)
    .where('paused_until', '<=', now)
    .where(isWaitingAndDue(now))
    .limit(limit)
  if (tx.lockRows) free = free.forUpdate().skipLocked()
  const lanes = await free.execute()
  if (lanes.length > 0) {
    const ids = lanes.map(({ id }) => id)
    const lease = { leased_until: now + leaseMilliseconds, lease_owner: owner }
    await tx.query.updateTable('lanes').set(lease).where('id', 'in', ids).execute()
  }
  return lanes
}

/** Whether there is anything to claim: one read, so that asking costs no transaction. */
export async function isAnyLaneDue(db: Db, now: number): Promise<boolean> {
  const lane = await db.query
    .selectFrom('lanes')
    .select('id')
    .where('leased_until', '<=', now)
    .where('paused_until', '<=', now)
    .where(isWaitingAndDue(now))
    .limit(1)
    .executeTakeFirst()
  return lane !== undefined
}

/** The next deliveries of a lane, in the order in which things happened. */
export async function listDue(db: Db, lane: Lane, now: number, limit: number): Promise<DueDelivery[]> {
  return db.query
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .select([
      'deliveries.id',
      'deliveries.account_id',
      'deliveries.field',
      'events.value',
      'deliveries.attempts',
      'deliveries.created_time',
    ])
    .where('deliveries.lane_id', '=', lane.id)
    .where('deliveries.state', '=', 'waiting')
    .where('deliveries.due_time', '<=', now)
    .orderBy('deliveries.id')
    .limit(limit)
    .execute()
}

/** Says that a lane is still being worked on, and what came of its subscriber. False when somebody else has it by now. */
export async function keepLane(
  tx: Transaction,
  lane: Lane,
  owner: string,
  now: number,
  state: { readonly failures: number; readonly paused_until: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('lanes')
    .set({ ...state, leased_until: now + leaseMilliseconds })
    .where('id', '=', lane.id)
    .where('lease_owner', '=', owner)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export async function releaseLane(tx: Transaction, lane: Lane, owner: string): Promise<void> {
  await tx.query
    .updateTable('lanes')
    .set({ leased_until: 0, lease_owner: null })
    .where('id', '=', lane.id)
    .where('lease_owner', '=', owner)
    .execute()
}
