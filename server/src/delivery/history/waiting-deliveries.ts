import { sql } from 'kysely'
import type { Database, Db } from '../../db/database.ts'
import { isAmongWaiting } from '../../db/waiting.ts'
import { withdrawDeliveries } from '../store/withdraw.ts'

/** How many deliveries one transaction ends, however long the backlog is. */
const maxRows = 500

/** What waits for an app at one host. */
export interface WaitingAtHost {
  readonly app_id: string
  readonly app_name: string
  readonly host: string
  readonly waiting: number
  /** How many of them are not newer than a given one. */
  readonly older: number
  readonly oldest_time: number
}

/** What waits, by app and host, with the count of those up to the delivery `last`. For operators: not bound to a tenant. */
export async function listWaitingForOperators({ query }: Db, last: number): Promise<WaitingAtHost[]> {
  const rows = await query
    .selectFrom('deliveries')
    .innerJoin('apps', 'apps.id', 'deliveries.app_id')
    .leftJoin('lanes', 'lanes.id', 'deliveries.lane_id')
    .select(['deliveries.app_id', 'apps.name as app_name', 'lanes.callback_url'])
    .select([
      sql<number>`COUNT(*)`.as('waiting'),
      sql<number>`SUM(CASE WHEN deliveries.id <= ${last} THEN 1 ELSE 0 END)`.as('older'),
      sql<number>`MIN(deliveries.started_time)`.as('oldest_time'),
    ])
    .where(isAmongWaiting())
    .groupBy(['deliveries.app_id', 'apps.name', 'lanes.callback_url'])
    .execute()
  const lanes = rows.map(({ callback_url, waiting, older, oldest_time, ...app }) => ({
    ...app,
    // The row of a lane that was removed in that moment is made anew by the next poll.
    host: callback_url === null ? '' : new URL(callback_url).host,
    waiting: Number(waiting),
    older: Number(older),
    oldest_time: Number(oldest_time),
  }))
  const byHost = Map.groupBy(lanes, ({ app_id, host }) => `${app_id} ${host}`)
  const hosts = [...byHost.values()].map((same) => same.reduce(addUp))
  return hosts.toSorted((one, other) => one.oldest_time - other.oldest_time)
}

function addUp(one: WaitingAtHost, other: WaitingAtHost): WaitingAtHost {
  return {
    ...one,
    waiting: one.waiting + other.waiting,
    older: one.older + other.older,
    oldest_time: Math.min(one.oldest_time, other.oldest_time),
  }
}

/** Ends what waits up to the delivery `last`, so that it is not sent. Returns how many these were. */
export async function withdrawWaiting(database: Database, last: number, now: number): Promise<number> {
  for (let withdrawn = 0; ; ) {
    const count = await database.transaction(async (tx) => {
      const waiting = await tx.query
        .selectFrom('deliveries')
        .select('id')
        .where(isAmongWaiting())
        .where('id', '<=', last)
        .orderBy('id')
        .limit(maxRows)
        .execute()
      await withdrawDeliveries(
        tx,
        waiting.map(({ id }) => id),
        now,
      )
      return waiting.length
    })
    withdrawn += count
    if (count < maxRows) return withdrawn
  }
}
