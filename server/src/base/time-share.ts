/** Work that costs less than this at once is done without a wait. */
const defaultBurst = 5
/** No piece of work is that long by itself: the rest was a garbage collection, or another process. */
const maxCharge = 5

/**
 * Gives work a share of the process's time and no more: whatever is asked for beyond that waits, in order, and others have the
 * rest of the time.
 */
export class TimeShare {
  readonly #share: number
  readonly #burst: number
  /** Milliseconds of work that have not been rested for, as they were at `#since`. */
  #debt = 0
  #since = 0
  readonly #waiting: (() => void)[] = []
  #timer: NodeJS.Timeout | undefined

  /** `share` is how much of the time the work may take: 0.25 is a quarter. */
  constructor(share: number, burst = defaultBurst) {
    this.#share = share
    this.#burst = burst
  }

  /** Does the work at once where there is time for it. */
  run<T>(work: () => T): T | Promise<T> {
    if (this.#waiting.length === 0 && this.#countExcess() <= 0) return this.#do(work)
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(this.#do(work))
        } catch (error) {
          reject(error)
        }
      })
      this.#schedule()
    })
  }

  #do<T>(work: () => T): T {
    const started = performance.now()
    try {
      return work()
    } finally {
      this.#debt += Math.min(performance.now() - started, maxCharge)
    }
  }

  /** How much more than the burst has been worked and not been rested for. */
  #countExcess(): number {
    const now = performance.now()
    this.#debt = Math.max(0, this.#debt - (now - this.#since) * this.#share)
    this.#since = now
    return this.#debt - this.#burst
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#continue(), Math.max(1, this.#countExcess() / this.#share))
  }

  #continue(): void {
    this.#timer = undefined
    while (this.#waiting.length > 0 && this.#countExcess() <= 0) this.#waiting.shift()?.()
    if (this.#waiting.length > 0) this.#schedule()
  }
}
