import { MinInterval } from './min-interval.ts'

export interface LoopOptions {
  readonly work: () => Promise<void>
  /** The shortest time between two runs, in milliseconds. */
  readonly pause: number
  /** The longest time between two runs, in milliseconds, after `start`; by default it runs only when woken. */
  readonly every?: number
  readonly onFailure: (error: Error) => void
}

/**
 * The skeleton of every worker: work on demand, one run at a time. Requests during a run are served by the next one, and runs keep a
 * minimum distance, so that many requests in a moment cause one run. A failed run is not repeated by itself.
 */
export class Loop {
  readonly #options: LoopOptions
  readonly #minInterval: MinInterval
  #interval: NodeJS.Timeout | undefined
  #alarm: { readonly at: number; readonly timer: NodeJS.Timeout } | undefined
  #isWanted = false
  #running: Promise<void> | undefined
  #isStopped = false

  constructor(options: LoopOptions) {
    this.#options = options
    this.#minInterval = new MinInterval(options.pause)
  }

  /** From now on it also runs at intervals, without being woken. */
  start(): void {
    if (this.#options.every !== undefined) this.#interval = setInterval(() => this.wake(), this.#options.every)
  }

  wake(): void {
    if (this.#isStopped) return
    this.#isWanted = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#isWanted) this.wake()
    })
  }

  /** Wakes it without the minimum distance to the last run. */
  wakeAtOnce(): void {
    this.#minInterval.skipWait()
    this.wake()
  }

  /** Wakes it after a delay, unless it is woken earlier; a delay beyond its next interval has no effect. */
  wakeIn(milliseconds: number): void {
    if (milliseconds <= 0) this.wake()
    else if (!this.#isStopped && milliseconds < (this.#options.every ?? Number.POSITIVE_INFINITY)) {
      const at = performance.now() + milliseconds
      if (this.#alarm && this.#alarm.at <= at) return
      clearTimeout(this.#alarm?.timer)
      const ring = () => {
        this.#alarm = undefined
        this.wake()
      }
      this.#alarm = { at, timer: setTimeout(ring, milliseconds).unref() }
    }
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Resolves when no run is wanted. */
  async settle(): Promise<void> {
    while (this.#running) {
      this.#minInterval.skipWait()
      await this.#running
    }
  }

  /** Finishes the current run, and begins no other. */
  async stop(): Promise<void> {
    clearInterval(this.#interval)
    clearTimeout(this.#alarm?.timer)
    this.#isStopped = true
    this.#isWanted = false
    this.#minInterval.skipWait()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      await this.#minInterval.next()
      if (this.#isStopped) return
      this.#isWanted = false
      try {
        await this.#options.work()
      } catch (error) {
        this.#isWanted = false
        this.#options.onFailure(error as Error)
      }
    }
  }
}
