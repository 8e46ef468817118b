import type pg from 'pg'

/** What PostgreSQL says to everything behind the statement that failed. */
const abortedCode = '25P02'
const divisionByZeroCode = '22012'

/** A statement that is parsed and planned once a connection. */
export interface NamedQuery extends pg.QueryConfig {
  readonly name: string
}

interface HeldQuery {
  readonly query: pg.QueryConfig
  /** What the transaction fails by when the query finds nothing. */
  readonly otherwise?: Error | undefined
}

/** The socket of a connection, as far as it is held back for a moment. */
export interface Corkable {
  readonly connection: { readonly stream: { cork(): void; uncork(): void } }
}

/**
 * One transaction on a pipelined connection. What nobody waits for is held back and goes out together with the next statement that somebody waits for, or
 * with COMMIT, so that most transactions take two flights: BEGIN, locks and the first read, then the writes and COMMIT. PostgreSQL does them in
 * their order, each with a snapshot of its own, and nothing behind one that failed: COMMIT then undoes everything.
 */
export class Flight {
  readonly #client: pg.PoolClient
  readonly #required = new Map<string, { readonly name: string; readonly text: string }>()
  #held: HeldQuery[] = []
  #begin = ''
  /** Whether BEGIN is `held` back, `sent`, or `done`: only then may anything be written, which would stay without it. */
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

  /** A statement whose result nobody needs. What it fails by fails the transaction. */
  run(query: pg.QueryConfig): void {
    this.#held.push({ query })
  }

  /**
   * The same for a statement that must return a row. Whether it did decides about the COMMIT that is sent with it, so the database has to find out:
   * where there is no row, it divides by zero.
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

  /** Throws, with everything undone, when any statement has failed. */
  async commit(): Promise<void> {
    // Nothing was asked of the database.
    if (this.#state === 'held' && this.#held.length === 0) return
    if (this.#state !== 'done' && this.#hasWrites()) await this.#awaitBegin()
    const { command } = await this.#send({ text: 'COMMIT' })
    if (command !== 'COMMIT') throw this.#failure ?? new Error(`a transaction ended with ${command} instead of COMMIT`)
  }

  /** Nothing, where the database does not know of the transaction. */
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

  /** All that is held back and this one, in one go. */
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

  /** What a statement failed by: what the one before it failed by, where that ended the transaction. */
  #explain(error: unknown): unknown {
    return (error as { code?: string }).code === abortedCode && this.#failure !== undefined ? this.#failure : error
  }
}

/** What would stay if there were no transaction around it. */
function isWrite({ text }: pg.QueryConfig): boolean {
  return !/^\s*(?:select|lock|with required as \(\s*select)\b/i.test(text)
}
