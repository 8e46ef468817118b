import { type RawBuilder, sql } from 'kysely'
import { defineSql } from '../../db/statement.ts'
import type { RecordedRow, RecordParameters } from './record-parameters.ts'

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
      excluded.state, excluded.attempts, excluded.due_time, excluded.finished_time)`
}

/** Whether a delivery is as the lane knew it when it was sent: it was neither ended, moved to another lane nor replayed meanwhile. */
const isUnchanged = sql`d.lane_id = o.lane AND d.state = 'waiting' AND d.attempts = o.attempts`

/**
 * Stores the state of the lanes that the writer still holds, and the outcomes of their deliveries. One statement: a process that
 * lost a lane between two statements would overwrite the next holder's work. It waits for no lock, because it is for many lanes:
 * what somebody else has locked is left out, and comes back as such.
 */
export const recordAtOnce = defineSql<RecordParameters>()(
  ({ lanes, deliveries, owner, until, now }) => sql<RecordedRow>`
    WITH ours AS MATERIALIZED (
      SELECT lanes.id, CAST(l.value ->> 'failures' AS INTEGER) AS failures,
        CAST(l.value ->> 'paused_until' AS BIGINT) AS paused_until
      FROM json_each(${lanes}) AS l JOIN lanes ON lanes.id = l.key AND lanes.lease_owner = ${owner}
    ), free AS MATERIALIZED (
      SELECT lanes.id FROM ours JOIN lanes ON lanes.id = ours.id
      WHERE lanes.lease_owner = ${owner} FOR NO KEY UPDATE OF lanes SKIP LOCKED
    ), held AS (
      UPDATE lanes SET failures = ours.failures, paused_until = ours.paused_until, leased_until = CAST(${until} AS BIGINT)
      FROM free JOIN ours ON ours.id = free.id WHERE lanes.id = free.id RETURNING lanes.id
    ), given AS MATERIALIZED (
      SELECT o.* FROM json_to_recordset(${deliveries}) AS o (${givenColumns}) WHERE o.lane IN (SELECT id FROM held)
    ), found AS MATERIALIZED (
      SELECT d.*, o.tries, o.state AS new_state, o.due AS new_due, o.time, o.duration, o.status, o.problem, o.answer,
        o.url, o.headers, o.deliveries, o.answer_headers
      FROM given AS o CROSS JOIN LATERAL (
        SELECT ${kept}, ${changed} FROM deliveries WHERE deliveries.id = o.id FOR NO KEY UPDATE SKIP LOCKED
      ) AS d
      WHERE ${isUnchanged}
    ), tried AS (
      INSERT INTO delivery_attempts (delivery_id, number, time, duration, status, problem, answer, sent_to, sent_headers,
        sent_with, answer_headers)
      SELECT id, attempts + 1, time, duration, status, problem, answer, url, headers, deliveries, answer_headers
      FROM found WHERE tries = 1
      ON CONFLICT DO NOTHING
    ), attempted AS (${writeDeliveries(now, 1)}), postponed AS (${writeDeliveries(now, 0)})
    SELECT id, 'stored' AS what, CAST(NULL AS BIGINT) AS delivery FROM held
    UNION ALL SELECT id, 'lane_locked', NULL FROM ours WHERE id NOT IN (SELECT id FROM held)
    UNION ALL SELECT o.lane, 'delivery_locked', o.id FROM given AS o
      WHERE o.id NOT IN (SELECT id FROM found)
        AND EXISTS (SELECT 1 FROM deliveries d WHERE d.id = o.id AND ${isUnchanged})`,
)
