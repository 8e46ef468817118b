import { sql } from 'kysely'
import { writeAccess } from '../auth/access.ts'
import type { Db, Transaction } from '../db/database.ts'
import { defineStatement } from '../db/statement.ts'
import type { LaneState } from './pause.ts'

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
  readonly earlier_attempts: number
  readonly started_time: number
  /** 0 when the app's business has lost its access to the account since: then it is ended instead. */
  readonly has_access: number
}

/** Who holds a lane, and for how long when nothing more is heard of them. */
export interface Lease {
  readonly owner: string
  readonly milliseconds: number
}

/**
 * Lanes that have something to send, that nobody works on (or whoever did is dead), and that are not paused. It steps from one
 * lane with something waiting to the next, so that neither the lanes that wait for nothing nor the length of a backlog count.
 */
const findDueLanes = defineStatement<{ now: number; limit: number }>()((db, { now, limit }) =>
  db
    .withRecursive('busy(lane_id)', (cte) =>
      cte
        .selectFrom('deliveries')
        .select(({ fn }) => fn.min<string | null>('lane_id').as('lane_id'))
        .where('state', '=', sql.lit('waiting'))
        .unionAll(
          cte
            .selectFrom('busy')
            .select(
              sql<
                string | null
              >`(SELECT MIN(d.lane_id) FROM deliveries d WHERE d.state = 'waiting' AND d.lane_id > busy.lane_id)`.as(
                'lane_id',
              ),
            )
            .where('busy.lane_id', 'is not', null),
        ),
    )
    .selectFrom('busy')
    .innerJoin('lanes', 'lanes.id', 'busy.lane_id')
    .select('lanes.id')
    .where('lanes.leased_until', '<=', now)
    .where('lanes.paused_until', '<=', now)
    .where(
      sql<boolean>`EXISTS (SELECT 1 FROM deliveries d WHERE d.lane_id = lanes.id AND d.state = 'waiting' AND d.due_time <= ${now})`,
    )
    .limit(limit),
)

/** A read, so that asking costs no transaction where there is nothing to claim. */
export async function listDueLanes(db: Db, now: number, limit: number): Promise<string[]> {
  const lanes = await db.list(findDueLanes, { now, limit })
  return lanes.map(({ id }) => id)
}

/** Claims lanes; those that somebody else claimed meanwhile are not among what is returned. */
export async function claimLanes(
  tx: Transaction,
  ids: readonly string[],
  { owner, milliseconds }: Lease,
  now: number,
): Promise<Lane[]> {
  return tx.query
    .updateTable('lanes')
    .set({ leased_until: now + milliseconds, lease_owner: owner })
    .where('id', 'in', ids)
    .where('leased_until', '<=', now)
    .returning(['id', 'app_id', 'callback_url', 'failures'])
    .execute()
}

const findDue = defineStatement<{ lane_id: string; now: number; limit: number }>()((db, { lane_id, now, limit }) =>
  db
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .innerJoin('apps', 'apps.id', 'deliveries.app_id')
    .select([
      'deliveries.id',
      'deliveries.account_id',
      'deliveries.field',
      'events.value',
      'deliveries.attempts',
      'deliveries.earlier_attempts',
      'deliveries.started_time',
      writeAccess(sql.ref('apps.business_id'), sql.ref('deliveries.account_id')).as('has_access'),
    ])
    .where('deliveries.lane_id', '=', lane_id)
    .where('deliveries.state', '=', sql.lit('waiting'))
    .where('deliveries.due_time', '<=', now)
    .orderBy('deliveries.id')
    .limit(limit),
)

/** The next deliveries of a lane, in the order in which things happened. */
export async function listDue(db: Db, lane: Lane, now: number, limit: number): Promise<DueDelivery[]> {
  return db.list(findDue, { lane_id: lane.id, now, limit })
}

/** Says that a lane is still being worked on, and what came of its subscriber. False when somebody else has it by now. */
export async function keepLane(
  tx: Transaction,
  lane: Lane,
  { owner, milliseconds }: Lease,
  now: number,
  { failures, paused_until }: LaneState,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('lanes')
    .set({ failures, paused_until, leased_until: now + milliseconds })
    .where('id', '=', lane.id)
    .where('lease_owner', '=', owner)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Makes the leases on lanes longer, as far as they are still ours. */
export async function renewLanes(
  tx: Transaction,
  ids: readonly string[],
  { owner, milliseconds }: Lease,
  now: number,
): Promise<void> {
  await tx.query
    .updateTable('lanes')
    .set({ leased_until: now + milliseconds })
    .where('id', 'in', ids)
    .where('lease_owner', '=', owner)
    .execute()
}

/** A subscriber that is back gets everything at once and in order, also what would have waited for its next try. */
export async function hurryLane(tx: Transaction, lane: Lane, now: number): Promise<void> {
  await tx.query
    .updateTable('deliveries')
    .set({ due_time: now })
    .where('lane_id', '=', lane.id)
    .where('state', '=', 'waiting')
    .where('due_time', '>', now)
    .execute()
}

export async function releaseLane(tx: Transaction, lane: Lane, { owner }: Lease): Promise<void> {
  await tx.query
    .updateTable('lanes')
    .set({ leased_until: 0, lease_owner: null })
    .where('id', '=', lane.id)
    .where('lease_owner', '=', owner)
    .execute()
}
