import pg from 'pg'
import { postgresNumberTypes } from '../codecs.ts'

/** A statement that is parsed and planned once per connection. */
export interface NamedQuery extends pg.QueryConfig {
  readonly name: string
}

/** What one statement returned: its rows, and what PostgreSQL calls it, with the number of rows that it wrote or read. */
export interface StatementResult {
  readonly rows: Record<string, unknown>[]
  command: string
  rowCount: number
}

/** Which statement of a batch failed; the ones behind it were not run. */
interface BatchFailure {
  readonly index: number
  readonly error: Error
}

export type BatchCallback = (failure: BatchFailure | undefined, results: readonly StatementResult[]) => void

/** The columns of a statement's rows, as the database described them at its first run. */
interface Columns {
  readonly names: readonly string[]
  readonly parsers: readonly ((value: string) => unknown)[]
}

/** What a batch uses of the driver's connection. */
interface WireConnection {
  readonly stream: { cork(): void; uncork(): void }
  /** The driver's, by name: those that the database has said to be parsed. */
  readonly parsedStatements: Readonly<Record<string, string>>
  parse(query: { readonly name: string; readonly text: string }): void
  bind(config: { readonly statement: string; readonly values: readonly unknown[]; readonly valueMapper: unknown }): void
  describe(target: { readonly type: 'P' }): void
  execute(config: object): void
  sync(): void
}

const noColumns: Columns = { names: [], parsers: [] }
const noValues: readonly unknown[] = []
const portal = { type: 'P' } as const
const wholePortal = {}
/** What is known of the statements of a connection, by name. */
interface KnownStatements {
  readonly columns: Map<string, Columns>
  /** Who has sent a statement to be parsed, until the results of all of that batch are there. */
  readonly parsing: Map<string, Batch>
}

const knownStatements = new WeakMap<WireConnection, KnownStatements>()

/** The driver pipelines only what inherits from its own query; nothing of that is used. */
const DriverQuery = pg.Query as unknown as new (text: string) => object

/**
 * Statements that are sent together, with one synchronization at their end. PostgreSQL runs them in order, and none after a failed
 * one; it responds once, and a statement that ran before on the connection is neither parsed nor described again. Compared with as many
 * queries of the driver, both sides need a fraction of the system calls.
 *
 * Batches may be sent before the results of earlier ones are there, and must not depend on them. So a statement counts as parsed when the
 * database has said so; one that another batch has only sent to be parsed is sent without a name.
 */
export class Batch extends DriverQuery {
  /** The driver replaces it, to clear its timer. */
  callback: (error: Error | null, results?: readonly StatementResult[]) => void
  /** Milliseconds, instead of those of the connection. */
  query_timeout?: number
  readonly #queries: readonly pg.QueryConfig[]
  readonly #results: StatementResult[] = []
  #rows: Record<string, unknown>[] = []
  #columns: Columns | undefined
  #known: KnownStatements | undefined
  /** Under which names they were sent. */
  readonly #names: string[] = []
  #error: Error | undefined

  /** `isNamed`: whether names of statements mean something to the next transaction; behind a transaction pooler they do not. */
  constructor(queries: readonly pg.QueryConfig[], done: BatchCallback, isNamed = true) {
    super('')
    this.#queries = isNamed ? queries : queries.map(withoutName)
    this.callback = (error) => done(error ? { index: this.#results.length, error } : undefined, this.#results)
  }

  /** The statement whose result comes next: the driver notes under this name that it is parsed. */
  get name(): string | undefined {
    return this.#names[this.#results.length]
  }

  set name(_name: string | undefined) {}

  get text(): string {
    return this.#queries[this.#results.length]?.text ?? ''
  }

  set text(_text: string) {}

  submit(connection: WireConnection): null {
    let known = knownStatements.get(connection)
    if (!known) {
      known = { columns: new Map(), parsing: new Map() }
      knownStatements.set(connection, known)
    }
    this.#known = known
    connection.stream.cork()
    try {
      for (const query of this.#queries) this.#write(connection, query, known)
      connection.sync()
    } finally {
      connection.stream.uncork()
    }
    this.#begin()
    return null
  }

  #write(connection: WireConnection, query: pg.QueryConfig, { columns, parsing }: KnownStatements): void {
    const { name = '', text, values = noValues } = query
    const parser = parsing.get(name)
    const isParsed = name !== '' && (parser === this || connection.parsedStatements[name] !== undefined)
    // One that another batch is about to parse may not be there in the end, and to parse it twice would be an error.
    const statement = isParsed || parser === undefined ? name : ''
    if (!isParsed) {
      connection.parse({ name: statement, text })
      if (statement !== '') parsing.set(statement, this)
    }
    this.#names.push(statement)
    connection.bind({ statement, values, valueMapper: writeValue })
    if (name === '' || !columns.has(name)) connection.describe(portal)
    connection.execute(wholePortal)
  }

  #begin(): void {
    const { name } = this.#queries[this.#results.length] ?? {}
    this.#rows = []
    this.#columns = name === undefined ? undefined : this.#known?.columns.get(name)
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number; format: 'text' }[] }): void {
    this.#columns = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID, format }) => parserOf(dataTypeID, format)),
    }
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const { names, parsers } = this.#columns ?? noColumns
    const row: Record<string, unknown> = {}
    try {
      for (let index = 0; index < names.length; index++) {
        const value = fields[index]
        row[names[index] as string] = value == null ? null : parsers[index]?.(value)
      }
    } catch (error) {
      this.#error ??= error as Error
    }
    this.#rows.push(row)
  }

  handleCommandComplete({ text }: { text: string }): void {
    const { name } = this.#queries[this.#results.length] ?? {}
    if (name !== undefined && !this.#known?.columns.has(name)) {
      this.#known?.columns.set(name, this.#columns ?? noColumns)
    }
    const end = text.indexOf(' ')
    this.#results.push({
      rows: this.#rows,
      command: end === -1 ? text : text.slice(0, end),
      rowCount: Number(text.slice(text.lastIndexOf(' ') + 1)) || 0,
    })
    this.#begin()
  }

  handleEmptyQuery(): void {
    this.#results.push({ rows: [], command: '', rowCount: 0 })
    this.#begin()
  }

  handleReadyForQuery(): void {
    this.#endParsing()
    this.callback(this.#error ?? null, this.#results)
  }

  handleError(error: Error): void {
    this.#endParsing()
    this.callback(error)
  }

  /** The driver knows by now which ones were parsed; what stood behind a failed one was not. */
  #endParsing(): void {
    const { parsing } = this.#known ?? {}
    for (const name of this.#names) if (parsing?.get(name) === this) parsing.delete(name)
  }
}

function withoutName({ text, values }: pg.QueryConfig): pg.QueryConfig {
  return { text, ...(values && { values }) }
}

/**
 * Sends one statement, on which no other depends. Behind a transaction pooler, where nothing outlives a transaction, `settings` are sent
 * with it: a batch is a transaction.
 */
export function sendAlone(
  client: pg.Client | pg.PoolClient,
  query: pg.QueryConfig,
  resolve: (result: StatementResult) => void,
  reject: (error: Error) => void,
  settings?: pg.QueryConfig,
): void {
  const done: BatchCallback = (failure, results) => {
    if (failure) reject(failure.error)
    else resolve(results.at(-1) as StatementResult)
  }
  const batch = new Batch(settings ? [settings, query] : [query], done, settings === undefined)
  const { query_timeout } = query as { query_timeout?: number }
  if (query_timeout !== undefined) batch.query_timeout = query_timeout
  client.query(batch as unknown as pg.Submittable)
}

/** The driver writes text and bytes only. */
function writeValue(value: unknown): string | Buffer | null {
  if (typeof value === 'string') return value
  if (value == null) return null
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return String(value)
}

export function parserOf(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (postgresNumberTypes.includes(oid)) return Number
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text')
}
