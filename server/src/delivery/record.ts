import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { defineSql, defineWithSteps } from '../db/statement.ts'
import { heldUntil } from '../sandbox/fault-rules.ts'
import type { Postponed } from './lane-queue.ts'
import type { Lease } from './lanes.ts'
import type { Outcome } from './outcome.ts'
import type { LaneState } from './pause.ts'

/** What is to be stored about one lane. */
export interface LaneRecord {
  readonly lane_id: string
  readonly state: LaneState
  readonly outcomes: readonly Outcome[]
  readonly postponed: readonly Postponed[]
  /** Whether its subscriber has recovered: then every waiting retry is due at once. */
  readonly isBack: boolean
}

interface Parameters {
  readonly lanes: object
  readonly deliveries: object
  readonly owner: string
  readonly until: number
  readonly now: number
}

/** The lanes that the writer still holds; lanes that others took over are not touched. */
function heldLanes({ lanes, owner, until }: Parameters): RawBuilder<{ id: string }> {
  return sql`UPDATE lanes SET failures = CAST(l.value ->> 'failures' AS INTEGER),
      paused_until = CAST(l.value ->> 'paused_until' AS BIGINT), leased_until = CAST(${until} AS BIGINT)
    FROM json_each(${lanes}) AS l
    WHERE lanes.id = l.key AND lanes.lease_owner = ${owner} RETURNING lanes.id`
}

/** A delivery that was ended, moved to another lane or replayed meanwhile stays as it is. */
const isUnchanged = sql`d.id = CAST(o.key AS BIGINT) AND d.lane_id = o.value ->> 'lane' AND d.state = 'waiting'
  AND d.attempts = CAST(o.value ->> 'attempts' AS INTEGER)`

function insertTries({ deliveries }: Parameters, held: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`INSERT INTO delivery_attempts (delivery_id, number, time, duration, status, problem, answer)
    SELECT d.id, d.attempts + 1, CAST(o.value ->> 'time' AS BIGINT), CAST(o.value ->> 'duration' AS BIGINT),
      CAST(o.value ->> 'status' AS INTEGER), o.value ->> 'problem', o.value ->> 'answer'
    FROM json_each(${deliveries}) AS o JOIN deliveries d ON ${isUnchanged}
    WHERE d.lane_id IN (${held}) AND CAST(o.value ->> 'tries' AS INTEGER) = 1
    ON CONFLICT DO NOTHING`
}

function updateDeliveries({ deliveries, now }: Parameters, held: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`UPDATE deliveries AS d SET state = o.value ->> 'state',
      attempts = d.attempts + CAST(o.value ->> 'tries' AS INTEGER),
      due_time = COALESCE(CAST(o.value ->> 'due' AS BIGINT), d.due_time),
      finished_time = CASE WHEN o.value ->> 'state' = 'waiting' THEN NULL ELSE CAST(${now} AS BIGINT) END
    FROM json_each(${deliveries}) AS o
    WHERE ${isUnchanged} AND d.lane_id IN (${held})`
}

const ownLanes = ({ owner }: Parameters) => sql`SELECT lanes.id FROM lanes WHERE lanes.lease_owner = ${owner}`
const recordLanes = defineSql<Parameters>()(heldLanes)
const recordTries = defineSql<Parameters>()((parameters) => insertTries(parameters, ownLanes(parameters)))
const recordDeliveries = defineSql<Parameters>()((parameters) => updateDeliveries(parameters, ownLanes(parameters)))

/** One statement: a process that lost a lane between two statements would overwrite the next holder's work. */
const record = defineWithSteps(
  defineSql<Parameters>()((parameters) => {
    const held = sql`SELECT id FROM held`
    return sql<{ id: string }>`
      WITH held AS (${heldLanes(parameters)}), tried AS (${insertTries(parameters, held)}),
      updated AS (${updateDeliveries(parameters, held)})
      SELECT id FROM held`
  }),
  async (db, parameters) => {
    const held = await db.list(recordLanes, parameters)
    await db.list(recordTries, parameters)
    await db.list(recordDeliveries, parameters)
    return held
  },
)

/**
 * How many retries become due at once when a subscriber recovers. Bounded, because one statement should not take long; the others
 * keep their times.
 */
const maxHurried = 5000

const skipWaitOfLanes = defineSql<{ lanes: object; now: number }>()(
  ({ lanes, now }) => sql`
    UPDATE deliveries SET due_time = ${now} WHERE id IN (
      SELECT d.id FROM json_each(${lanes}) AS o JOIN deliveries d ON d.lane_id = o.key
      WHERE d.state = 'waiting' AND d.due_time > ${now} AND d.due_time < ${sql.lit(heldUntil)} ORDER BY d.due_time LIMIT ${sql.lit(maxHurried)}
    )`,
)

/**
 * Stores the outcomes of posts, each with its log entry, and the state of subscribers; returns the lanes that are still ours.
 * Nothing is stored for the other lanes.
 */
export async function recordOutcomes(
  database: Pick<Database, 'execute'>,
  { owner, milliseconds }: Pick<Lease, 'owner' | 'milliseconds'>,
  records: readonly LaneRecord[],
  { now, leasedFrom }: { readonly now: number; readonly leasedFrom: number },
): Promise<Set<string>> {
  const parameters: Parameters = {
    lanes: Object.fromEntries(records.map(({ lane_id, state }) => [lane_id, state])),
    deliveries: Object.fromEntries(records.flatMap(listRows)),
    owner,
    until: leasedFrom + milliseconds,
    now,
  }
  const held = await database.execute(record, parameters)
  const ours = new Set(held.map(({ id }) => id))
  const back = records.filter(({ isBack, lane_id }) => isBack && ours.has(lane_id))
  if (back.length > 0) {
    const lanes = Object.fromEntries(back.map(({ lane_id }) => [lane_id, 1]))
    await database.execute(skipWaitOfLanes, { lanes, now })
  }
  return ours
}

function listRows({ lane_id, outcomes, postponed }: LaneRecord): [string, object][] {
  return [
    ...postponed.map(({ id, attempts, until }): [string, object] => [
      String(id),
      { lane: lane_id, attempts, tries: 0, state: 'waiting', due: until },
    ]),
    ...outcomes.map((outcome): [string, object] => [String(outcome.delivery.id), rowOf(lane_id, outcome)]),
  ]
}

function rowOf(lane_id: string, outcome: Outcome): object {
  const { delivery, result } = outcome
  const { time, duration, status, problem, answer } = result
  return {
    lane: lane_id,
    attempts: delivery.attempts,
    tries: 1,
    state: outcome.kind === 'retry' ? 'waiting' : outcome.kind,
    due: outcome.kind === 'retry' ? outcome.time : null,
    time,
    duration,
    status: status ?? null,
    problem: problem ?? null,
    answer: answer === '' ? null : answer,
  }
}
