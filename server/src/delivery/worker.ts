import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { second } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import { Pace } from '../base/pace.ts'
import type { Random } from '../base/random.ts'
import type { Database } from '../db/database.ts'
import { type AttemptParts, attemptDelivery } from './attempt.ts'
import { withdrawDeliveries } from './end-waiting.ts'
import {
  claimLanes,
  type DueDelivery,
  hurryLane,
  keepLane,
  type Lane,
  type Lease,
  listDue,
  listDueLanes,
  releaseLane,
  renewLanes,
} from './lanes.ts'
import type { DeliveryMetrics } from './metrics.ts'
import { isDown, type LaneState, noteOutcome } from './pause.ts'
import { decideOutcome, type Outcome, recordOutcomes } from './record.ts'
import type { RetryRules } from './schedule.ts'
import { findSecrets } from './secrets.ts'

/** How often a process looks for lanes without having been woken: what another process, or the clock, made due. */
const pollMilliseconds = second
/** A lane takes one connection at most, so many may be open; a slow one then holds up nobody but itself. */
const maxLanes = 500
/** What was sent is written down after so many or so long: a process that dies sends no more than that again. */
const batchSize = 100
const batchMilliseconds = 2 * second
/** How soon after a look for lanes the next one may come, however many commits ask for it. */
const lookPauseMilliseconds = 20
export interface WorkerParts extends AttemptParts {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly rules: RetryRules
  readonly metrics: DeliveryMetrics
  /** Milliseconds that a lane belongs to a process that nothing is heard of any more. */
  readonly lease: number
}

/**
 * Delivers. It claims lanes under a lease and works on each by itself, one delivery after the other and in order, so that a
 * subscriber that is slow or dead delays only its own.
 */
export class DeliveryWorker {
  readonly #parts: WorkerParts
  readonly #lease: Lease
  readonly #working = new Map<string, Promise<void>>()
  #claiming: Promise<void> | undefined
  #lookAgain = false
  #poll: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #renewing: Promise<void> | undefined
  #stopped = false
  readonly #pace = new Pace(lookPauseMilliseconds)

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.#lease = { owner: parts.random.trace(), milliseconds: parts.lease }
  }

  start(): void {
    this.#poll = setInterval(() => this.wake(), pollMilliseconds)
    this.#heartbeat = setInterval(() => this.#renew(), this.#parts.lease / 4)
    this.wake()
  }

  /** Looks for lanes that have something to send; called after every commit. */
  wake(): void {
    if (this.#stopped) return
    this.#lookAgain = true
    this.#claiming ??= this.#claim()
      .catch((error: Error) => {
        this.#lookAgain = false
        this.#tellFault(error, {}, 'deliveries could not be claimed')
      })
      .finally(() => {
        this.#claiming = undefined
        // Woken after the last look.
        if (this.#lookAgain) this.wake()
      })
  }

  /** Resolves when everything that is due by now was tried. */
  async settle(): Promise<void> {
    const { database, clock } = this.#parts
    do {
      this.#pace.hurry()
      this.wake()
      await this.#claiming
      await Promise.all(this.#working.values())
    } while (!this.#stopped && (await listDueLanes(database.read, clock.now(), 1)).length > 0)
  }

  /**
   * Takes up nothing new, and lets the tries that run come to their end for so long at most; then `abandon` ends them, and
   * whoever works on the lanes next tries them again.
   */
  async stop(graceMilliseconds: number, abandon: () => Promise<void>): Promise<void> {
    clearInterval(this.#poll)
    this.#stopped = true
    this.#pace.hurry()
    await this.#claiming
    const timer = new AbortController()
    const done = Promise.all(this.#working.values())
    await Promise.race([done, wait(graceMilliseconds, undefined, { signal: timer.signal }).catch(() => undefined)])
    timer.abort()
    await abandon()
    await done
    clearInterval(this.#heartbeat)
    await this.#renewing
  }

  /** Says that the lanes in hand are being worked on, however long a subscriber takes to answer. */
  #renew(): void {
    const { database, clock } = this.#parts
    if (this.#working.size === 0) return
    const lanes = [...this.#working.keys()]
    this.#renewing ??= database
      .transaction((tx) => renewLanes(tx, lanes, this.#lease, clock.now()))
      .catch((error: Error) => this.#tellFault(error, {}, 'leases could not be renewed'))
      .finally(() => {
        this.#renewing = undefined
      })
  }

  #tellFault(error: Error, about: object, message: string): void {
    const { database, log } = this.#parts
    if (!database.outageOf(error)) log.error({ ...about, err: error }, message)
  }

  async #claim(): Promise<void> {
    const { database, clock } = this.#parts
    while (this.#lookAgain && !this.#stopped) {
      // Commits that come together are looked at together.
      await this.#pace.next()
      this.#lookAgain = false
      const room = maxLanes - this.#working.size
      if (room === 0) return
      const due = await listDueLanes(database.read, clock.now(), room)
      // One whose lease ran out while we are still at it is not to be worked on twice.
      const free = due.filter((id) => !this.#working.has(id))
      if (free.length === 0) continue
      const lanes = await database.transaction((tx) => claimLanes(tx, free, this.#lease, clock.now()))
      for (const lane of lanes) this.#work(lane)
    }
  }

  #work(lane: Lane): void {
    const done = this.#runLane(lane)
      .catch((error: Error) => {
        // Left to its lease: taken up at once, it would break at once again.
        this.#tellFault(error, { app: lane.app_id }, 'a lane of deliveries broke')
      })
      .finally(() => {
        this.#working.delete(lane.id)
        // What came in while the lane was given back.
        this.wake()
      })
    this.#working.set(lane.id, done)
  }

  async #runLane(lane: Lane): Promise<void> {
    const { database, clock } = this.#parts
    let state: LaneState = { failures: lane.failures, paused_until: 0, next_try: 0 }
    while (!this.#stopped && state.paused_until <= clock.now()) {
      const due = await listDue(database.read, lane, clock.now(), batchSize)
      if (due.length === 0) break
      const withdrawn = due.filter(({ has_access }) => has_access === 0).map(({ id }) => id)
      const batch = await this.#tryBatch(
        lane,
        due.filter(({ has_access }) => has_access !== 0),
        state,
      )
      const isBack = isDown(state) && !isDown(batch.state)
      state = batch.state
      const isOurs = await database.transaction(async (tx) => {
        await withdrawDeliveries(tx, withdrawn, clock.now())
        await recordOutcomes(tx, batch.outcomes, clock.now())
        if (isBack) await hurryLane(tx, lane, clock.now())
        return keepLane(tx, lane, this.#lease, clock.now(), state)
      })
      if (!isOurs) return
      for (const outcome of batch.outcomes) if (outcome.kind === 'retry') this.#wakeAt(outcome.time)
    }
    await database.transaction((tx) => releaseLane(tx, lane, this.#lease))
  }

  /** What is due again before the next look is not kept waiting for that. */
  #wakeAt(time: number): void {
    const delay = time - this.#parts.clock.now()
    if (delay > 0 && delay < pollMilliseconds) setTimeout(() => this.wake(), delay).unref()
  }

  /** Tries some deliveries one after the other, until something comes up that changes what is to be sent next. */
  async #tryBatch(
    lane: Lane,
    due: readonly DueDelivery[],
    before: LaneState,
  ): Promise<{ state: LaneState; outcomes: Outcome[] }> {
    const { database, clock } = this.#parts
    const secrets = await findSecrets(database.read, lane.app_id, clock.now())
    const started = clock.now()
    const outcomes: Outcome[] = []
    let state = before
    for (const delivery of due) {
      const outcome = await this.#try(lane, secrets, delivery)
      if (!outcome) break
      outcomes.push(outcome)
      state = noteOutcome(state, outcome, clock.now())
      const isBack = isDown(before) && !isDown(state)
      if (this.#stopped || isBack || state.paused_until > clock.now()) break
      if (clock.now() - started >= batchMilliseconds) break
    }
    return { state, outcomes }
  }

  async #try(lane: Lane, secrets: readonly string[], delivery: DueDelivery): Promise<Outcome | undefined> {
    const { metrics, rules, random, log } = this.#parts
    metrics.inFlight.inc()
    try {
      const result = await attemptDelivery(this.#parts, lane, secrets, delivery)
      if (!result) return undefined
      const outcome = decideOutcome(result, rules, random)
      metrics.countAttempt(outcome.kind)
      const { status, problem, fault } = result
      const about = { delivery: delivery.id, app: lane.app_id }
      if (fault !== undefined) log.error({ ...about, err: fault }, 'a delivery could not be sent')
      else if (outcome.kind !== 'delivered') {
        log.warn({ ...about, status, problem, next: outcome.kind }, 'a delivery failed')
      }
      return outcome
    } finally {
      metrics.inFlight.dec()
    }
  }
}
