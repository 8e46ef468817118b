import type { Clock } from '../base/clock.ts'
import type { ClockTrust } from '../base/clock-trust.ts'
import { minute, second } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import { Loop } from '../base/loop.ts'
import type { Database } from '../db/database.ts'
import { findNewestTime, readDatabaseTime, readTrustedTime, writeTrustedTime } from './store-clock.ts'

const checkMilliseconds = minute
/** While something is held: whoever sets the clock, or accepts a jump, should not have to wait. */
const heldCheckMilliseconds = 2 * second

/** Where the time comes from that the clock of the process is compared with. */
export interface TimeSources {
  /** Milliseconds that pass whatever the clock is set to. */
  readonly monotonic: () => number
  /** By default what the database says; an embedded one has no clock. */
  readonly ofDatabase?: () => number | Promise<number>
}

export interface ClockGuardDeps {
  readonly database: Database
  /** The clock of the process, which no sandbox moves. */
  readonly clock: Clock
  /** The time of that clock for a time that was stored. */
  readonly toRealTime: (time: number) => number
  readonly log: Log
  /** By how many milliseconds the clocks of the process and of the database may differ. */
  readonly tolerance: number
  /** By how many milliseconds time may go forward at once. */
  readonly maxJump: number
  readonly sources?: TimeSources
}

/**
 * Why nothing is deleted or given up: the clocks were not compared yet, that of the process `differs` from the database's, or time
 * has `jumped` forward by days and no operator has accepted it.
 */
export type ClockHold = 'unchecked' | 'differs' | 'jumped'

export interface ClockState {
  readonly hold: ClockHold | undefined
  /** By how many milliseconds the process is ahead of the database. */
  readonly offset: number
  /** By how many milliseconds time has jumped forward. */
  readonly ahead: number
}

/** The clocks at the last comparison. */
interface Mark {
  readonly clock: number
  readonly monotonic: number
  /** The time up to which time passed as expected, by the clock that all processes go by. */
  readonly trusted: number
}

/**
 * Compares the clock of the process with the database's, and the time with what has passed, because a wrong clock would delete all
 * that is kept for days within a minute. While they do not agree, the process does no background work; after a jump forward of both,
 * it deletes nothing and gives nothing up until an operator accepts it.
 */
export class ClockGuard implements ClockTrust {
  readonly #deps: ClockGuardDeps
  readonly #sources: TimeSources
  readonly #checks: Loop
  #state: ClockState = { hold: 'unchecked', offset: 0, ahead: 0 }
  #last: Mark | undefined
  #onReleased: () => void = () => undefined

  constructor(deps: ClockGuardDeps) {
    this.#deps = deps
    this.#sources = deps.sources ?? { monotonic: () => performance.now() }
    this.#checks = new Loop({
      work: () => this.#check(),
      pause: 0,
      every: checkMilliseconds,
      onFailure: (error) => {
        this.#checks.wakeIn(heldCheckMilliseconds)
        if (!deps.database.outageOf(error)) deps.log.error({ err: error }, 'the clocks could not be compared')
      },
    })
  }

  get state(): ClockState {
    return this.#state
  }

  /** Calls `listener` when nothing is held any more: something may be due. */
  onReleased(listener: () => void): void {
    this.#onReleased = listener
  }

  /** Compares the clocks every minute from now on. */
  start(): void {
    this.#checks.start()
  }

  async stop(): Promise<void> {
    await this.#checks.stop()
  }

  async check(): Promise<void> {
    this.#checks.wake()
    await this.#checks.settle()
  }

  readonly mayWork = (): boolean => {
    const { hold } = this.#state
    return this.#isSteady() && hold !== 'unchecked' && hold !== 'differs'
  }

  readonly mayDelete = (): boolean => this.#isSteady() && this.#state.hold === undefined

  /** Whether the clock was not set since the last comparison: otherwise the clocks are compared first. */
  #isSteady(): boolean {
    const { clock, tolerance } = this.#deps
    if (!this.#last) return false
    const passed = this.#sources.monotonic() - this.#last.monotonic
    const isSteady = Math.abs(clock.now() - this.#last.clock - passed) <= tolerance
    if (!isSteady) this.#checks.wake()
    return isSteady
  }

  async #check(): Promise<void> {
    const { clock, database, tolerance, maxJump } = this.#deps
    const before = clock.now()
    const asked = this.#sources.monotonic()
    const now = await (this.#sources.ofDatabase ?? (() => readDatabaseTime(database, clock)))()
    // The database read its clock at some moment of the round trip.
    const monotonic = this.#sources.monotonic()
    const roundTrip = monotonic - asked
    const offset = Math.round(before + roundTrip / 2 - now)
    const expected = await this.#findExpected(now, monotonic)
    const ahead = Math.max(0, now - expected)
    const differs = Math.abs(offset) - roundTrip / 2 > tolerance
    const hasJumped = ahead > maxJump
    this.#last = { clock: before + roundTrip, monotonic, trusted: hasJumped ? expected : now }
    this.#enter({ hold: differs ? 'differs' : hasJumped ? 'jumped' : undefined, offset, ahead: hasJumped ? ahead : 0 })
    if (!hasJumped) await writeTrustedTime(database, now)
  }

  /** What time it should be: another process may have seen it pass, or an operator may have accepted a jump. */
  async #findExpected(now: number, monotonic: number): Promise<number> {
    const { database, toRealTime } = this.#deps
    const stored = await readTrustedTime(database.read)
    if (stored === undefined) {
      const newest = await findNewestTime(database.read)
      return newest === 0 ? now : Math.min(now, toRealTime(newest))
    }
    return this.#last ? Math.max(stored, this.#last.trusted + monotonic - this.#last.monotonic) : stored
  }

  #enter(state: ClockState): void {
    const { log, tolerance } = this.#deps
    const before = this.#state.hold
    const { hold, offset, ahead } = state
    this.#state = state
    if (hold !== undefined) this.#checks.wakeIn(heldCheckMilliseconds)
    if (hold === before) return
    if (before === 'differs') log.warn({ offset_ms: offset }, "the clock agrees with the database's again")
    if (before === 'jumped' && hold === undefined) {
      log.warn('the time was accepted or set right: what is old is deleted and given up again')
    }
    if (hold === 'differs') {
      log.error(
        { offset_ms: offset, tolerance_ms: tolerance },
        "the clock of this process differs from the database's: until they agree it does no background work, deletes nothing and gives nothing up",
      )
    }
    if (hold === 'jumped') {
      log.error(
        { ahead_ms: ahead },
        'time has gone forward by days: nothing is deleted or given up until an operator runs ./switchboard clock accept',
      )
    }
    this.#onReleased()
  }
}
