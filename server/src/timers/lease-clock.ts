import type { Clock } from '../base/time/clock.ts'

/** One reading of the database's clock. */
export interface Measurement {
  /** What time it was for the database at some moment of the round trip: most likely in the middle. */
  readonly time: number
  /** The monotonic clock of the process when the response had come. */
  readonly monotonic: number
  /** How long the round trip took. */
  readonly roundTrip: number
}

/**
 * The clock of leases, on which all processes of a store agree: the database's time at a comparison, and what has passed since by the
 * monotonic clock. The clocks of two processes may differ by more than the length of a lease, and somebody may set them.
 */
export class LeaseClock implements Clock {
  readonly #process: Clock
  readonly #monotonic: () => number
  #base: { readonly time: number; readonly monotonic: number } | undefined

  /** `process` is what it goes by before the first comparison: nothing is leased before that. */
  constructor(process: Clock, monotonic: () => number) {
    this.#process = process
    this.#monotonic = monotonic
  }

  now(): number {
    return this.#base ? Math.floor(this.#timeAt(this.#base, this.#monotonic())) : this.#process.now()
  }

  /** A slow response says little: what was known before stays, unless no moment of the round trip would agree with it. */
  compare({ time, monotonic, roundTrip }: Measurement): void {
    const next = { time: time + roundTrip / 2, monotonic }
    const contradiction = this.#base ? Math.abs(next.time - this.#timeAt(this.#base, monotonic)) : undefined
    if (contradiction === undefined || contradiction > roundTrip / 2) this.#base = next
  }

  #timeAt({ time, monotonic }: { readonly time: number; readonly monotonic: number }, at: number): number {
    return time + at - monotonic
  }
}
