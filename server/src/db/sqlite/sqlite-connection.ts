import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Kysely, SqliteAdapter, SqliteIntrospector } from 'kysely'
import type { KeyRing } from '../../base/keys/key-ring.ts'
import { encodeForSqlite, type SqliteValue, sqliteDecoder } from '../codecs.ts'
import type { CacheName, Db } from '../database.ts'
import { freezeDeep } from '../freeze.ts'
import { makeBuilders } from '../kysely-driver.ts'
import { LocklessQueryCompiler } from '../row-locks.ts'
import {
  type CompiledStatement,
  type Condition,
  compileStatement,
  type Statement,
  type StepRunner,
  type Written,
} from '../statement.ts'
import type { Tables } from '../tables.ts'

/** Prepared queries kept; bounded, because queries over lists differ by the length of the list. */
const maxPreparedQueries = 500
/**
 * The limit of a query. SQLite reads its value to plan the query, so it plans the query anew each time a value is bound; it does not do
 * so for an expression. Planning took 300 us of each read of due deliveries.
 */
const boundLimit = /\blimit \?/gi
/** What SQLite responds while another process writes. */
export const sqliteBusy = 5

type Row = Record<string, unknown>

export interface PreparedQuery {
  readonly sql: string
  readonly statement: StatementSync
  readonly columns: readonly string[]
  /** A row without values: a copy of it has all its members from the start. */
  readonly template: Row
  readonly decoders: readonly { index: number; decode: (stored: unknown) => unknown }[]
}

/** A declared statement, compiled and prepared on one connection. */
export interface ReadyStatement extends PreparedQuery {
  readonly bind: CompiledStatement<SqliteValue>['bind']
}

export class SqliteConnection {
  readonly #handle: DatabaseSync
  readonly #secrets: KeyRing
  readonly #queries = new Map<string, PreparedQuery>()
  /** Declared statements are constants: there are as many as the code has. */
  readonly #statements = new Map<unknown, ReadyStatement>()
  readonly #makeBuilder = makeBuilders({
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new LocklessQueryCompiler(),
  })
  readonly #query = this.buildOn(() => undefined)

  constructor(handle: DatabaseSync, secrets: KeyRing) {
    this.#handle = handle
    this.#secrets = secrets
  }

  execute(script: string): void {
    this.#handle.exec(script)
  }

  /** Runs a command that is used again and again, such as COMMIT. */
  command(sql: string): void {
    this.#write(this.#prepareQuery(sql), [])
  }

  /** Begins a transaction that writes; what others have committed meanwhile is seen from here on. */
  begin(): void {
    this.#handle.exec('BEGIN IMMEDIATE')
  }

  /** Rolls back, unless SQLite has done so itself, for example because the disk is full. */
  rollBack(): void {
    if (this.#handle.isTransaction) this.command('ROLLBACK')
  }

  isTransactionOpen(): boolean {
    return this.#handle.isTransaction
  }

  /** Moves the contents of the write-ahead log into the database, and empties the log. */
  emptyLog(): void {
    const result = this.#handle.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
    if (result?.['busy'] === 0) return
    throw Object.assign(new Error('somebody reads the store for long, an export perhaps'), { errcode: sqliteBusy })
  }

  db(): Db {
    return {
      query: this.#query,
      first: async (statement, parameters) => this.first(statement, parameters),
      list: async (statement, parameters) => this.list(statement, parameters),
      cached: (cacheName) => this.cached(cacheName),
      secrets: this.#secrets,
    }
  }

  /** A query builder that calls `check` before each of its queries. */
  buildOn(check: () => void): Kysely<Tables> {
    return this.#makeBuilder(async (sql, parameters) => {
      check()
      const prepared = this.#prepareQuery(sql)
      const values = parameters.map(encodeForSqlite)
      if (prepared.columns.length === 0) return { rows: [], changes: this.#write(prepared, values).changes }
      const rows = this.#listRows(prepared, values)
      return { rows, changes: rows.length }
    })
  }

  get secrets(): KeyRing {
    return this.#secrets
  }

  first<Parameters extends object, Row>(
    statement: Statement<Parameters, Row>,
    parameters: Parameters,
  ): Row | undefined {
    const ready = this.#prepare(statement)
    return this.firstRow(ready, ready.bind(parameters)) as Row | undefined
  }

  list<Parameters extends object, Row>(statement: Statement<Parameters, Row>, parameters: Parameters): Row[] {
    return this.#list(statement, parameters) as Row[]
  }

  /** Throws the error that `otherwise` makes when the statement returns no row. */
  require(statement: Statement<never, unknown>, parameters: object, otherwise: () => Error): void {
    if (this.list(statement, parameters as never).length === 0) throw otherwise()
  }

  readonly #runner: StepRunner = {
    first: (statement, parameters) => this.#list(statement as Statement<never, unknown>, parameters)[0] as never,
    list: (statement, parameters) => this.#list(statement as Statement<never, unknown>, parameters) as never,
    write: (statement, parameters) => {
      const ready = this.#prepare(statement as Statement<never, unknown>)
      return this.#write(ready, ready.bind(parameters))
    },
  }

  firstRow(ready: ReadyStatement, values: readonly SqliteValue[]): object | undefined {
    return freezeDeep(this.#listRows(ready, values)[0])
  }

  cached<Value>(_memo: CacheName<Value>): Map<string, Value> | undefined {
    return undefined
  }

  close(): void {
    this.#queries.clear()
    this.#statements.clear()
    this.#handle.close()
  }

  #list(statement: Statement<never, unknown>, parameters: object): object[] {
    if (statement.steps) return statement.steps(this.#runner, parameters as never) as object[]
    const { byRow } = statement
    if (!byRow) {
      const ready = this.#prepare(statement)
      return this.#listRows(ready, ready.bind(parameters))
    }
    if (byRow.when && !this.#isMet(byRow.when, parameters)) return []
    const ready = this.#prepare(byRow.statement as Statement<never, unknown>)
    const rows: object[] = []
    for (const values of byRow.split(parameters as never)) rows.push(...this.#listRows(ready, ready.bind(values)))
    return rows
  }

  #isMet({ statement, isMet }: Condition<never>, parameters: object): boolean {
    const [row] = this.#list(statement as Statement<never, unknown>, parameters)
    return row !== undefined && isMet(row, parameters as never)
  }

  #prepare(statement: Statement<never, unknown>): ReadyStatement {
    let ready = this.#statements.get(statement)
    if (!ready) {
      const { sql, bind } = compileStatement(this.#query, statement, encodeForSqlite)
      ready = { ...this.#prepareText(sql), bind }
      this.#statements.set(statement, ready)
    }
    return ready
  }

  #prepareQuery(sql: string): PreparedQuery {
    const known = this.#queries.get(sql)
    if (known) return known
    const prepared = this.#prepareText(sql)
    if (this.#queries.size >= maxPreparedQueries) {
      const oldest = this.#queries.keys().next().value
      if (oldest !== undefined) this.#queries.delete(oldest)
    }
    this.#queries.set(sql, prepared)
    return prepared
  }

  #prepareText(sql: string): PreparedQuery {
    const statement = this.#prepareRaw(sql)
    const columns = statement.columns()
    const decoders = columns.flatMap(({ type }, index) => {
      const decode = sqliteDecoder(type)
      return decode ? [{ index, decode }] : []
    })
    const names = columns.map(({ name }) => name)
    const template = Object.fromEntries(names.map((name) => [name, null]))
    return { sql, statement, columns: names, template, decoders }
  }

  /** The rows as objects; none of a statement that returns none. */
  #listRows(prepared: PreparedQuery, values: readonly SqliteValue[]): Row[] {
    const { columns, template, decoders } = prepared
    if (columns.length === 0) {
      this.#write(prepared, values)
      return []
    }
    const { statement } = prepared
    const stored = statement.all(...values) as unknown as unknown[][]
    if (stored.length === 0) return []
    const rows: Row[] = []
    // A table that was altered meanwhile may have more columns.
    const names = stored[0]?.length === columns.length ? columns : statement.columns().map(({ name }) => name)
    for (const row of stored) {
      for (const { index, decode } of decoders) row[index] = decode(row[index])
      const made = { ...template }
      for (let index = 0; index < names.length; index++) made[names[index] as string] = row[index]
      rows.push(made)
    }
    return rows
  }

  #write({ statement }: PreparedQuery, values: readonly SqliteValue[]): Written {
    const { changes, lastInsertRowid } = statement.run(...values)
    return { changes: Number(changes), id: Number(lastInsertRowid) }
  }

  #prepareRaw(sql: string): StatementSync {
    const statement = this.#handle.prepare(sql.replace(boundLimit, '$& + 0'))
    // The driver's own objects have no prototype, and are slow to make and to read.
    statement.setReturnArrays(true)
    return statement
  }
}
