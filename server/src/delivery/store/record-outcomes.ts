import type { Database } from '../../db/database.ts'
import { defineWithSteps } from '../../db/statement.ts'
import type { Outcome } from '../rules/outcome.ts'
import type { LaneState } from '../rules/pause.ts'
import type { Lease } from './lanes.ts'
import type { RecordedDelivery, RecordedRow, RecordParameters } from './record-parameters.ts'
import { recordAtOnce } from './record-postgres.ts'
import { recordInSteps } from './record-sqlite.ts'
import { skipWaitOfLanes } from './skip-wait.ts'

/** A delivery that must wait for the retry of an earlier one. */
export interface Postponed {
  readonly id: number
  readonly attempts: number
  readonly until: number
}

/** What is to be stored about one lane. */
export interface LaneRecord {
  readonly lane_id: string
  readonly state: LaneState
  readonly outcomes: readonly Outcome[]
  readonly postponed: readonly Postponed[]
  /** Whether its subscriber has recovered: then every waiting retry is due at once. */
  readonly isBack: boolean
}

const record = defineWithSteps(recordAtOnce, recordInSteps)

/** What was stored of some lanes. Nothing is stored for a lane that is neither here nor locked: it is no longer ours. */
export interface Stored {
  readonly lanes: ReadonlySet<string>
  /** Somebody else has locked their rows: to be stored later. */
  readonly lockedLanes: ReadonlySet<string>
  /** The same for deliveries of lanes that were stored. */
  readonly lockedDeliveries: ReadonlySet<number>
}

/** Stores the outcomes of posts, each with its log entry, and the state of subscribers. */
export async function recordOutcomes(
  database: Pick<Database, 'execute'>,
  { owner, milliseconds }: Pick<Lease, 'owner' | 'milliseconds'>,
  records: readonly LaneRecord[],
  { now, leasedFrom }: { readonly now: number; readonly leasedFrom: number },
): Promise<Stored> {
  const parameters: RecordParameters = {
    lanes: Object.fromEntries(records.map(({ lane_id, state }) => [lane_id, state])),
    // A delivery that was postponed and then tried all the same comes once, as tried.
    deliveries: [...new Map(records.flatMap((one) => listRows(one, now)).map((row) => [row.id, row])).values()],
    owner,
    until: leasedFrom + milliseconds,
    now,
  }
  const rows = await database.execute(record, parameters)
  const listIds = (kind: RecordedRow['what']) => rows.filter(({ what }) => what === kind).map(({ id }) => id)
  const stored: Stored = {
    lanes: new Set(listIds('stored')),
    lockedLanes: new Set(listIds('lane_locked')),
    lockedDeliveries: new Set(rows.flatMap(({ delivery }) => delivery ?? [])),
  }
  const back = records.filter(({ isBack, lane_id }) => isBack && stored.lanes.has(lane_id))
  if (back.length > 0) {
    const lanes = Object.fromEntries(back.map(({ lane_id }) => [lane_id, 1]))
    await database.execute(skipWaitOfLanes, { lanes, now })
  }
  return stored
}

function listRows({ lane_id, outcomes, postponed }: LaneRecord, now: number): RecordedDelivery[] {
  return [
    ...postponed.map(
      ({ id, attempts, until }): RecordedDelivery => ({
        id,
        lane: lane_id,
        attempts,
        tries: 0,
        state: 'waiting',
        due: until,
        finished: null,
      }),
    ),
    ...outcomes.map((outcome) => rowOf(lane_id, outcome, now)),
  ]
}

function rowOf(lane_id: string, outcome: Outcome, now: number): RecordedDelivery {
  const { delivery, result } = outcome
  const { time, duration, status, problem, response, sent } = result
  return {
    id: delivery.id,
    lane: lane_id,
    attempts: delivery.attempts,
    tries: 1,
    state: outcome.kind === 'retry' ? 'waiting' : outcome.kind,
    due: outcome.kind === 'retry' ? outcome.time : null,
    finished: outcome.kind === 'retry' ? null : now,
    time,
    duration,
    status: status ?? null,
    problem: problem ?? null,
    answer: response === '' ? null : response,
    url: sent?.url ?? null,
    headers: sent?.headers ?? null,
    deliveries: sent?.deliveries ?? null,
    answer_headers: sent?.responseHeaders ?? null,
  }
}
