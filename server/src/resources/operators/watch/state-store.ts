import { sql } from 'kysely'
import type { Db } from '../../../db/database.ts'
import { isAmongWaiting } from '../../../db/waiting.ts'
import { isDownInUse } from '../../../delivery/store/lane-conditions.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import { isSeen } from '../limits.ts'

const nodeOwner = { account: sql.ref<string>('nodes.account_id'), business: sql.ref<string>('nodes.business_id') }
const deliveryOwner = { account: sql.ref<string>('deliveries.account_id') }
const laneOwner = { business: sql.ref<string>('apps.business_id') }

/** How many nodes there are of each kind. */
export async function countNodesForOperators(db: Db, limits: OperatorLimits | undefined) {
  const rows = await db.query
    .selectFrom('nodes')
    .select(['kind', sql<number>`COUNT(*)`.as('count')])
    .where(isSeen(limits, nodeOwner))
    .groupBy('kind')
    .orderBy('kind')
    .execute()
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, Number(count)]))
}

export interface LaneState {
  /** Deliveries that wait, in all lanes. */
  readonly waiting: number
  /** Lanes whose subscriber is down; without former addresses for which nothing waits. */
  readonly down: number
  /** Seconds that the oldest delivery has waited; null when none waits. */
  readonly oldest_age: number | null
}

export async function readLanesForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  now: number,
): Promise<LaneState> {
  const waiting = await db.query
    .selectFrom('deliveries')
    .select([sql<number>`COUNT(*)`.as('count'), ({ fn }) => fn.min('started_time').as('oldest')])
    .where(isAmongWaiting())
    .where(isSeen(limits, deliveryOwner))
    .executeTakeFirstOrThrow()
  const down = await db.query
    .selectFrom('lanes')
    .innerJoin('apps', 'apps.id', 'lanes.app_id')
    .select(sql<number>`COUNT(*)`.as('count'))
    .where(isDownInUse)
    .where(isSeen(limits, laneOwner))
    .executeTakeFirstOrThrow()
  const oldest_age = waiting.oldest === null ? null : Math.max(0, Math.round((now - Number(waiting.oldest)) / 1000))
  return { waiting: Number(waiting.count), down: Number(down.count), oldest_age }
}
