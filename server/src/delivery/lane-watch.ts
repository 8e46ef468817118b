/** With more deliveries a second than this from other processes, reading at intervals is cheaper than being woken. */
const leastRate = 100
/** How often the rate is determined, and the other processes are notified. */
const windowMilliseconds = 500
/** How long other processes rely on it after they were notified. */
export const trustMilliseconds = 1000
/** How long the lane is read at intervals after they were notified: what is under way may take a while. */
const keptMilliseconds = 1500

/**
 * Whether a held lane gets so much from other processes that its holder reads it at intervals and notifies them not to wake it. All times
 * are milliseconds of this process.
 */
export class LaneWatch {
  #since = Number.NEGATIVE_INFINITY
  /** Deliveries of other processes that were read since then. */
  #found = 0
  #until = Number.NEGATIVE_INFINITY

  isOn(now: number): boolean {
    return now < this.#until
  }

  /** So many deliveries that this process has raised will be found by a read. */
  noteOwn(count: number): void {
    this.#found -= count
  }

  /** A read has found so many deliveries; returns whether the other processes should be notified now. */
  noteRead(count: number, now: number): boolean {
    const elapsed = now - this.#since
    if (elapsed > 2 * windowMilliseconds) {
      this.#since = now
      this.#found = 0
      return false
    }
    this.#found += count
    if (elapsed < windowMilliseconds) return false
    const isBusy = this.#found * 1000 >= leastRate * elapsed
    this.#since = now
    this.#found = 0
    if (isBusy) this.#until = now + keptMilliseconds
    return isBusy
  }
}
