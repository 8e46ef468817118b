import type { Socket } from 'node:net'
import type pg from 'pg'
import type { ConnectionConfig } from '../hosts/host-connections.ts'
import { type StatementResult, sendAlone } from './batch.ts'
import type { LivenessProbe } from './liveness-probe.ts'

/** How long the connection may be silent before other connections are used instead. */
const silenceUntilStuck = 250

interface LookUp {
  readonly query: pg.QueryConfig
  readonly resolve: (result: StatementResult | Promise<StatementResult>) => void
  readonly reject: (error: unknown) => void
}

export interface Reader {
  query(query: pg.QueryConfig): Promise<StatementResult>
}

export interface SharedReaderOptions {
  readonly probe: LivenessProbe
  readonly onBroken: (error: Error) => void
  /** What a session begins with; undefined behind a transaction pooler, which has none, and takes one batch at a time, without names. */
  readonly prepareSession: ((client: pg.Client) => Promise<void>) | undefined
  /** What is set with each statement there. */
  readonly settings?: pg.QueryConfig | undefined
}

/**
 * One connection that the look-ups of all requests share. They are pipelined: those of one turn of the event loop are sent together. A
 * look-up takes a fraction of a millisecond, so none delays the others, and none waits for the write connections. It costs Node and
 * PostgreSQL half as much as a pooled connection. If one look-up is blocked all the same (for example by a table lock), the later ones
 * use `others`.
 */
export class SharedReader implements Reader {
  readonly #config: ConnectionConfig
  readonly #others: Reader
  readonly #options: SharedReaderOptions
  #client: pg.Client | undefined
  #opening: Promise<pg.Client> | undefined
  #waiting: LookUp[] = []
  #underWay = 0
  #lastResponse = 0
  #isClosed = false

  constructor(config: ConnectionConfig, others: Reader, options: SharedReaderOptions) {
    this.#config = { ...config, pipeline: options.prepareSession !== undefined }
    this.#others = others
    this.#options = options
  }

  query(query: pg.QueryConfig): Promise<StatementResult> {
    const { promise, resolve, reject } = Promise.withResolvers<StatementResult>()
    const lookUp: LookUp = { query, resolve, reject }
    if (this.#waiting.push(lookUp) === 1) setImmediate(this.#flush)
    return promise
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const client = this.#client ?? (await this.#opening?.catch(() => undefined))
    this.#client = undefined
    await client?.end()
  }

  /** Sends everything asked for in this turn of the event loop at once. */
  readonly #flush = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    const client = this.#client
    if (client) this.#sendAll(client, waiting)
    else {
      this.#open().then(
        (opened) => this.#sendAll(opened, waiting),
        (error: unknown) => {
          for (const { reject } of waiting) reject(error)
        },
      )
    }
  }

  #sendAll(client: pg.Client, lookUps: readonly LookUp[]): void {
    if (this.#underWay === 0) this.#lastResponse = performance.now()
    else if (performance.now() - this.#lastResponse > silenceUntilStuck) {
      for (const { query, resolve } of lookUps) resolve(this.#others.query(query))
      return
    }
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    stream.cork()
    for (const lookUp of lookUps) this.#send(client, lookUp)
    stream.uncork()
  }

  #send(client: pg.Client, lookUp: LookUp): void {
    this.#underWay += 1
    const note = () => {
      this.#underWay -= 1
      this.#lastResponse = performance.now()
    }
    sendAlone(
      client,
      lookUp.query,
      (result) => {
        note()
        lookUp.resolve(result)
      },
      (error) => {
        note()
        lookUp.reject(error)
      },
      this.#options.settings,
    )
  }

  #open(): Promise<pg.Client> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #connect(): Promise<pg.Client> {
    const client = new this.#config.Client(this.#config)
    client.on('error', (error) => {
      if (this.#client === client && !this.#isClosed) this.#options.onBroken(error)
      this.#drop(client)
    })
    client.on('end', () => this.#drop(client))
    try {
      await client.connect()
      await this.#options.prepareSession?.(client)
    } catch (error) {
      client.end().catch(() => undefined)
      throw error
    }
    this.#options.probe.listenTo(client)
    this.#lastResponse = performance.now()
    if (!this.#isClosed) this.#client = client
    return client
  }

  /** The next look-up opens another connection. */
  #drop(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined
  }
}
