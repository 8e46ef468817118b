import { removeExpiredTokens } from '../auth/token-retention.ts'
import type { Clock } from '../base/clock.ts'
import { type ClockTrust, fullTrust } from '../base/clock-trust.ts'
import { minute } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import { Loop } from '../base/loop.ts'
import { rest } from '../base/walk.ts'
import type { Database, Transaction } from '../db/database.ts'
import {
  expireDeliveries,
  listLanes,
  remindForgotten,
  removeActivities,
  removeDeliveries,
  removeEvents,
  removeReceived,
  removeReplays,
  removeUnusedLanes,
  stepSize,
} from './sweeps.ts'

const sweepMilliseconds = minute
/** Lanes rarely become unused, and checking all of them takes longest. */
const sweepsPerLaneSweep = 10

export interface RetentionRules {
  /** Milliseconds to keep finished deliveries. */
  readonly keep: number
  /** Milliseconds after which nothing is attempted. */
  readonly giveUpAfter: number
  /** Milliseconds to keep audit records, and expired tokens, which they name; undefined: for ever. */
  readonly auditKeep: number | undefined
}

/**
 * Gives up deliveries that have been retried long enough and removes old rows, in steps so small that nothing else has to wait for
 * them.
 */
export class RetentionWorker {
  readonly #database: Database
  readonly #clock: Clock
  readonly #rules: RetentionRules
  readonly #trust: ClockTrust
  readonly #loop: Loop
  #sweeps = 0

  constructor(database: Database, clock: Clock, log: Log, rules: RetentionRules, trust = fullTrust) {
    this.#database = database
    this.#clock = clock
    this.#rules = rules
    this.#trust = trust
    this.#loop = new Loop({
      work: () => this.#sweepAgain(),
      pause: 0,
      every: sweepMilliseconds,
      onFailure: (error) => {
        if (!database.outageOf(error)) log.error({ err: error }, 'old deliveries could not be swept')
      },
    })
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
  }

  async #sweepAgain(): Promise<void> {
    this.#sweeps += 1
    await this.sweep({ unusedLanes: this.#sweeps % sweepsPerLaneSweep === 0 })
  }

  /** Gives up and removes everything that is old enough, unless the clock may be wrong. */
  async sweep({ unusedLanes = true } = {}): Promise<void> {
    if (!this.#mayGoOn()) return
    const { keep, giveUpAfter, auditKeep } = this.#rules
    const now = this.#clock.now()
    await this.#inSteps((tx) => expireDeliveries(tx, now - giveUpAfter, now))
    for (const remove of [removeDeliveries, removeEvents, removeReplays, ...removeReceived]) {
      await this.#inSteps((tx) => remove(tx, now - keep))
    }
    if (auditKeep !== undefined) {
      await this.#inSteps((tx) => removeActivities(tx, now - auditKeep))
      // The records of what a token did name it, and so does the log of replays.
      await this.#inSteps((tx) => removeExpiredTokens(tx, now - Math.max(auditKeep, keep), stepSize))
    }
    await this.#sweepLanes(now, unusedLanes)
  }

  #mayGoOn(): boolean {
    return !this.#loop.isStopped && this.#trust.mayDelete()
  }

  async #inSteps(step: (tx: Transaction) => Promise<number>): Promise<void> {
    while (this.#mayGoOn()) {
      const started = performance.now()
      // Events hold what messages say.
      if ((await this.#database.transaction(step, { wipes: true })) < stepSize) return
      await rest(started)
    }
  }

  async #sweepLanes(now: number, removesUnused: boolean): Promise<void> {
    let last = ''
    for (;;) {
      const started = performance.now()
      const ids = await listLanes(this.#database, last)
      if (ids.length > 0) {
        await remindForgotten(this.#database, ids, now)
        if (removesUnused) await removeUnusedLanes(this.#database, ids)
      }
      if (ids.length < stepSize || this.#loop.isStopped) return
      last = ids.at(-1) as string
      await rest(started)
    }
  }
}
