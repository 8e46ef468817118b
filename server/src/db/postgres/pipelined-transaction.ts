import type pg from 'pg'
import { TransactionEnded } from '../database.ts'
import { Batch, type BatchCallback, type NamedQuery, type StatementResult } from './batch.ts'
import { isSignal } from './signal.ts'

/** PostgreSQL's error for every statement after a failed one. */
const abortedCode = '25P02'

const noQueries: readonly NamedQuery[] = []
const commit: NamedQuery = { name: 'commit', text: 'COMMIT' }

interface HeldQuery {
  readonly query: pg.QueryConfig
  /** The transaction fails with this error when the query finds nothing. */
  readonly otherwise?: (() => Error) | undefined
  /** Takes its result. */
  readonly take?: ((result: StatementResult) => void) | undefined
}

/** Why a transaction fails that must be run again, without statements whose rows nobody awaits. */
export class MustRunAgain extends Error {
  constructor() {
    super('a transaction must run again')
  }
}

const makeMustRunAgain = () => new MustRunAgain()

export interface PipelineOptions {
  readonly connect: () => Promise<pg.PoolClient>
  readonly begin: readonly NamedQuery[]
  /** Whether names of statements mean something to the next transaction. */
  readonly isNamed: boolean
  /** Called with what somebody threw who took rows that came with the commit: the transaction is committed, and says so. */
  readonly onLateError: (error: unknown) => void
}

/**
 * One transaction on a connection. A statement without a result is held back and sent with the next one that is awaited, or with
 * COMMIT, so that a transaction that reads takes two round trips: BEGIN, locks and the first read, then the writes and COMMIT. What is sent
 * together is one batch: PostgreSQL runs its statements in order, each with a snapshot of its own, and none after a failed one. So
 * nothing is written when BEGIN fails, and nothing is committed when a write fails.
 *
 * It takes statements until it is committed or rolled back, and refuses all that come later.
 */
export class PipelinedTransaction {
  readonly #options: PipelineOptions
  #client: pg.PoolClient | undefined
  #connecting: Promise<void> | undefined
  #held: HeldQuery[] = []
  /** Whether the statements that begin it are `held` back, `sent`, `done`, or have `failed`: then there is no transaction. */
  #state: 'held' | 'sent' | 'done' | 'failed' = 'held'
  #begun: Promise<unknown> | undefined
  #failure: unknown
  /** Whether its work goes on, it is being committed, or neither. */
  #phase: 'open' | 'committing' | 'over' = 'open'

  constructor(options: PipelineOptions) {
    this.#options = options
  }

  /** Throws when its work has ended. */
  #checkOpen(): void {
    if (this.#phase !== 'open') throw new TransactionEnded()
  }

  /** The same, but rows of `defer` may still come with the commit. */
  checkNotOver(): void {
    if (this.#phase === 'over') throw new TransactionEnded()
  }

  /** A statement without a result. If it fails, the transaction fails. */
  run(query: pg.QueryConfig): void {
    this.#hold({ query })
  }

  /** The same for a statement that signals where it finds nothing. */
  require(query: pg.QueryConfig, otherwise: () => Error): void {
    this.#hold({ query, otherwise })
  }

  /** A statement whose rows nobody awaits. When it signals, the transaction must run again. */
  defer(query: pg.QueryConfig, take: (result: StatementResult) => void): void {
    this.#hold({ query, take, otherwise: makeMustRunAgain })
  }

  async query(query: pg.QueryConfig): Promise<StatementResult> {
    this.#checkOpen()
    if (!this.#client) await this.#connect()
    if (this.#state === 'sent') await this.#begun
    this.#checkOpen()
    return this.#send(query)
  }

  /** Several statements in one text, which cannot be prepared; `timeout` in milliseconds. */
  async runScript(text: string, timeout: number): Promise<void> {
    await this.query({ name: 'nothing', text: 'SELECT 1' })
    this.#checkOpen()
    await this.#client?.query({ text, query_timeout: timeout } as pg.QueryConfig)
  }

  /** Throws, with everything rolled back, when any statement failed. */
  async commit(): Promise<void> {
    this.#phase = 'committing'
    // Nothing was sent to the database.
    if (this.#state === 'held' && this.#held.length === 0) return
    if (!this.#client) await this.#connect()
    if (this.#state === 'sent') await this.#begun
    const { command } = await this.#send(commit)
    if (command !== 'COMMIT') throw this.#failure ?? new Error(`a transaction ended with ${command} instead of COMMIT`)
  }

  /** Does nothing when the database does not know of the transaction. */
  async rollback(): Promise<void> {
    this.#phase = 'over'
    if (this.#state !== 'held') await this.#client?.query('ROLLBACK')
  }

  /** Gives the connection back, also one that is still to come; with an error when it is of no more use. */
  end(broken: Error | undefined): void {
    this.#phase = 'over'
    this.#client?.release(broken)
    this.#client = undefined
  }

  #hold(held: HeldQuery): void {
    this.#checkOpen()
    this.#held.push(held)
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#options.connect().then((client) => {
      // It failed while it waited for the connection.
      if (this.#phase === 'over') client.release()
      else this.#client = client
    })
    return this.#connecting
  }

  /** Sends the held statements and this one together. */
  #send(query: pg.QueryConfig): Promise<StatementResult> {
    if (this.#state === 'failed') return Promise.reject(this.#failure)
    const begin = this.#state === 'held' ? this.#options.begin : noQueries
    if (begin.length > 0) this.#state = 'sent'
    const sent = this.#sendBatch(begin, query)
    if (begin.length > 0) this.#begun = sent.catch(() => undefined)
    return sent
  }

  #sendBatch(begin: readonly NamedQuery[], query: pg.QueryConfig): Promise<StatementResult> {
    const held = this.#held
    this.#held = []
    const queries = [...begin, ...held.map((one) => one.query), query]
    return new Promise<StatementResult>((resolve, reject) => {
      const done: BatchCallback = (failure, results) => {
        if (begin.length > 0) this.#state = results.length < begin.length ? 'failed' : 'done'
        if (failure) {
          const { otherwise } = held[failure.index - begin.length] ?? {}
          reject(this.#explain(failure.error, otherwise))
          return
        }
        const last = results[results.length - 1] as StatementResult
        const isCommitted = query === commit && last.command === 'COMMIT'
        for (const [index, { take }] of held.entries()) {
          // Caught here, because the driver would take it for one of the connection.
          try {
            take?.(results[begin.length + index] as StatementResult)
          } catch (error) {
            if (isCommitted) this.#options.onLateError(error)
            else reject(error)
          }
        }
        resolve(last)
      }
      this.#client?.query(new Batch(queries, done, this.#options.isNamed) as unknown as pg.Submittable)
    })
  }

  /** The error of a failed statement: that of the first, which has aborted the transaction. */
  #explain(error: Error, otherwise: (() => Error) | undefined): unknown {
    const reason = otherwise !== undefined && isSignal(error) ? otherwise() : error
    if ((error as { code?: string }).code === abortedCode && this.#failure !== undefined) return this.#failure
    this.#failure ??= reason
    return reason
  }
}
