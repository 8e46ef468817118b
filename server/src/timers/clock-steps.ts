import type { Log } from '../base/log/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { type ClockTrust, fullTrust } from '../base/time/clock-trust.ts'
import { second } from '../base/time/duration.ts'
import { ClockWatch } from '../base/time/lease.ts'
import { Loop } from '../base/work/loop.ts'
import type { Database, Transaction } from '../db/database.ts'
import { findNewestTime } from './store-clock.ts'

/**
 * Corrects stored times after the clock was set back by `back` milliseconds: nothing may wait longer than intended when it was
 * written. Times written before `latest` stay as they are.
 */
export type Correction = (tx: Transaction, now: number, latest: number, back: number) => Promise<void>

const pollMilliseconds = second
/** How far the clocks of several machines may differ. */
const tolerance = 5 * second

/** Detects that the clock was set back, before the start or while the process runs, and corrects waits that became too long. */
export class ClockSteps {
  readonly #database: Database
  readonly #clock: Clock
  readonly #log: Log
  readonly #corrections: readonly Correction[]
  readonly #onCorrected: () => void
  readonly #watch: ClockWatch
  readonly #trust: Pick<ClockTrust, 'mayWork'>
  readonly #checks: Loop
  /** Corrections that the store has not taken yet. */
  #back = 0
  /** Whether it was set back before the start is known only once it can be relied on. */
  #hasComparedStart = false

  constructor(
    database: Database,
    clock: Clock,
    log: Log,
    corrections: readonly Correction[],
    /** Called after a correction: something may be due now. */
    onCorrected: () => void,
    /** The clock that somebody may set back; one that a sandbox moves is reported with `stepBack`. By default `clock`. */
    watched: Clock = clock,
    /** A clock that differs from the database's is no reason to correct what others wrote. By default it is relied on. */
    trust: Pick<ClockTrust, 'mayWork'> = fullTrust,
  ) {
    this.#database = database
    this.#clock = clock
    this.#log = log
    this.#corrections = corrections
    this.#onCorrected = onCorrected
    this.#watch = new ClockWatch(watched)
    this.#trust = trust
    this.#checks = new Loop({
      work: () => this.#correct(),
      pause: 0,
      every: pollMilliseconds,
      onFailure: (error) => {
        if (!database.outageOf(error))
          log.error({ err: error }, 'times could not be corrected after the clock was set back')
      },
    })
  }

  async start(): Promise<void> {
    await this.check()
    this.#checks.start()
  }

  async stop(): Promise<void> {
    await this.#checks.stop()
  }

  /** Corrects times after the clock of a sandbox was set back. */
  async stepBack(milliseconds: number): Promise<void> {
    this.#back += milliseconds
    await this.check()
  }

  /** Corrects times if the clock was set back since the last call. */
  async check(): Promise<void> {
    this.#checks.wake()
    await this.#checks.settle()
  }

  async #correct(): Promise<void> {
    if (!this.#trust.mayWork()) {
      this.#watch.keepHighest()
      return
    }
    if (!this.#hasComparedStart) {
      this.#back += Math.max(0, (await findNewestTime(this.#database.read)) - this.#clock.now())
      this.#hasComparedStart = true
    }
    this.#back += this.#watch.stepBack()
    if (this.#back <= tolerance) {
      this.#back = 0
      return
    }
    const back = this.#back
    const now = this.#clock.now()
    await this.#database.transaction(async (tx) => {
      for (const correct of this.#corrections) await correct(tx, now, now + tolerance, back)
    })
    this.#back -= back
    this.#log.warn({ back_ms: back }, 'the clock was set back: what waits goes by the new time')
    this.#onCorrected()
  }
}
