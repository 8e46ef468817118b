import { Pace } from './pace.ts'

export interface LoopOptions {
  readonly work: () => Promise<void>
  /** Milliseconds between two runs at least. */
  readonly pause: number
  /** Milliseconds between two runs at most, from `start` on; left out: it runs only when it is woken. */
  readonly every?: number
  readonly onFailure: (error: Error) => void
}

/**
 * The skeleton of every worker: work that is done when it is asked for, one run at a time. What is asked for during a run is done
 * in the next one, and runs keep a distance, so that what is asked for many times in a moment is done once. A failed run is not
 * repeated by itself.
 */
export class Loop {
  readonly #options: LoopOptions
  readonly #pace: Pace
  #interval: NodeJS.Timeout | undefined
  #alarm: { readonly at: number; readonly timer: NodeJS.Timeout } | undefined
  #isWanted = false
  #running: Promise<void> | undefined
  #isStopped = false

  constructor(options: LoopOptions) {
    this.#options = options
    this.#pace = new Pace(options.pause)
  }

  /** From now on it runs every so often without being woken. */
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

  /** Wakes it without the distance to the last run. */
  wakeAtOnce(): void {
    this.#pace.hurry()
    this.wake()
  }

  /** Wakes it after so long, unless it is woken before that; what comes after its next run by itself waits for that. */
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

  /** Resolves when nothing is wanted any more. */
  async settle(): Promise<void> {
    while (this.#running) {
      this.#pace.hurry()
      await this.#running
    }
  }

  /** Finishes the run that goes on, and begins none. */
  async stop(): Promise<void> {
    clearInterval(this.#interval)
    clearTimeout(this.#alarm?.timer)
    this.#isStopped = true
    this.#isWanted = false
    this.#pace.hurry()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      await this.#pace.next()
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
