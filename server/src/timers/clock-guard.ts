import type { Log } from '../base/log/log.ts'
import type { Clock } from '../base/time/clock.ts'
import type { ClockTrust } from '../base/time/clock-trust.ts'
import { hour, minute, second } from '../base/time/duration.ts'
import { Loop } from '../base/work/loop.ts'
import type { Database } from '../db/database.ts'
import { LeaseClock } from './lease-clock.ts'
import { findLastSign, readDatabaseTime, readStoreClock, seedTrustedTime, writeTrustedTime } from './store-clock.ts'

const checkMilliseconds = minute
/** While something is held: whoever sets the clock, or accepts a jump, should not have to wait. */
const heldCheckMilliseconds = 2 * second
/** How long an earlier time must have passed before it is accepted: a clock that was set back by mistake is set right again. */
const earlierMilliseconds = hour

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
  /** How many milliseconds a lease lasts. */
  readonly lease: number
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

/** A time, and when that was by the monotonic clock. */
interface ClockReading {
  readonly time: number
  readonly monotonic: number
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
  /** The clock of leases, on which all processes agree. */
  readonly leaseClock: Clock
  readonly #leases: LeaseClock
  /** By how many milliseconds the clock may part from the monotonic one before the clocks are compared again. */
  readonly #steadiness: number
  #state: ClockState = { hold: 'unchecked', offset: 0, ahead: 0 }
  #last: Mark | undefined
  /** Whether work was refused since the last comparison, because the clock was not steady. */
  #wasUnsteady = false
  /** Since when it has been earlier than expected. */
  #earlier: ClockReading | undefined
  /** When an operator last accepted the time, as far as is known. */
  #acceptedTime: number | null = null
  #onReleased: () => void = () => undefined

  constructor(deps: ClockGuardDeps) {
    this.#deps = deps
    this.#sources = deps.sources ?? { monotonic: () => performance.now() }
    this.#leases = new LeaseClock(deps.clock, this.#sources.monotonic)
    this.leaseClock = this.#leases
    this.#steadiness = Math.min(deps.tolerance, deps.lease / 4)
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

  /** Calls `listener` when what was held may go on: something may be due. */
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

  /**
   * Whether the clock was not set since the last comparison, and the machine was not suspended, which stops the monotonic clock and so
   * that of leases: otherwise the clocks are compared first.
   */
  #isSteady(): boolean {
    if (!this.#last) return false
    const passed = this.#sources.monotonic() - this.#last.monotonic
    const isSteady = Math.abs(this.#deps.clock.now() - this.#last.clock - passed) <= this.#steadiness
    if (!isSteady) {
      this.#wasUnsteady = true
      this.#checks.wake()
    }
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
    this.#leases.compare({ time: now, monotonic, roundTrip })
    const offset = Math.round(before + roundTrip / 2 - now)
    const { expected, isStored } = await this.#findExpected(now, monotonic)
    const ahead = Math.max(0, now - expected)
    const differs = Math.abs(offset) - roundTrip / 2 > tolerance
    const hasJumped = ahead > maxJump
    const isExpected = !hasJumped && !this.#isEarlier({ time: now, monotonic }, expected)
    this.#last = { clock: before + roundTrip, monotonic, trusted: isExpected ? now : expected }
    this.#enter({ hold: differs ? 'differs' : hasJumped ? 'jumped' : undefined, offset, ahead: hasJumped ? ahead : 0 })
    if (isExpected) await writeTrustedTime(database, now)
    // What is written from now on has the time in doubt, and would confirm it.
    else if (!isStored) await seedTrustedTime(database, expected)
  }

  /** What time it should be: another process may have seen it pass, or an operator may have accepted another time. */
  async #findExpected(now: number, monotonic: number): Promise<{ expected: number; isStored: boolean }> {
    const { database, toRealTime } = this.#deps
    const stored = await readStoreClock(database.read)
    if (stored === undefined) {
      const last = await findLastSign(database.read)
      return { expected: last === 0 ? now : Math.min(now, toRealTime(last)), isStored: false }
    }
    const { trusted_time, accepted_time } = stored
    const isAccepted = accepted_time !== this.#acceptedTime
    this.#acceptedTime = accepted_time
    if (!this.#last || isAccepted) return { expected: trusted_time, isStored: true }
    const { trusted, monotonic: since } = this.#last
    return { expected: Math.max(trusted_time, trusted + monotonic - since), isStored: true }
  }

  /**
   * Whether it is earlier than expected, and not for long. Were such a time stored at once, then setting the clock right would be a
   * jump forward: that of a machine, for example, which starts in 1970 and gets the time from the network a minute later.
   */
  #isEarlier(now: ClockReading, expected: number): boolean {
    const { tolerance } = this.#deps
    if (expected - now.time <= tolerance) {
      this.#earlier = undefined
      return false
    }
    const since = this.#earlier ?? now
    const passed = now.monotonic - since.monotonic
    const wasSet = Math.abs(now.time - since.time - passed) > tolerance
    this.#earlier = wasSet ? now : since
    return wasSet || passed < earlierMilliseconds
  }

  #enter(state: ClockState): void {
    const before = this.#state.hold
    const { hold } = state
    this.#state = state
    const wasUnsteady = this.#wasUnsteady
    this.#wasUnsteady = false
    if (hold !== undefined) this.#checks.wakeIn(heldCheckMilliseconds)
    if (hold !== before) this.#report(before, state)
    if (hold !== before || wasUnsteady) this.#onReleased()
  }

  #report(before: ClockHold | undefined, { hold, offset, ahead }: ClockState): void {
    const { log, tolerance } = this.#deps
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
  }
}
