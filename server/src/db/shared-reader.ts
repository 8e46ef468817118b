import pg from 'pg'

/** How long the connection may be silent about what it was asked before others are asked instead. */
const silenceUntilStuck = 250

export interface Reader {
  query(query: pg.QueryConfig): Promise<pg.QueryResult>
}

/**
 * One connection that look-ups of all requests share: they are sent without waiting for the answers to those before them. A
 * look-up takes a fraction of a millisecond, so none holds up the others, and none waits for the connections that write. Node
 * and PostgreSQL spend half of what a connection from a pool takes for each. Where one look-up is held up all the same (somebody
 * has locked a whole table), those behind it go by `others`.
 */
export class SharedReader implements Reader {
  readonly #config: pg.ClientConfig
  readonly #others: Reader
  readonly #onBroken: (error: Error) => void
  #client: pg.Client | undefined
  #opening: Promise<pg.Client> | undefined
  #underWay = 0
  #lastAnswer = 0
  #isClosed = false

  constructor(config: pg.ClientConfig, others: Reader, onBroken: (error: Error) => void) {
    this.#config = { ...config, pipeline: true }
    this.#others = others
    this.#onBroken = onBroken
  }

  query(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const client = this.#client
    if (!client) return this.#open().then((opened) => this.#send(opened, query))
    if (this.#underWay === 0) this.#lastAnswer = performance.now()
    else if (performance.now() - this.#lastAnswer > silenceUntilStuck) return this.#others.query(query)
    return this.#send(client, query)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const client = this.#client ?? (await this.#opening?.catch(() => undefined))
    this.#client = undefined
    await client?.end()
  }

  #send(client: pg.Client, query: pg.QueryConfig): Promise<pg.QueryResult> {
    this.#underWay += 1
    return new Promise((resolve, reject) => {
      client.query(query, (error: Error | null, result: pg.QueryResult) => {
        this.#underWay -= 1
        this.#lastAnswer = performance.now()
        if (error) reject(error)
        else resolve(result)
      })
    })
  }

  #open(): Promise<pg.Client> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#config)
    client.on('error', (error) => {
      if (this.#client === client && !this.#isClosed) this.#onBroken(error)
      this.#drop(client)
    })
    client.on('end', () => this.#drop(client))
    try {
      await client.connect()
    } catch (error) {
      client.end().catch(() => undefined)
      throw error
    }
    this.#lastAnswer = performance.now()
    if (!this.#isClosed) this.#client = client
    return client
  }

  /** The next look-up opens another connection. */
  #drop(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined
  }
}
