/** The source of time: code that needs the time takes a clock, so that tests can control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** A clock that moves only when a test moves it. */
export class ManualClock implements Clock {
  #now: number

  constructor(start: number) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds
  }
}
