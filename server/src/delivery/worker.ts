import type { Clock } from '../base/clock.ts'
import { second } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { Database, Db } from '../db/database.ts'
import { type AttemptParts, attemptDelivery } from './attempt.ts'
import { claimLanes, isAnyLaneDue, keepLane, type Lane, listDue, releaseLane } from './lanes.ts'
import type { DeliveryMetrics } from './metrics.ts'
import { decideOutcome, type Outcome, recordOutcomes } from './record.ts'
import type { RetryRules } from './schedule.ts'
import type { Secrets } from './sign.ts'

/** How often a process looks for lanes without having been woken: what another process, or the clock, made due. */
const pollMilliseconds = second
/** A lane takes one connection at most, so many may be open; a slow one then holds up nobody but itself. */
const maxLanes = 500
const batchSize = 50
/** After so many different deliveries in a row have failed, the subscriber is down: the lane waits for its oldest one's turn. */
const failuresUntilPause = 3

export interface WorkerParts extends AttemptParts {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly rules: RetryRules
  readonly metrics: DeliveryMetrics
}

/**
 * Delivers. It claims lanes under a lease and works on each by itself, one delivery after the other and in order, so that a
 * subscriber that is slow or dead delays only its own.
 */
export class DeliveryWorker {
  readonly #parts: WorkerParts
  readonly #owner: string
  readonly #working = new Map<string, Promise<void>>()
  #claiming: Promise<void> | undefined
  #lookAgain = false
  #poll: NodeJS.Timeout | undefined
  #stopped = false

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.#owner = parts.random.trace()
  }

  start(): void {
    this.#poll = setInterval(() => this.wake(), pollMilliseconds)
    this.wake()
  }

  /** Looks for lanes that have something to send; called after every commit. */
  wake(): void {
    if (this.#stopped) return
    this.#lookAgain = true
    this.#claiming ??= this.#claim()
      .catch((error: Error) => this.#parts.log.error({ err: error }, 'deliveries could not be claimed'))
      .finally(() => {
        this.#claiming = undefined
      })
  }

  /** Resolves when everything that is due by now was tried. */
  async settle(): Promise<void> {
    do {
      this.wake()
      await this.#claiming
      await Promise.all(this.#working.values())
    } while (!this.#stopped && (await isAnyLaneDue(this.#parts.database.read, this.#parts.clock.now())))
  }

  /** Lets the tries that run come to their end, records them, and gives the lanes back. */
  async stop(): Promise<void> {
    clearInterval(this.#poll)
    this.#stopped = true
    await this.#claiming
    await Promise.all(this.#working.values())
  }

  async #claim(): Promise<void> {
    const { database, clock } = this.#parts
    while (this.#lookAgain && !this.#stopped) {
      this.#lookAgain = false
      const room = maxLanes - this.#working.size
      if (room === 0 || !(await isAnyLaneDue(database.read, clock.now()))) continue
      const lanes = await database.transaction((tx) => claimLanes(tx, clock.now(), this.#owner, room))
      for (const lane of lanes) this.#work(lane)
    }
  }

  #work(lane: Lane): void {
    const done = this.#runLane(lane)
      .catch((error: Error) => this.#parts.log.error({ app: lane.app_id, err: error }, 'a lane of deliveries broke'))
      .finally(() => {
        this.#working.delete(lane.id)
        // What came in while the lane was given back.
        this.wake()
      })
    this.#working.set(lane.id, done)
  }

  async #runLane(lane: Lane): Promise<void> {
    const { database, clock } = this.#parts
    const state = { failures: lane.failures, paused_until: 0 }
    try {
      while (!this.#stopped && state.paused_until <= clock.now()) {
        const batch = await listDue(database.read, lane, clock.now(), batchSize)
        if (batch.length === 0) break
        const secrets = await findSecrets(database.read, lane.app_id, clock.now())
        const outcomes: Outcome[] = []
        for (const delivery of batch) {
          const outcome = await this.#try(lane, secrets, delivery)
          outcomes.push(outcome)
          noteOutcome(state, outcome)
          if (this.#stopped || state.paused_until > clock.now()) break
        }
        const kept = await database.transaction(async (tx) => {
          await recordOutcomes(tx, outcomes, clock.now())
          return keepLane(tx, lane, this.#owner, clock.now(), state)
        })
        if (!kept) return
      }
    } finally {
      await database.transaction((tx) => releaseLane(tx, lane, this.#owner))
    }
  }

  async #try(lane: Lane, secrets: Secrets, delivery: Parameters<typeof attemptDelivery>[3]): Promise<Outcome> {
    const { metrics, rules, random, log } = this.#parts
    metrics.inFlight.inc()
    try {
      const result = await attemptDelivery(this.#parts, lane, secrets, delivery)
      const outcome = decideOutcome(result, rules, random)
      metrics.countAttempt(outcome.kind)
      if (outcome.kind !== 'delivered') {
        const { status, problem } = result
        log.warn({ delivery: delivery.id, app: lane.app_id, status, problem, next: outcome.kind }, 'a delivery failed')
      }
      return outcome
    } finally {
      metrics.inFlight.dec()
    }
  }
}

/** Counts failures in a row, and pauses the lane until its oldest delivery is due again once they are too many. */
function noteOutcome(state: { failures: number; paused_until: number }, outcome: Outcome): void {
  if (outcome.kind !== 'retry') {
    state.failures = 0
    state.paused_until = 0
    return
  }
  state.failures += 1
  if (state.failures >= failuresUntilPause) state.paused_until = outcome.time
}

/** The app's secret, and the one before it while the overlap of a rotation lasts. */
async function findSecrets(db: Db, app_id: string, now: number): Promise<Secrets> {
  const app = await db.query
    .selectFrom('apps')
    .select(['secret', 'previous_secret', 'previous_secret_until'])
    .where('id', '=', app_id)
    .executeTakeFirstOrThrow()
  const { secret, previous_secret, previous_secret_until } = app
  const overlaps = previous_secret !== null && (previous_secret_until ?? 0) > now
  return overlaps ? [secret, previous_secret] : [secret]
}
