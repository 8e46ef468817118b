import { sql } from 'kysely'
import { defineSql, type Steps } from '../../db/statement.ts'
import type { LaneState } from '../rules/pause.ts'
import type { RecordedDelivery, RecordedRow, RecordParameters } from './record-parameters.ts'

/** Nothing where another process has taken the lane over. */
const recordLane = defineSql<LaneState & { id: string; owner: string; until: number }>()(
  ({ id, failures, paused_until, owner, until }) => sql`
    UPDATE lanes SET failures = ${failures}, paused_until = ${paused_until}, leased_until = ${until}
    WHERE id = ${id} AND lease_owner = ${owner}`,
)

/** A delivery that was ended, moved to another lane or replayed meanwhile stays as it is. */
const recordDelivery = defineSql<RecordedDelivery>()(
  ({ id, lane, attempts, tries, state, due, finished }) => sql`
    UPDATE deliveries SET state = ${state}, attempts = attempts + ${tries}, due_time = COALESCE(${due}, due_time),
      finished_time = ${finished}
    WHERE id = ${id} AND lane_id = ${lane} AND state = 'waiting' AND attempts = ${attempts}`,
)

const recordTry = defineSql<RecordedDelivery>()(
  ({ id, attempts, time, duration, status, problem, answer, url, headers, deliveries, answer_headers }) => sql`
    INSERT INTO delivery_attempts (delivery_id, number, time, duration, status, problem, answer, sent_to, sent_headers,
      sent_with, answer_headers)
    VALUES (${id}, ${attempts} + 1, ${time}, ${duration}, ${status}, ${problem}, ${answer}, ${url}, ${headers}, ${deliveries},
      ${answer_headers})
    ON CONFLICT DO NOTHING`,
)

/** One statement a row, and one for its attempt: nobody else writes between them, and nothing is read from JSON. */
export const recordInSteps: Steps<RecordParameters, RecordedRow> = (db, parameters) => {
  const { lanes, owner, until } = parameters
  const ours = new Set<string>()
  for (const [id, { failures, paused_until }] of Object.entries(lanes)) {
    if (db.write(recordLane, { id, failures, paused_until, owner, until }).changes === 1) ours.add(id)
  }
  for (const row of parameters.deliveries) {
    if (!ours.has(row.lane)) continue
    const isUnchanged = db.write(recordDelivery, row).changes === 1
    if (isUnchanged && row.tries === 1) db.write(recordTry, row)
  }
  return [...ours].map((id) => ({ id, what: 'stored', delivery: null }))
}
