import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Transaction, TransactionOptions } from './database.ts'
import { DueNotes } from './due.ts'

/** The connection that writes, as far as transactions need it. */
export interface Writer {
  /** Waits until no other process writes, and begins. */
  begin(): Promise<void>
  execute(statement: string): unknown
  isTransactionOpen(): boolean
}

interface Job extends TransactionOptions {
  readonly work: (tx: Transaction) => Promise<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

/** So that the first of a group does not wait for too many others. */
const maxGroup = 64

/**
 * Runs transactions one after the other, and commits those together that wait at the same moment: bringing a commit to the disk
 * costs far more than what most of them do. Each is still all or nothing by itself: what one of them throws undoes its own
 * work alone, behind a savepoint. None is answered before it is on the disk.
 */
export class WriteQueue {
  readonly #writer: Writer
  readonly #tx: Transaction
  /** What the transaction that runs makes due, and what the group does as far as it stands. */
  readonly #due: DueNotes
  readonly #groupDue = new DueNotes()
  readonly #onCommit: (due: DueNotes) => void
  readonly #jobs: Job[] = []
  #draining: Promise<void> | undefined

  constructor(writer: Writer, tx: Transaction, due: DueNotes, onCommit: (due: DueNotes) => void) {
    this.#writer = writer
    this.#tx = tx
    this.#due = due
    this.#onCommit = onCommit
  }

  run<T>(work: (tx: Transaction) => Promise<T>, { alone = false }: TransactionOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({ work, alone, resolve, reject })
      this.#draining ??= this.#drain()
    })
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    await this.#draining
  }

  async #drain(): Promise<void> {
    do {
      // Requests that came in together are read in one turn of the loop; then they are all here.
      await nextTurn()
      await this.#runGroup()
    } while (this.#jobs.length > 0)
    this.#draining = undefined
  }

  async #runGroup(): Promise<void> {
    const done: { readonly job: Job; readonly result: unknown }[] = []
    const first = this.#jobs.shift() as Job
    this.#groupDue.clear()
    try {
      await this.#writer.begin()
      done.push({ job: first, result: await this.#run(first) })
    } catch (error) {
      this.#undo()
      first.reject(error)
      return
    }
    try {
      while (!first.alone && this.#jobs[0]?.alone === false && done.length < maxGroup) {
        const job = this.#jobs.shift() as Job
        const result = await this.#runBehindSavepoint(job)
        if (result) done.push({ job, result: result.value })
      }
      this.#writer.execute('COMMIT')
    } catch (error) {
      this.#undo()
      for (const { job } of done) job.reject(error)
      return
    }
    this.#onCommit(this.#groupDue)
    for (const { job, result } of done) job.resolve(result as never)
  }

  async #run(job: Job): Promise<unknown> {
    this.#due.clear()
    const value = await job.work(this.#tx)
    this.#due.addTo(this.#groupDue)
    return value
  }

  /** Undefined when the job failed and nothing of it is left. Throws when nothing of the whole group is left. */
  async #runBehindSavepoint(job: Job): Promise<{ value: unknown } | undefined> {
    try {
      this.#writer.execute('SAVEPOINT job')
      const value = await this.#run(job)
      this.#writer.execute('RELEASE job')
      return { value }
    } catch (error) {
      job.reject(error)
      // A full disk, say, has ended the transaction that the others are in.
      if (!this.#writer.isTransactionOpen()) throw error
      this.#writer.execute('ROLLBACK TO job')
      this.#writer.execute('RELEASE job')
      return undefined
    }
  }

  /** A commit that failed may have ended the transaction already. What makes this fail makes the next transaction fail, and is told by it. */
  #undo(): void {
    try {
      if (this.#writer.isTransactionOpen()) this.#writer.execute('ROLLBACK')
    } catch {
      // Thrown from here it would end the queue, and everybody behind would wait for ever.
    }
  }
}
