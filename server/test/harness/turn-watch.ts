/**
 * Measures the turns of the event loop of this thread in processor time, so that other processes of the machine do not count.
 * While it runs the loop never sleeps.
 */
export class TurnWatch {
  #longest = 0
  #last = 0
  #next: NodeJS.Immediate | undefined

  start(): void {
    this.#longest = 0
    this.#last = processorTime()
    this.#next = setImmediate(this.#endTurn)
  }

  /** The longest turn since the start, in milliseconds. */
  stop(): number {
    clearImmediate(this.#next)
    return this.#longest
  }

  readonly #endTurn = (): void => {
    const now = processorTime()
    this.#longest = Math.max(this.#longest, now - this.#last)
    this.#last = now
    this.#next = setImmediate(this.#endTurn)
  }
}

/** Of this thread, in milliseconds. */
export function processorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
