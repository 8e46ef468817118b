import type { Clock } from '../../../src/base/time/clock.ts'

/** A clock that is moved by hand while the past is made, and then follows the real time. */
export class BusyClock implements Clock {
  #now: number | undefined

  constructor(start: number) {
    this.#now = start
  }

  now(): number {
    return this.#now ?? Date.now()
  }

  /** Moves forward; never past the real time, which comes next. */
  moveTo(time: number): void {
    if (this.#now === undefined || time < this.#now) throw new Error('the past can only be made in its order')
    this.#now = Math.min(time, Date.now())
  }

  followRealTime(): void {
    this.#now = undefined
  }
}
