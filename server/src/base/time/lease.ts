import type { Clock } from './clock.ts'

/**
 * A stored lease, or any other "not before this time" of known length, is in force while `now < until <= leaseHorizon(now, length)`. A
 * lease that reaches further ahead was written before the clock was set back, and counts as expired: waiting for it would stop the
 * work for as long as the clock went back. One more length is allowed, because the clocks of machines differ and a lease that was just
 * renewed has its whole length left.
 */
export function leaseHorizon(now: number, length: number): number {
  return now + 2 * length
}

/** The same rule in a query: `until <= now OR until > leaseHorizon(now, length)`. */
export function isLeaseOver(until: number, now: number, length: number): boolean {
  return until <= now || until > leaseHorizon(now, length)
}

/** Detects between two polls that the clock was set back. */
export class ClockWatch {
  readonly #clock: Clock
  #last: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#last = clock.now()
  }

  /** By how many milliseconds the clock was set back since the last call, give or take the time between them; 0 if it was not. */
  stepBack(): number {
    const now = this.#clock.now()
    const back = Math.max(0, this.#last - now)
    this.#last = now
    return back
  }

  /** While the clock may be wrong: once it is right, `stepBack` counts from the latest time that it showed. */
  keepHighest(): void {
    this.#last = Math.max(this.#last, this.#clock.now())
  }
}
