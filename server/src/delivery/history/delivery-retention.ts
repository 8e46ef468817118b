import { removeExpiredCodes } from '../../auth/code-retention.ts'
import { removeExpiredTokens } from '../../auth/token-retention.ts'
import type { Clock } from '../../base/time/clock.ts'
import { day, minute } from '../../base/time/duration.ts'
import { Sweeper, type SweeperDeps } from '../../timers/sweeper.ts'
import {
  expireDeliveries,
  listLanes,
  removeActivities,
  removeDeliveries,
  removeEvents,
  removeReceived,
  removeReplays,
  removeUnusedLanes,
  rescheduleStrandedLanes,
  stepSize,
} from './sweeps.ts'

const sweepMilliseconds = minute
/** Lanes rarely become unused, and checking all of them takes longest. */
const sweepsPerLaneSweep = 10

interface RetentionRules {
  /** Milliseconds to keep finished deliveries. */
  readonly keep: number
  /** Milliseconds after which the last attempt is over; infinite while nothing is given up. */
  readonly giveUpAfter: number
  /** Milliseconds to keep audit records, and expired tokens, which they name; undefined: for ever. */
  readonly auditKeep: number | undefined
}

export interface DeliveryRetentionDeps extends SweeperDeps {
  readonly clock: Clock
  readonly rules: RetentionRules
}

/** Gives up deliveries that have been retried long enough, and removes old rows. */
export class RetentionWorker {
  readonly #deps: DeliveryRetentionDeps
  readonly #sweeper: Sweeper
  #sweeps = 0

  constructor(deps: DeliveryRetentionDeps) {
    this.#deps = deps
    this.#sweeper = new Sweeper(deps, {
      sweep: () => this.#sweepAgain(),
      every: sweepMilliseconds,
      failure: 'old deliveries could not be swept',
    })
  }

  start(): void {
    this.#sweeper.start()
  }

  async stop(): Promise<void> {
    await this.#sweeper.stop()
  }

  async #sweepAgain(): Promise<void> {
    this.#sweeps += 1
    await this.sweep({ unusedLanes: this.#sweeps % sweepsPerLaneSweep === 0 })
  }

  /** Gives up and removes everything that is old enough, unless the clock may be wrong. */
  async sweep({ unusedLanes = true } = {}): Promise<void> {
    const { clock, rules } = this.#deps
    const { keep, giveUpAfter, auditKeep } = rules
    const now = clock.now()
    const removals = [removeDeliveries, removeEvents, removeReplays, ...removeReceived]
    await this.#sweeper.run([
      async () => {
        if (giveUpAfter === Number.POSITIVE_INFINITY) return
        await this.#sweeper.inSteps((tx) => expireDeliveries(tx, now - giveUpAfter, now))
      },
      ...removals.map((remove) => () => this.#sweeper.inSteps((tx) => remove(tx, now - keep))),
      // A used code that comes again within this time ends its token.
      () => this.#sweeper.inSteps((tx) => removeExpiredCodes(tx, now - day, stepSize)),
      async () => {
        if (auditKeep === undefined) return
        await this.#sweeper.inSteps((tx) => removeActivities(tx, now - auditKeep))
        // The records of what a token did name it, and so does the log of replays.
        await this.#sweeper.inSteps((tx) => removeExpiredTokens(tx, now - Math.max(auditKeep, keep), stepSize))
      },
      () => this.#sweepLanes(now, unusedLanes),
    ])
  }

  async #sweepLanes(now: number, removesUnused: boolean): Promise<void> {
    const { database } = this.#deps
    await this.#sweeper.walk<string>({
      list: (after = '') => listLanes(database, after),
      take: async (ids) => {
        await rescheduleStrandedLanes(database, ids, now)
        if (removesUnused) await removeUnusedLanes(database, ids)
      },
      size: stepSize,
    })
  }
}
