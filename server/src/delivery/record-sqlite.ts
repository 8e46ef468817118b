import { sql } from 'kysely'
import { defineSql, type Steps } from '../db/statement.ts'
import type { RecordParameters } from './record-parameters.ts'

/** The lanes that the writer still holds; lanes that others took over are not touched. */
const recordLanes = defineSql<RecordParameters>()(
  ({ lanes, owner, until }) => sql<{ id: string }>`
    UPDATE lanes SET failures = l.value ->> 'failures', paused_until = l.value ->> 'paused_until', leased_until = ${until}
    FROM json_each(${lanes}) AS l
    WHERE lanes.id = l.key AND lanes.lease_owner = ${owner} RETURNING lanes.id`,
)

/** A delivery that was ended, moved to another lane or replayed meanwhile stays as it is. */
const isUnchanged = sql`d.id = o.value ->> 'id' AND d.lane_id = o.value ->> 'lane' AND d.state = 'waiting'
  AND d.attempts = o.value ->> 'attempts'`

const ownLanes = ({ owner }: RecordParameters) => sql`SELECT lanes.id FROM lanes WHERE lanes.lease_owner = ${owner}`

const recordTries = defineSql<RecordParameters>()(
  (parameters) => sql`
    INSERT INTO delivery_attempts (delivery_id, number, time, duration, status, problem, answer, sent_to, sent_headers,
      sent_with, answer_headers)
    SELECT d.id, d.attempts + 1, o.value ->> 'time', o.value ->> 'duration', o.value ->> 'status', o.value ->> 'problem',
      o.value ->> 'answer', o.value ->> 'url', o.value ->> 'headers', o.value ->> 'deliveries', o.value ->> 'answer_headers'
    FROM json_each(${parameters.deliveries}) AS o JOIN deliveries d ON ${isUnchanged}
    WHERE d.lane_id IN (${ownLanes(parameters)}) AND o.value ->> 'tries' = 1
    ON CONFLICT DO NOTHING`,
)

const recordDeliveries = defineSql<RecordParameters>()(
  (parameters) => sql`
    UPDATE deliveries AS d SET state = o.value ->> 'state', attempts = d.attempts + (o.value ->> 'tries'),
      due_time = COALESCE(o.value ->> 'due', d.due_time),
      finished_time = CASE WHEN o.value ->> 'state' = 'waiting' THEN NULL ELSE ${parameters.now} END
    FROM json_each(${parameters.deliveries}) AS o
    WHERE ${isUnchanged} AND d.lane_id IN (${ownLanes(parameters)})`,
)

/** Three statements: nobody else writes between them. */
export const recordInSteps: Steps<RecordParameters, { id: string }> = async (db, parameters) => {
  const held = await db.list(recordLanes, parameters)
  await db.list(recordTries, parameters)
  await db.list(recordDeliveries, parameters)
  return held
}
