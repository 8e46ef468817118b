import { minute } from '../base/time/duration.ts'

/** How long what comes behind a missing position waits for it. */
const gapTimeoutMs = 500
/** How long a position that was passed over may still appear. */
const memory = minute
const maxMissing = 1000

/**
 * Positions are handed out before a transaction commits, so one may appear after a later one; one that was rolled back never does. What
 * follows a gap waits for a moment, and a position that was passed over is looked for a while longer.
 */
export class Gaps {
  /** The position that is waited for, and since when. */
  #waiting: { readonly position: number; readonly since: number } | undefined
  readonly #missing = new Map<number, number>()

  clear(): void {
    this.#waiting = undefined
    this.#missing.clear()
  }

  /** How many of these rows, which follow a position, can be sent now. */
  countUsable(rows: readonly { readonly position: number }[], after: number, now: number): number {
    let expected = after + 1
    for (const [index, { position }] of rows.entries()) {
      if (position !== expected) {
        if (this.#waiting?.position !== expected) this.#waiting = { position: expected, since: now }
        if (now - this.#waiting.since < gapTimeoutMs) return index
        this.#passOver(expected, position, now)
      }
      expected = position + 1
    }
    this.#waiting = undefined
    return rows.length
  }

  /** Positions that were passed over and may still appear. */
  missing(now: number): number[] {
    for (const [position, until] of this.#missing) if (until <= now) this.#missing.delete(position)
    return [...this.#missing.keys()]
  }

  fill(positions: readonly number[]): void {
    for (const position of positions) this.#missing.delete(position)
  }

  #passOver(from: number, to: number, now: number): void {
    for (let position = from; position < to && this.#missing.size < maxMissing; position++) {
      this.#missing.set(position, now + memory)
    }
  }
}
