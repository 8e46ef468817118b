import { sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { defineSql } from '../db/statement.ts'

/** How many notes one statement takes in. */
const maxNotes = 1000

/**
 * Makes lanes due that a transaction could only note, because somebody else had locked their rows, and makes those anew that were
 * removed meanwhile. The note of a lane that is still locked stays.
 */
const takeNotes = defineSql<object>()(
  () => sql<{ id: string }>`
    WITH notes AS MATERIALIZED (
      SELECT id, lane_id, app_id, callback_url, due_time FROM lane_wakes ORDER BY id LIMIT ${sql.lit(maxNotes)}
      FOR UPDATE SKIP LOCKED
    ), wakes AS MATERIALIZED (
      SELECT lane_id, app_id, callback_url, MIN(due_time) AS due_time FROM notes GROUP BY lane_id, app_id, callback_url
    ), free AS (
      SELECT lanes.id, wakes.due_time FROM wakes JOIN lanes ON lanes.id = wakes.lane_id
      FOR NO KEY UPDATE OF lanes SKIP LOCKED
    ), woken AS (
      UPDATE lanes SET next_due = LEAST(lanes.next_due, free.due_time) FROM free WHERE lanes.id = free.id RETURNING lanes.id
    ), made AS (
      INSERT INTO lanes (id, app_id, callback_url, leased_until, paused_until, failures, next_due)
      SELECT lane_id, app_id, callback_url, 0, 0, 0, due_time FROM wakes
      WHERE NOT EXISTS (SELECT 1 FROM lanes WHERE lanes.id = wakes.lane_id)
      ON CONFLICT DO NOTHING
      RETURNING id
    ), done AS (SELECT id FROM woken UNION ALL SELECT id FROM made),
    removed AS (DELETE FROM lane_wakes WHERE id IN (SELECT id FROM notes WHERE lane_id IN (SELECT id FROM done)))
    SELECT id FROM done`,
)

/** On an embedded store nobody else locks rows, so there are no notes. */
export async function wakeNotedLanes(database: Pick<Database, 'execute' | 'isEmbedded'>): Promise<void> {
  if (!database.isEmbedded) await database.execute(takeNotes, {})
}
