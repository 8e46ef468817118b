import { sql } from 'kysely'
import type { Db, Transaction } from '../../../db/database.ts'
import { isSubscribed } from '../../../delivery/store/lane-conditions.ts'
import { skipWaitOfLanes } from '../../../delivery/store/skip-wait.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import type { PageRange } from '../../../graph/lists/paging.ts'
import { isSeen } from '../limits.ts'

/** A lane belongs to an app, and so to a business. */
const businessOfLane = sql<string>`(SELECT apps.business_id FROM apps WHERE apps.id = lanes.app_id)`
const owner = { business: businessOfLane }

/** A listener stands in the place of the app's callback. */
const isListener = sql<boolean>`(EXISTS (SELECT 1 FROM listeners WHERE listeners.app_id = lanes.app_id)
  AND EXISTS (SELECT 1 FROM app_subscriptions s WHERE s.app_id = lanes.app_id AND s.callback_url = lanes.callback_url))`

export interface LaneFilter {
  readonly app_id: string | undefined
  /** Only those with something to send. */
  readonly waiting: boolean | undefined
}

/** The lanes of every tenant, each with how much waits. For operators: bound by their limits alone. */
export async function listLanesForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  { app_id, waiting }: LaneFilter,
  range: PageRange,
) {
  let query = selectLanes(db).where(isSeen(limits, owner))
  if (app_id !== undefined) query = query.where('app_id', '=', app_id)
  if (waiting !== undefined) query = query.where('next_due', waiting ? 'is not' : 'is', null)
  return withWaiting(db, await range.apply(query).execute())
}

export async function findLaneForOperators(db: Db, limits: OperatorLimits | undefined, id: string) {
  const lanes = await selectLanes(db).where('id', '=', id).where(isSeen(limits, owner)).execute()
  return (await withWaiting(db, lanes))[0]
}

export type LaneRow = NonNullable<Awaited<ReturnType<typeof findLaneForOperators>>>

function selectLanes(db: Db) {
  return db.query
    .selectFrom('lanes')
    .select(['id', 'app_id', 'callback_url', 'failures', 'paused_until', 'stopped_until', 'next_due'])
    .select([
      businessOfLane.as('business_id'),
      isSubscribed.as('subscribed'),
      isListener.as('listener'),
      sql<string>`(SELECT apps.name FROM apps WHERE apps.id = lanes.app_id)`.as('app_name'),
    ])
}

/**
 * The lanes, each with how much waits in how many conversations, and since when: all of it in one pass. Each by itself would be found by
 * an index of its own, and that of the oldest is one of all lanes: for an idle lane it was read to its end.
 */
async function withWaiting<Lane extends { readonly id: string }>(db: Db, lanes: readonly Lane[]) {
  if (lanes.length === 0) return []
  const rows = await db.query
    .selectFrom('deliveries')
    .select(['lane_id', sql<number>`COUNT(*)`.as('waiting')])
    .select([
      sql<number>`COUNT(DISTINCT conversation)`.as('conversations'),
      sql<number | null>`MIN(started_time)`.as('oldest'),
    ])
    .where('state', '=', sql.lit('waiting'))
    .where(
      'lane_id',
      'in',
      lanes.map(({ id }) => id),
    )
    .groupBy('lane_id')
    .execute()
  const byLane = new Map(rows.map((row) => [row.lane_id, row]))
  return lanes.map((lane) => {
    const { waiting = 0, conversations = 0, oldest = null } = byLane.get(lane.id) ?? {}
    return { ...lane, waiting, conversations, oldest }
  })
}

/** Lets nothing more be sent down a lane until then. Whoever holds it finishes the posts that are under way. */
export async function stopLaneForOperators(tx: Transaction, id: string, until: number): Promise<void> {
  await tx.query.updateTable('lanes').set({ stopped_until: until }).where('id', '=', id).execute()
}

/**
 * Ends every pause of a lane: an operator's, and one because its subscriber was down. Its retries no longer wait: with the failures
 * forgotten here, the next success would not count as a recovery, which makes them due otherwise.
 */
export async function resumeLaneForOperators(tx: Transaction, id: string, now: number): Promise<void> {
  await tx.query
    .updateTable('lanes')
    .set({
      stopped_until: 0,
      paused_until: 0,
      failures: 0,
      next_due: sql<number | null>`CASE WHEN next_due > ${now} THEN CAST(${now} AS BIGINT) ELSE next_due END`,
    })
    .where('id', '=', id)
    .execute()
  tx.run(skipWaitOfLanes, { lanes: { [id]: 1 }, now })
}
