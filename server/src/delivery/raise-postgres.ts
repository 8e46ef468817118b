import { type RawBuilder, sql } from 'kysely'
import { defineSql } from '../db/statement.ts'
import type { EventRow, MoreDeliveries, RaisedFor } from './new-event.ts'
import { subscribersOf } from './subscribers.ts'

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
export const insertAtOnce = defineSql<EventRow>()(
  (row) => sql<RaisedFor>`
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
export const insertMoreAtOnce = defineSql<MoreDeliveries>()(
  (row) => sql<{ id: string }>`
    WITH targets AS (${lockedLanes(sql`json_each(${row.lanes}) AS o JOIN lanes ON lanes.id = o.key`)}),
    inserted AS (${insertedDeliveries(sql`CAST(${row.event_id} AS BIGINT)`, sql`targets`, row)}),
    touched AS (${touchedLanes(row.now)})
    SELECT targets.id FROM targets`,
)
