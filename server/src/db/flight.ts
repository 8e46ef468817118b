import type pg from 'pg'

/** PostgreSQL's error for every statement after a failed one. */
const abortedCode = '25P02'
const divisionByZeroCode = '22012'

/** A statement that is parsed and planned once per connection. */
export interface NamedQuery extends pg.QueryConfig {
  readonly name: string
}

interface HeldQuery {
  readonly query: pg.QueryConfig
  /** The transaction fails with this error when the query finds nothing. */
  readonly otherwise?: Error | undefined
}

/** The socket of a connection, corked for a moment. */
export interface Corkable {
  readonly connection: { readonly stream: { cork(): void; uncork(): void } }
}

/**
 * One transaction on a pipelined connection. A statement without a result is held back and sent with the next one that is awaited, or
 * with COMMIT, so that most transactions take two round trips: BEGIN, locks and the first read, then the writes and COMMIT. PostgreSQL
 * runs the statements in order, each with a snapshot of its own, and none after a failed one: COMMIT then rolls back.
 */
export class Flight {
  readonly #client: pg.PoolClient
  readonly #required = new Map<string, { readonly name: string; readonly text: string }>()
  #held: HeldQuery[] = []
  #begin = ''
  /** Whether BEGIN is `held` back, `sent`, or `done`: a write before `done` could take effect without a transaction. */
  #state: 'held' | 'sent' | 'done' = 'held'
  #begun: Promise<unknown> | undefined
  #failure: unknown

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  begin(text: string): void {
    this.#held = []
    this.#begin = text
    this.#state = 'held'
    this.#begun = undefined
    this.#failure = undefined
  }

  /** A statement without a result. If it fails, the transaction fails. */
  run(query: pg.QueryConfig): void {
    this.#held.push({ query })
  }

  /**
   * The same for a statement that must return a row. COMMIT is sent with it, so the database must decide: without a row it divides by
   * zero.
   */
  require({ name, text, values }: NamedQuery, otherwise: Error): void {
    let known = this.#required.get(name)
    if (!known) {
      const required = `WITH required AS (${text}) SELECT 1 / (CASE WHEN EXISTS (SELECT 1 FROM required) THEN 1 ELSE 0 END)`
      known = { name: `${name}_required`, text: required }
      this.#required.set(name, known)
    }
    this.#held.push({ query: { ...known, ...(values && { values }) }, otherwise })
  }

  async query(query: pg.QueryConfig): Promise<pg.QueryResult> {
    if (this.#state !== 'done' && (isWrite(query) || this.#hasWrites())) await this.#awaitBegin()
    return this.#send(query)
  }

  /** Throws, with everything rolled back, when any statement failed. */
  async commit(): Promise<void> {
    // Nothing was sent to the database.
    if (this.#state === 'held' && this.#held.length === 0) return
    if (this.#state !== 'done' && this.#hasWrites()) await this.#awaitBegin()
    const { command } = await this.#send({ text: 'COMMIT' })
    if (command !== 'COMMIT') throw this.#failure ?? new Error(`a transaction ended with ${command} instead of COMMIT`)
  }

  /** Does nothing when the database does not know of the transaction. */
  async rollback(): Promise<void> {
    if (this.#state !== 'held') await this.#client.query('ROLLBACK')
  }

  #hasWrites(): boolean {
    return this.#held.some(({ query }) => isWrite(query))
  }

  async #awaitBegin(): Promise<void> {
    if (this.#state === 'held') this.#sendBegin()
    await this.#begun
  }

  #sendBegin(): void {
    this.#state = 'sent'
    this.#begun = this.#client.query(this.#begin)
    this.#begun.then(
      () => {
        this.#state = 'done'
      },
      (error: unknown) => {
        this.#failure ??= error
      },
    )
  }

  /** Sends the held statements and this one together. */
  #send(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const { stream } = (this.#client as unknown as Corkable).connection
    return new Promise((resolve, reject) => {
      stream.cork()
      try {
        if (this.#state === 'held') this.#sendBegin()
        for (const held of this.#held.splice(0)) this.#client.query(held.query, (error) => this.#note(error, held))
        this.#client.query(query, (error: Error | null, result: pg.QueryResult) => {
          if (error) reject(this.#explain(error))
          else resolve(result)
        })
      } finally {
        stream.uncork()
      }
    })
  }

  #note(error: Error | null, { otherwise }: HeldQuery): void {
    if (!error) return
    const isMissing = otherwise !== undefined && (error as { code?: string }).code === divisionByZeroCode
    this.#failure ??= isMissing ? otherwise : error
  }

  /** The error of a statement: that of an earlier one, if it aborted the transaction. */
  #explain(error: unknown): unknown {
    return (error as { code?: string }).code === abortedCode && this.#failure !== undefined ? this.#failure : error
  }
}

/** Whether a statement would take effect without a transaction. */
function isWrite({ text }: pg.QueryConfig): boolean {
  return !/^\s*(?:select|lock|with required as \(\s*select)\b/i.test(text)
}
