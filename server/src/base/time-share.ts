import { setTimeout as pause } from 'node:timers/promises'

/**
 * Does one piece of work after the other, and rests behind each for as long as its share asks for: whatever is asked for, others
 * have the rest of the time.
 */
export class TimeShare {
  readonly #share: number
  #last: Promise<unknown> = Promise.resolve()

  /** `share` is how much of the time the work may take: 0.25 is a quarter. */
  constructor(share: number) {
    this.#share = share
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const before = this.#last
    this.#last = isOver
    await before
    const started = performance.now()
    try {
      return await work()
    } finally {
      const spent = performance.now() - started
      pause(spent / this.#share - spent).then(end)
    }
  }
}
