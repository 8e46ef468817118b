import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from '../db/database.ts'
import { defineSql } from '../db/statement.ts'
import { ensureLanes, type LaneAddress } from './lane-rows.ts'
import type { EventRow } from './new-event.ts'
import { addressOf, subscribersOf, type Target } from './subscribers.ts'

/**
 * Lanes that deliveries are to be put into. Locking them in share mode before `next_due` is looked at keeps the process that
 * holds one from giving it back without having seen these deliveries.
 */
function lockedLanes(from: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`SELECT lanes.id, lanes.app_id, lanes.next_due, lanes.paused_until FROM ${from}
    ORDER BY lanes.id FOR KEY SHARE OF lanes`
}

const insertedDeliveries = (
  event_id: RawBuilder<unknown>,
  from: RawBuilder<unknown>,
  { account_id, field, conversation, now }: Pick<EventRow, 'account_id' | 'field' | 'conversation' | 'now'>,
) => sql`INSERT INTO deliveries (event_id, lane_id, account_id, app_id, field, conversation, state, attempts,
    earlier_attempts, due_time, created_time, started_time)
  SELECT ${event_id}, targets.id, CAST(${account_id} AS TEXT), targets.app_id, CAST(${field} AS TEXT),
    CAST(${conversation} AS TEXT), 'waiting', 0, 0, CAST(${now} AS BIGINT), CAST(${now} AS BIGINT), CAST(${now} AS BIGINT)
  FROM ${from}`

const touchedLanes = (
  now: number,
) => sql`UPDATE lanes SET next_due = GREATEST(CAST(${now} AS BIGINT), lanes.paused_until)
  FROM targets WHERE lanes.id = targets.id
    AND (targets.next_due IS NULL OR targets.next_due > GREATEST(CAST(${now} AS BIGINT), targets.paused_until))`

/** The event, its deliveries and the due times of its lanes at once. */
const insertOnPostgres = defineSql<EventRow>()(
  (row) => sql<Target & { event_id: number }>`
    WITH linked AS (
      ${subscribersOf(row.account_id, row.phone_number_id, sql`jsonb_exists(app_subscriptions.fields, ${row.field})`)}
    ), targets AS (
      ${lockedLanes(
        sql`linked JOIN lanes ON lanes.app_id = linked.app_id AND lanes.callback_url = linked.callback_url`,
      )}
    ), event AS (
      INSERT INTO events (account_id, phone_number_id, field, value, created_time)
      VALUES (${row.account_id}, NULLIF(${row.phone_number_id}, ''), ${row.field}, ${row.value}, ${row.now})
      RETURNING id
    ), inserted AS (${insertedDeliveries(sql`event.id`, sql`event CROSS JOIN targets`, row)}),
    touched AS (${touchedLanes(row.now)})
    SELECT event.id AS event_id, linked.app_id, linked.callback_url, targets.id AS lane_id
    FROM event LEFT JOIN linked ON TRUE LEFT JOIN targets ON targets.app_id = linked.app_id`,
)

/** The deliveries of an event that is there already. */
const insertMore = defineSql<Omit<EventRow, 'value' | 'phone_number_id'> & { event_id: number; lanes: object }>()(
  (row) => sql<{ id: string }>`
    WITH targets AS (${lockedLanes(sql`json_each(${row.lanes}) AS o JOIN lanes ON lanes.id = o.key`)}),
    inserted AS (${insertedDeliveries(sql`CAST(${row.event_id} AS BIGINT)`, sql`targets`, row)}),
    touched AS (${touchedLanes(row.now)})
    SELECT targets.id FROM targets`,
)

/** The event, its deliveries and the due times of its lanes in one statement; two more where a lane was not made yet. */
export async function raiseOnPostgres(tx: Transaction, row: EventRow): Promise<LaneAddress[]> {
  const rows = await tx.list(insertOnPostgres, row)
  const event_id = rows[0]?.event_id
  if (event_id === undefined) throw new Error('the event was not stored')
  // Without a subscriber there is one row, whose columns of one are null.
  const targets = rows.filter(({ app_id }) => app_id !== null)
  const missing = targets.filter(({ lane_id }) => lane_id === null)
  if (missing.length > 0) {
    const lanes = await ensureLanes(tx, missing)
    const { account_id, field, conversation, now } = row
    const listed = Object.fromEntries(lanes.map(({ id }) => [id, 1]))
    const inserted = await tx.list(insertMore, { event_id, lanes: listed, account_id, field, conversation, now })
    if (inserted.length !== missing.length) throw new Error('a delivery was not stored')
  }
  return targets.map(addressOf)
}
