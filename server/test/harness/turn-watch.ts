/**
 * Measures the turns of the event loop of this thread in processor time, so that other processes of the machine do not count, nor
 * the time for which the loop sleeps.
 */
export class TurnWatch {
  #longest = 0
  #last = 0
  #next: NodeJS.Immediate | undefined

  start(): void {
    this.#longest = 0
    this.#last = processorTime()
    this.#await()
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
    this.#await()
  }

  /** Without a reference the loop runs it at the end of its turn, but sleeps as if it were not there. */
  #await(): void {
    this.#next = setImmediate(this.#endTurn).unref()
  }
}

/** What it takes to read a megabyte of small objects: the best of several times, in milliseconds. */
export function measureFixedWork(): number {
  const text = `[${Array(131_072).fill('{"a":0}').join()}]`
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 7; round++) {
    const began = processorTime()
    JSON.parse(text)
    best = Math.min(best, processorTime() - began)
  }
  return best
}

/** Of this thread, in milliseconds. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
