import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { Kysely, SqliteAdapter, SqliteIntrospector } from 'kysely'
import type { KeyRing } from '../base/key-ring.ts'
import { encodeForSqlite, type SqliteValue, sqliteDecoder } from './codecs.ts'
import type { CacheName, Db } from './database.ts'
import { ExecutingDriver } from './kysely-driver.ts'
import { LocklessQueryCompiler } from './row-locks.ts'
import { type CompiledStatement, compileStatement, type Statement } from './statement.ts'
import type { Tables } from './tables.ts'

/** Prepared queries kept; bounded, because queries over lists differ by the length of the list. */
const maxPreparedQueries = 500
/** What SQLite answers while another process writes. */
export const sqliteBusy = 5

type Row = Record<string, unknown>

interface PreparedQuery {
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
  readonly #query = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () =>
        new ExecutingDriver(async (sql, parameters) => {
          const prepared = this.#prepareQuery(sql)
          const values = parameters.map(encodeForSqlite)
          if (prepared.columns.length === 0) {
            return { rows: [], changes: Number(prepared.statement.run(...values).changes) }
          }
          const rows = listRows(prepared, values)
          return { rows, changes: rows.length }
        }),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new LocklessQueryCompiler(),
    },
  })

  constructor(handle: DatabaseSync, secrets: KeyRing) {
    this.#handle = handle
    this.#secrets = secrets
  }

  execute(script: string): void {
    this.#handle.exec(script)
  }

  /** Runs a command that is used again and again, such as COMMIT. */
  command(sql: string): void {
    this.#prepareQuery(sql).statement.run()
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
    const query = this.#query
    const first = async (statement: Statement<never, unknown>, parameters: object) => {
      const ready = this.#prepare(statement)
      return this.firstRow(ready, ready.bind(parameters))
    }
    const list = async (statement: Statement<never, unknown>, parameters: object) => {
      if (statement.steps) return statement.steps(db, parameters as never)
      return this.#list(statement, parameters)
    }
    const cached = <Value>(cacheName: CacheName<Value>) => this.cached(cacheName)
    const db: Db = {
      query,
      first: first as Db['first'],
      list: list as Db['list'],
      cached,
      secrets: this.#secrets,
    }
    return db
  }

  /** Runs at once: waiting gains nothing. */
  readonly runStatement = (statement: Statement<never, unknown>, parameters: object): void => {
    this.#list(statement, parameters)
  }

  readonly requireRow = (statement: Statement<never, unknown>, parameters: object, otherwise: () => Error): void => {
    const ready = this.#prepare(statement)
    if (listRows(ready, ready.bind(parameters)).length === 0) throw otherwise()
  }

  firstRow(ready: ReadyStatement, values: readonly SqliteValue[]): object | undefined {
    return listRows(ready, values)[0]
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
    const { byRow } = statement
    if (!byRow) {
      const ready = this.#prepare(statement)
      return listRows(ready, ready.bind(parameters))
    }
    if (byRow.when && this.#list(byRow.when as Statement<never, unknown>, parameters).length === 0) return []
    const ready = this.#prepare(byRow.statement as Statement<never, unknown>)
    const rows: object[] = []
    for (const values of byRow.split(parameters as never)) rows.push(...listRows(ready, ready.bind(values)))
    return rows
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
    const statement = this.#handle.prepare(sql)
    // The driver's own objects have no prototype, and are slow to make and to read.
    statement.setReturnArrays(true)
    const columns = statement.columns()
    const decoders = columns.flatMap(({ type }, index) => {
      const decode = sqliteDecoder(type)
      return decode ? [{ index, decode }] : []
    })
    const names = columns.map(({ name }) => name)
    return { statement, columns: names, template: Object.fromEntries(names.map((name) => [name, null])), decoders }
  }
}

/** The rows as objects; none of a statement that returns none. */
function listRows({ statement, columns, template, decoders }: PreparedQuery, values: readonly SqliteValue[]): Row[] {
  if (columns.length === 0) {
    statement.run(...values)
    return []
  }
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
