/** Work that costs less than this at once runs without a wait. */
const defaultBurst = 5
/** No single piece of work takes longer: the rest was a garbage collection, or another process. */
const maxCharge = 5

/**
 * Limits work to a share of the process's time: calls beyond that wait, in order, and other work gets the rest of the time.
 */
export class CpuBudget {
  readonly #share: number
  readonly #burst: number
  /** Milliseconds of work not yet offset by rest, as of `#since`. */
  #debt = 0
  #since = 0
  readonly #waiting: (() => void)[] = []
  #timer: NodeJS.Timeout | undefined

  /** `share` is the fraction of the time that the work may take: 0.25 is a quarter. */
  constructor(share: number, burst = defaultBurst) {
    this.#share = share
    this.#burst = burst
  }

  /** Runs the work at once if there is time for it. */
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

  /** How far the work not yet offset by rest exceeds the burst. */
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
