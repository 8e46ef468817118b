import { sql } from 'kysely'
import type { Database } from '../../db/database.ts'
import { defineSql } from '../../db/statement.ts'

/** How many lanes, and how many of their notes, one statement takes in. */
const maxLanes = 1000
const maxNotes = 2000

/**
 * Makes lanes due that a transaction could only note, because somebody else had locked their rows, and makes those anew that were
 * removed meanwhile. Free lanes are chosen first, so that the notes of a lane that stays locked delay those of no other lane. A note that
 * an uncommitted transaction relies on (`raise-postgres.ts`) stays as well: its deliveries are not visible yet.
 */
const takeNotes = defineSql<object>()(
  () => sql<{ is_left: boolean }>`
    WITH wakes AS MATERIALIZED (
      SELECT lane_id, app_id, callback_url, MIN(due_time) AS due_time FROM lane_wakes
      GROUP BY lane_id, app_id, callback_url
    ), free AS MATERIALIZED (
      SELECT lanes.id, wakes.due_time FROM wakes JOIN lanes ON lanes.id = wakes.lane_id
      LIMIT ${sql.lit(maxLanes)} FOR NO KEY UPDATE OF lanes SKIP LOCKED
    ), woken AS (
      UPDATE lanes SET next_due = LEAST(lanes.next_due, free.due_time) FROM free WHERE lanes.id = free.id RETURNING lanes.id
    ), made AS (
      INSERT INTO lanes (id, app_id, callback_url, leased_until, paused_until, failures, next_due)
      SELECT lane_id, app_id, callback_url, 0, 0, 0, due_time FROM wakes
      WHERE NOT EXISTS (SELECT 1 FROM lanes WHERE lanes.id = wakes.lane_id)
      ORDER BY lane_id LIMIT ${sql.lit(maxLanes)}
      ON CONFLICT DO NOTHING
      RETURNING id
    ), done AS MATERIALIZED (SELECT id FROM woken UNION ALL SELECT id FROM made),
    spent AS MATERIALIZED (
      SELECT lane_wakes.id FROM lane_wakes WHERE lane_id IN (SELECT id FROM done)
      LIMIT ${sql.lit(maxNotes)} FOR UPDATE SKIP LOCKED
    ), removed AS (DELETE FROM lane_wakes WHERE id IN (SELECT id FROM spent) RETURNING id)
    SELECT EXISTS (SELECT 1 FROM lane_wakes WHERE id NOT IN (SELECT id FROM removed)) AS is_left`,
)

/** Returns whether notes are left. On an embedded store nobody else locks rows, so there are none. */
export async function wakeNotedLanes(database: Pick<Database, 'execute' | 'isEmbedded'>): Promise<boolean> {
  if (database.isEmbedded) return false
  const [found] = await database.execute(takeNotes, {})
  return found?.is_left ?? false
}
