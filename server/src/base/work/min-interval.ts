import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Runs an action in the next turn of the event loop if it has not run for a while, otherwise not sooner than a minimum time after the
 * last run: an action requested after each of many commits then runs once for all of them.
 */
export class MinInterval {
  readonly #milliseconds: number
  #last = Number.NEGATIVE_INFINITY
  #endWait: (() => void) | undefined

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  async next(): Promise<void> {
    const left = this.#last + this.#milliseconds - performance.now()
    await (left > 0 ? this.#wait(left) : nextTurn())
    this.#last = performance.now()
  }

  /** Skips the wait: a pending run happens at once, and so does the next. */
  skipWait(): void {
    this.#last = Number.NEGATIVE_INFINITY
    this.#endWait?.()
  }

  async #wait(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#endWait = resolve
    const timer = setTimeout(resolve, milliseconds)
    await promise
    clearTimeout(timer)
    this.#endWait = undefined
  }
}
