import { Pace } from './pace.ts'

/**
 * Work that is done when it is asked for, one run at a time: what is asked for during a run is done in the next one, and runs keep
 * a distance, so that what is asked for many times in a moment is done once. A failed run is not repeated by itself.
 */
export class Loop {
  readonly #work: () => Promise<void>
  readonly #onFailure: (error: Error) => void
  readonly #pace: Pace
  #isWanted = false
  #running: Promise<void> | undefined
  #isStopped = false

  constructor(work: () => Promise<void>, pauseMilliseconds: number, onFailure: (error: Error) => void) {
    this.#work = work
    this.#onFailure = onFailure
    this.#pace = new Pace(pauseMilliseconds)
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

  get isRunning(): boolean {
    return this.#running !== undefined
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
    this.#isStopped = true
    this.#isWanted = false
    this.#pace.hurry()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      await this.#pace.next()
      this.#isWanted = false
      try {
        await this.#work()
      } catch (error) {
        this.#isWanted = false
        this.#onFailure(error as Error)
      }
    }
  }
}
