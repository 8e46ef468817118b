import type { Clock } from './clock.ts'

/** How many keys are counted at once; beyond that the oldest window is forgotten. */
const defaultMaxKeys = 10_000

interface Window {
  points: number
  readonly until: number
}

/**
 * Counts points by key in windows that begin with the first point, within this process. Its size is bounded, whatever the keys, and
 * it costs nothing while it is empty.
 */
export class WindowCounts {
  readonly #clock: Clock
  readonly #milliseconds: number
  readonly #maxKeys: number
  /** All windows have the same length, so they end in insertion order. */
  readonly #windows = new Map<string, Window>()

  constructor(clock: Clock, milliseconds: number, maxKeys = defaultMaxKeys) {
    this.#clock = clock
    this.#milliseconds = milliseconds
    this.#maxKeys = maxKeys
  }

  get isEmpty(): boolean {
    return this.size === 0
  }

  get size(): number {
    if (this.#windows.size > 0) this.#forgetEnded()
    return this.#windows.size
  }

  /** The points of a key, and the milliseconds until they expire. */
  read(key: string): { points: number; remaining: number } {
    this.#forgetEnded()
    const window = this.#windows.get(key)
    return window ? { points: window.points, remaining: window.until - this.#clock.now() } : { points: 0, remaining: 0 }
  }

  /** Adds points to a key and returns the total. */
  add(key: string, points: number): number {
    this.#forgetEnded()
    const window = this.#windows.get(key)
    if (window) {
      window.points += points
      return window.points
    }
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size < this.#maxKeys) break
      this.#windows.delete(oldest)
    }
    this.#windows.set(key, { points, until: this.#clock.now() + this.#milliseconds })
    return points
  }

  clear(): void {
    this.#windows.clear()
  }

  #forgetEnded(): void {
    const now = this.#clock.now()
    for (const [key, { until }] of this.#windows) {
      // Otherwise a clock that was set back would make a window last longer than its length.
      if (now < until && now >= until - this.#milliseconds) break
      this.#windows.delete(key)
    }
  }
}
