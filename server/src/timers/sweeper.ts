import type { Log } from '../base/log/log.ts'
import { type ClockTrust, fullTrust } from '../base/time/clock-trust.ts'
import { longestStep, rest, type Walk, walkInSteps } from '../base/walk.ts'
import { Loop } from '../base/work/loop.ts'
import type { Database, Transaction } from '../db/database.ts'

export interface SweeperDeps {
  readonly database: Database
  readonly log: Log
  /** By default the clock is relied on. */
  readonly trust?: ClockTrust | undefined
}

export interface SweeperOptions {
  readonly sweep: () => Promise<void>
  /** Milliseconds from one sweep to the next. */
  readonly every: number
  /** The log line of a sweep that failed. */
  readonly failure: string
}

/** Removes some rows and returns how many; 0 when none is left. */
type Removal = (tx: Transaction) => Promise<number>

/**
 * What the removal of old rows has in common everywhere: it runs at intervals and only while the clock can be relied on, in steps so
 * small that nothing else has to wait for them, and overwrites what it deletes.
 */
export class Sweeper {
  readonly #database: Database
  readonly #trust: ClockTrust
  readonly #loop: Loop
  #hasWiped = false

  constructor({ database, log, trust = fullTrust }: SweeperDeps, { sweep, every, failure }: SweeperOptions) {
    this.#database = database
    this.#trust = trust
    this.#loop = new Loop({
      work: sweep,
      pause: 0,
      every,
      onFailure: (error) => {
        if (!database.outageOf(error)) log.error({ err: error }, failure)
      },
    })
  }

  start(): void {
    this.#loop.start()
  }

  /** Sweeps once more after a delay that is shorter than the interval. */
  wakeIn(milliseconds: number): void {
    this.#loop.wakeIn(milliseconds)
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
  }

  isStopped(): boolean {
    return this.#loop.isStopped || !this.#trust.mayDelete()
  }

  /** Runs every part, also after one that fails, and throws the first failure at the end. Without a database it ends at once. */
  async run(parts: readonly (() => Promise<void>)[]): Promise<void> {
    const failures: Error[] = []
    for (const part of parts) {
      await part().catch((error: Error) => {
        if (this.#database.outageOf(error) === 'unreachable') throw error
        failures.push(error)
      })
    }
    if (this.#hasWiped) {
      await this.#database.emptyLog()
      this.#hasWiped = false
    }
    const [first] = failures
    if (first) throw first
  }

  /** Removes until nothing is left. */
  async inSteps(remove: Removal): Promise<void> {
    while (!this.isStopped()) {
      const started = performance.now()
      const removed = await this.#database.transaction(remove, { wipes: true })
      if (removed === 0) return
      this.#hasWiped = true
      await rest(started)
    }
  }

  /** Walks through all rows, also those that stay. */
  async walk<Row>(walk: Omit<Walk<Row>, 'isStopped' | 'longest'>): Promise<void> {
    await walkInSteps({ ...walk, longest: longestStep, isStopped: () => this.isStopped() })
  }

  /** A transaction that overwrites in the file of an embedded store what it deletes. */
  wipe<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    this.#hasWiped = true
    return this.#database.transaction(work, { wipes: true })
  }
}
