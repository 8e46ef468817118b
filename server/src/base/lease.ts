import type { Clock } from './clock.ts'

/**
 * A stored lease, or any other "not before this time" whose length is known, is in force while `now < until <= leaseHorizon(now, length)`.
 * One that reaches further ahead than its length was written by a clock that has been set back since, and has ended: waiting for
 * it would stop the work for as long as the clock went back. The clocks of several machines differ a little, and a lease that
 * was just renewed has its whole length left, so up to one more length is allowed for.
 */
export function leaseHorizon(now: number, length: number): number {
  return now + 2 * length
}

/** The same rule in a query: `until <= now OR until > leaseHorizon(now, length)`. */
export function isLeaseOver(until: number, now: number, length: number): boolean {
  return until <= now || until > leaseHorizon(now, length)
}

/** Notices that the clock was set back between two polls. */
export class ClockWatch {
  readonly #clock: Clock
  #last: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#last = clock.now()
  }

  /** By how many milliseconds the clock was set back since the last call, give or take the time between them; 0: it was not. */
  stepBack(): number {
    const now = this.#clock.now()
    const back = Math.max(0, this.#last - now)
    this.#last = now
    return back
  }
}
