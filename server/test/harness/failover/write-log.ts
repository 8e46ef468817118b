/** A request that writes, as its client sees it; times are those of `performance.now()`. */
interface Attempt {
  readonly began: number
  readonly ended: number
  readonly isDone: boolean
}

/** What clients saw of a disturbance, in seconds. */
export interface Outage {
  /** The longest time in which no write succeeded. */
  readonly withoutWrites: number
  /** From its beginning to the end of the last write that failed or was slow. */
  readonly untilAllSucceed: number
}

const slow = 1000

/** When writes succeeded, and when they did not. */
export class WriteLog {
  readonly #attempts: Attempt[] = []

  note(attempt: Attempt): void {
    this.#attempts.push(attempt)
  }

  hasSucceededSince(time: number): boolean {
    return this.#attempts.some(({ began, isDone }) => isDone && began > time)
  }

  measure(from: number, to: number): Outage {
    const during = this.#attempts.filter(({ began, ended }) => ended >= from && began <= to)
    let [last, longest, troubled] = [from, 0, from]
    for (const { began, ended, isDone } of during.sort((one, other) => one.ended - other.ended)) {
      if (isDone) {
        longest = Math.max(longest, ended - last)
        last = ended
      }
      if (!isDone || ended - began > slow) troubled = ended
    }
    return { withoutWrites: longest / 1000, untilAllSucceed: (troubled - from) / 1000 }
  }
}
