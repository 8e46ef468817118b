import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Transaction } from '../../db/database.ts'
import { defineSql } from '../../db/statement.ts'

/** One subscriber's lane: an app at one address. */
export interface LaneAddress {
  readonly id: string
  readonly app_id: string
  readonly callback_url: string
}

/** The id is derived from app and address, so that every process makes the same lane. */
export function laneIdOf(app_id: string, callback_url: string): string {
  return createHash('sha256').update(`${app_id} ${callback_url}`).digest('hex').slice(0, 32)
}

export const insertLanes = defineSql<{ lanes: object }>()(
  ({ lanes }) => sql<{ id: string }>`
    INSERT INTO lanes (id, app_id, callback_url, leased_until, paused_until, failures)
    SELECT o.key, o.value ->> 'app_id', o.value ->> 'callback_url', 0, 0, 0
    FROM json_each(${lanes}) AS o WHERE TRUE ORDER BY o.key
    ON CONFLICT DO NOTHING
    RETURNING id`,
)

/** Makes the missing lanes of subscribers, in a fixed order, so that transactions cannot deadlock. */
export async function ensureLanes(
  tx: Transaction,
  subscribers: readonly Omit<LaneAddress, 'id'>[],
): Promise<LaneAddress[]> {
  const lanes = subscribers.map(({ app_id, callback_url }) => ({
    id: laneIdOf(app_id, callback_url),
    app_id,
    callback_url,
  }))
  if (lanes.length > 0) await tx.list(insertLanes, { lanes: Object.fromEntries(lanes.map((lane) => [lane.id, lane])) })
  return lanes
}
