import type { Log } from '../../base/log/log.ts'
import { second } from '../../base/time/duration.ts'

/** How many refusals of unknown callers are logged in a second, by a process. */
const maxLines = 100

/** Bounds what unknown callers can write into the log: the refusals beyond are counted, and their number is logged. */
export class StrangerLines {
  readonly #log: Log
  #until = 0
  #written = 0
  #omitted = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** Whether one more may be logged now. */
  take(): boolean {
    const now = performance.now()
    if (now >= this.#until) {
      this.#until = now + second
      this.#written = 0
    }
    if (this.#written < maxLines) {
      this.#written += 1
      return true
    }
    // The process does not wait for it.
    if (this.#omitted === 0) setTimeout(() => this.#report(), second).unref()
    this.#omitted += 1
    return false
  }

  #report(): void {
    this.#log.warn({ requests: this.#omitted }, 'refused requests of unknown callers were too many to be logged')
    this.#omitted = 0
  }
}
