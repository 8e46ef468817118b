import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Cause, Transaction, TransactionOptions } from '../database.ts'
import { DueNotes } from '../due-work.ts'

/** What transactions need of the write connection. */
export interface Writer {
  /** Waits until no other process writes, and begins. */
  begin(): Promise<void>
  execute(statement: string): unknown
  isTransactionOpen(): boolean
  /** Undoes everything since it was begun, also where that is done already. */
  rollBack(): void
  /** What one job works with, until its scope ends. */
  open(cause: Cause): OpenedTransaction
}

interface OpenedTransaction {
  readonly tx: Transaction
  readonly scope: {
    readonly due: DueNotes
    /** Throws when the transaction is not open any more. */
    check(): void
    end(): void
  }
}

interface Job extends TransactionOptions {
  readonly work: (tx: Transaction) => Promise<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

/** A bound, so that the first of a group does not wait for too many others. */
const maxGroup = 64

/**
 * Runs transactions one after the other, and commits those that wait at the same moment together: a durable commit costs far more than
 * most of their work. Each is still all or nothing: an error rolls back only its own work, to a savepoint. None is answered before
 * its commit is durable.
 */
export class WriteQueue {
  readonly #writer: Writer
  readonly #onCommit: (due: DueNotes) => void
  readonly #jobs: Job[] = []
  #draining: Promise<void> | undefined

  constructor(writer: Writer, onCommit: (due: DueNotes) => void) {
    this.#writer = writer
    this.#onCommit = onCommit
  }

  run<T>(work: (tx: Transaction) => Promise<T>, { alone = false, trace, span }: TransactionOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({ work, alone, trace, span, resolve, reject })
      this.#draining ??= this.#drain()
    })
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    await this.#draining
  }

  async #drain(): Promise<void> {
    do {
      // Requests that arrived together are read in one turn of the event loop; after it, all their transactions are here.
      await nextTurn()
      await this.#runGroup()
    } while (this.#jobs.length > 0)
    this.#draining = undefined
  }

  async #runGroup(): Promise<void> {
    const done: { readonly job: Job; readonly result: unknown }[] = []
    const due = new DueNotes()
    const first = this.#jobs.shift() as Job
    try {
      await this.#writer.begin()
      done.push({ job: first, result: await this.#run(first, due) })
    } catch (error) {
      this.#undo()
      first.reject(error)
      return
    }
    try {
      while (!first.alone && this.#jobs[0]?.alone === false && done.length < maxGroup) {
        const job = this.#jobs.shift() as Job
        const result = await this.#runBehindSavepoint(job, due)
        if (result) done.push({ job, result: result.value })
      }
      this.#writer.execute('COMMIT')
    } catch (error) {
      this.#undo()
      for (const { job } of done) job.reject(error)
      return
    }
    this.#onCommit(due)
    for (const { job, result } of done) job.resolve(result as never)
  }

  async #run({ work, trace, span }: Job, groupDue: DueNotes): Promise<unknown> {
    const { tx, scope } = this.#writer.open({ trace, span })
    try {
      const value = await work(tx)
      // It may have gone on after an error with which SQLite rolled everything back.
      scope.check()
      scope.due.addTo(groupDue)
      return value
    } finally {
      // What goes on of the work would write into the next one.
      scope.end()
    }
  }

  /** Undefined when the job failed and was rolled back. Throws when the whole group was rolled back. */
  async #runBehindSavepoint(job: Job, groupDue: DueNotes): Promise<{ value: unknown } | undefined> {
    try {
      this.#writer.execute('SAVEPOINT job')
      const value = await this.#run(job, groupDue)
      this.#writer.execute('RELEASE job')
      return { value }
    } catch (error) {
      job.reject(error)
      // For example a full disk has ended the transaction that the others are in.
      if (!this.#writer.isTransactionOpen()) throw error
      this.#writer.execute('ROLLBACK TO job')
      this.#writer.execute('RELEASE job')
      return undefined
    }
  }

  /** A failure here makes the next transaction fail too, which reports it. */
  #undo(): void {
    try {
      this.#writer.rollBack()
    } catch {
      // An error thrown from here would stop the queue, and later transactions would wait for ever.
    }
  }
}
