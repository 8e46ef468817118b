/** After a failure so many times at most it is not tried. */
const mostSkipped = 64

/** When it is worth a try to do something that may fail: after each failure in a row it is not tried for twice as many times. */
export class TrialGate {
  #skipped = 0
  #left = 0

  mayTry(): boolean {
    if (this.#left === 0) return true
    this.#left -= 1
    return false
  }

  noteSuccess(): void {
    this.#skipped = 0
  }

  noteFailure(): void {
    this.#skipped = Math.min(mostSkipped, Math.max(1, 2 * this.#skipped))
    this.#left = this.#skipped
  }
}
