import type pg from 'pg'
import { Batch, type BatchCallback, type NamedQuery, type StatementResult } from './batch.ts'

/** Where a transaction is sent. */
export interface FlightConnections {
  /** A connection for a transaction of several batches. */
  readonly connect: () => Promise<pg.PoolClient>
  /** Sends a batch that is the whole transaction. */
  readonly sendAlone: (share: string, queries: readonly pg.QueryConfig[], done: BatchCallback) => void
}

/** PostgreSQL's error for every statement after a failed one. */
const abortedCode = '25P02'
const divisionByZeroCode = '22012'

const noQueries: readonly NamedQuery[] = []
const commit: NamedQuery = { name: 'commit', text: 'COMMIT' }

interface HeldQuery {
  readonly query: pg.QueryConfig
  /** The transaction fails with this error when the query finds nothing. */
  readonly otherwise?: (() => Error) | undefined
  /** Takes its rows. */
  readonly take?: ((rows: Record<string, unknown>[]) => void) | undefined
}

/** Why a transaction fails that must be run again, without statements whose rows nobody awaits. */
export class MustRunAgain extends Error {
  constructor() {
    super('a transaction must run again')
  }
}

const makeMustRunAgain = () => new MustRunAgain()

/**
 * One transaction on a connection. A statement without a result is held back and sent with the next one that is awaited, or with
 * COMMIT, so that a transaction that reads takes two round trips: BEGIN, locks and the first read, then the writes and COMMIT. What is sent
 * together is one batch: PostgreSQL runs its statements in order, each with a snapshot of its own, and none after a failed one. So
 * nothing is written when BEGIN fails, and nothing is committed when a write fails. A batch is a transaction by itself, so one that
 * needs no other batch is sent without BEGIN and COMMIT.
 */
export class Flight {
  readonly #connections: FlightConnections
  readonly #isNamed: boolean
  #client: pg.PoolClient | undefined
  #connecting: Promise<void> | undefined
  #share = ''
  readonly #required = new Map<string, { readonly name: string; readonly text: string }>()
  #held: HeldQuery[] = []
  #begin: readonly NamedQuery[] = []
  /** What comes first in a batch that is the whole transaction; undefined when it must be begun. */
  #alone: readonly NamedQuery[] | undefined
  /** Whether the statements that begin it are `held` back, `sent`, `done`, or have `failed`: then there is no transaction. */
  #state: 'held' | 'sent' | 'done' | 'failed' = 'held'
  #begun: Promise<unknown> | undefined
  #failure: unknown

  constructor(connections: FlightConnections, isNamed = true) {
    this.#connections = connections
    this.#isNamed = isNamed
  }

  /** `alone`: what comes first instead, when the transaction turns out to be one batch; by default that is begun as well. */
  begin(share: string, queries: readonly NamedQuery[], alone?: readonly NamedQuery[]): void {
    this.#share = share
    this.#client = undefined
    this.#connecting = undefined
    this.#held = []
    this.#begin = queries
    this.#alone = alone
    this.#state = 'held'
    this.#begun = undefined
    this.#failure = undefined
  }

  /** A statement without a result. If it fails, the transaction fails. */
  run(query: pg.QueryConfig): void {
    this.#held.push({ query })
  }

  /** The same for a lock; some take one only in a transaction that was begun. */
  lock(query: pg.QueryConfig): void {
    this.#alone = undefined
    this.run(query)
  }

  /**
   * The same for a statement that must return a row. COMMIT is sent with it, so the database must decide: without a row it divides by
   * zero.
   */
  require({ name, text, values }: NamedQuery, otherwise: () => Error): void {
    let known = this.#required.get(name)
    if (!known) {
      const required = `WITH required AS (${text}) SELECT 1 / (CASE WHEN EXISTS (SELECT 1 FROM required) THEN 1 ELSE 0 END)`
      known = { name: `${name}_required`, text: required }
      this.#required.set(name, known)
    }
    this.#held.push({ query: { ...known, ...(values && { values }) }, otherwise })
  }

  /** A statement whose rows nobody awaits. When it divides by zero, the transaction must run again. */
  later(query: pg.QueryConfig, take: (rows: Record<string, unknown>[]) => void): void {
    this.#held.push({ query, take, otherwise: makeMustRunAgain })
  }

  async query(query: pg.QueryConfig): Promise<StatementResult> {
    this.#connecting ??= this.#connect()
    if (!this.#client) await this.#connecting
    if (this.#state === 'sent') await this.#begun
    return this.#send(query)
  }

  /** Several statements in one text, which cannot be prepared; `timeout` in milliseconds. */
  async runScript(text: string, timeout: number): Promise<void> {
    await this.query({ name: 'nothing', text: 'SELECT 1' })
    await this.#client?.query({ text, query_timeout: timeout } as pg.QueryConfig)
  }

  /** Throws, with everything rolled back, when any statement failed. */
  async commit(): Promise<void> {
    // Nothing was sent to the database.
    if (this.#state === 'held' && this.#held.length === 0) return
    if (this.#state === 'held' && this.#alone) {
      await this.#sendBatch(this.#alone)
      return
    }
    const { command } = await this.query(commit)
    if (command !== 'COMMIT') throw this.#failure ?? new Error(`a transaction ended with ${command} instead of COMMIT`)
  }

  /** Does nothing when the database does not know of the transaction. */
  async rollback(): Promise<void> {
    if (this.#state !== 'held') await this.#client?.query('ROLLBACK')
  }

  /** Gives the connection back; with an error when it is of no more use. */
  end(broken: Error | undefined): void {
    this.#client?.release(broken)
    this.#client = undefined
  }

  async #connect(): Promise<void> {
    this.#client = await this.#connections.connect()
  }

  /** Sends the held statements and this one together. */
  #send(query: pg.QueryConfig): Promise<StatementResult> {
    if (this.#state === 'failed') return Promise.reject(this.#failure)
    const begin = this.#state === 'held' ? this.#begin : noQueries
    if (begin.length > 0) this.#state = 'sent'
    const sent = this.#sendBatch(begin, query)
    if (begin.length > 0) this.#begun = sent.catch(() => undefined)
    return sent
  }

  #sendBatch(begin: readonly NamedQuery[], query?: pg.QueryConfig): Promise<StatementResult> {
    const isBegun = query !== undefined && begin.length > 0
    const held = this.#held
    this.#held = []
    const queries = [...begin, ...held.map((one) => one.query), ...(query ? [query] : [])]
    return new Promise<StatementResult>((resolve, reject) => {
      const done: BatchCallback = (failure, results) => {
        if (isBegun) this.#state = results.length < begin.length ? 'failed' : 'done'
        if (!failure) {
          for (const [index, { take }] of held.entries()) take?.(results[begin.length + index]?.rows ?? [])
          resolve(results[results.length - 1] as StatementResult)
        } else {
          const { otherwise } = held[failure.index - begin.length] ?? {}
          reject(this.#explain(failure.error, otherwise))
        }
      }
      if (this.#client) this.#client.query(new Batch(queries, done, this.#isNamed) as unknown as pg.Submittable)
      else this.#connections.sendAlone(this.#share, queries, done)
    })
  }

  /** The error of a failed statement: that of the first, which has aborted the transaction. */
  #explain(error: Error, otherwise: (() => Error) | undefined): unknown {
    const { code } = error as { code?: string }
    const reason = otherwise !== undefined && code === divisionByZeroCode ? otherwise() : error
    if (code === abortedCode && this.#failure !== undefined) return this.#failure
    this.#failure ??= reason
    return reason
  }
}
