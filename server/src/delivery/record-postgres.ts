import { type RawBuilder, sql } from 'kysely'
import { defineSql } from '../db/statement.ts'
import type { RecordParameters } from './record-parameters.ts'

const givenColumns = sql`id BIGINT, lane TEXT, attempts INTEGER, tries INTEGER, state TEXT, due BIGINT, time BIGINT,
  duration BIGINT, status INTEGER, problem TEXT, answer TEXT, url TEXT, headers TEXT, deliveries TEXT, answer_headers TEXT`

/** Columns of a delivery that its outcome leaves as they are, and those that it changes. */
const kept = sql`id, event_id, lane_id, account_id, app_id, field, conversation, earlier_attempts, created_time,
  started_time`
const changed = sql`state, attempts, due_time, finished_time`

/**
 * Writes what became of deliveries, each found by its id through the index of the conflict. An UPDATE with a join leaves the way to
 * the planner, which walks all deliveries as long as it takes the table for small.
 */
function writeDeliveries(now: number, tries: 0 | 1): RawBuilder<unknown> {
  return sql`INSERT INTO deliveries (${kept}, ${changed})
    SELECT ${kept}, new_state, attempts + ${sql.lit(tries)}, COALESCE(new_due, due_time),
      CASE WHEN new_state = 'waiting' THEN NULL ELSE CAST(${now} AS BIGINT) END
    FROM found WHERE tries = ${sql.lit(tries)}
    ON CONFLICT (id) DO UPDATE SET (${changed}) = ROW (
      excluded.state, excluded.attempts, excluded.due_time, excluded.finished_time)
    WHERE deliveries.state = 'waiting' AND deliveries.lane_id = excluded.lane_id
      AND deliveries.attempts = excluded.attempts - ${sql.lit(tries)}`
}

/**
 * Stores the state of the lanes that the writer still holds, and the outcomes of their deliveries. A delivery that was ended, moved
 * to another lane or replayed meanwhile stays as it is. One statement: a process that lost a lane between two statements would
 * overwrite the next holder's work.
 */
export const recordAtOnce = defineSql<RecordParameters>()(
  ({ lanes, deliveries, owner, until, now }) => sql<{ id: string }>`
    WITH held AS (
      UPDATE lanes SET failures = CAST(l.value ->> 'failures' AS INTEGER),
        paused_until = CAST(l.value ->> 'paused_until' AS BIGINT), leased_until = CAST(${until} AS BIGINT)
      FROM json_each(${lanes}) AS l
      WHERE lanes.id = l.key AND lanes.lease_owner = ${owner} RETURNING lanes.id
    ), found AS MATERIALIZED (
      SELECT d.*, o.tries, o.state AS new_state, o.due AS new_due, o.time, o.duration, o.status, o.problem, o.answer,
        o.url, o.headers, o.deliveries, o.answer_headers
      FROM json_to_recordset(${deliveries}) AS o (${givenColumns})
      CROSS JOIN LATERAL (SELECT ${kept}, ${changed} FROM deliveries WHERE deliveries.id = o.id OFFSET 0) AS d
      WHERE d.lane_id = o.lane AND d.state = 'waiting' AND d.attempts = o.attempts AND o.lane IN (SELECT id FROM held)
    ), tried AS (
      INSERT INTO delivery_attempts (delivery_id, number, time, duration, status, problem, answer, sent_to, sent_headers,
        sent_with, answer_headers)
      SELECT id, attempts + 1, time, duration, status, problem, answer, url, headers, deliveries, answer_headers
      FROM found WHERE tries = 1
      ON CONFLICT DO NOTHING
    ), attempted AS (${writeDeliveries(now, 1)}), postponed AS (${writeDeliveries(now, 0)})
    SELECT id FROM held`,
)
