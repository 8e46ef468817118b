import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Lets a thing be done in the next turn when it was not done for a while, and otherwise not sooner than so long after the last
 * time: what is asked for after every one of many commits is then done once for all of them.
 */
export class Pace {
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

  /** For whoever cannot wait: what is waited for comes at once, and so does the next. */
  hurry(): void {
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
