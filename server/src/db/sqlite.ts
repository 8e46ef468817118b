import diagnostics from 'node:diagnostics_channel'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { Kysely, SqliteAdapter, SqliteIntrospector } from 'kysely'
import { minute } from '../base/duration.ts'
import { KeyRing } from '../base/key-ring.ts'
import { encodeForSqlite, sqliteDecoder } from './codecs.ts'
import { OwnCounters, StoredCounters } from './counters.ts'
import {
  type CacheName,
  type Counters,
  type Database,
  DatabaseUnavailable,
  type Db,
  type Traced,
  type Transaction,
} from './database.ts'
import { DueListeners, DueNotes } from './due.ts'
import { freezeDeep } from './freeze.ts'
import { ExecutingDriver } from './kysely-driver.ts'
import { isUnwritableSqlite } from './outage.ts'
import { LocklessQueryCompiler } from './row-locks.ts'
import { type CompiledStatement, compileStatement, type Statement } from './statement.ts'
import type { Tables } from './tables.ts'
import { WriteQueue } from './write-queue.ts'

/** Prepared statements kept; bounded, because queries over lists differ by the length of the list. */
const maxPreparedStatements = 500
/** How long a transaction waits for another process's (for example `./switchboard apply`) before it gives up. */
const busyPatienceMilliseconds = 30_000
const maxRememberedRows = 10_000
/** The longest cache key: ids and codes are far shorter, and a longer text was made up by a caller. */
const maxKeyCharacters = 256
const sqliteBusy = 5
/** The channel on which Node reports each request before any handler sees it. */
const requestStart = 'http.server.request.start'

/**
 * The embedded store. One connection writes, one transaction after the other, so that two never interleave between awaits; another
 * reads committed data and never waits for the writer (WAL).
 */
export function openSqlite(file: string): Database {
  const secrets = new KeyRing()
  const writer = new SqliteConnection(openFile(file), secrets)
  const reader = new CommittedReader(openFile(file), secrets)
  const due = new DueNotes()
  const listeners = new DueListeners()
  const tx: Traced = Object.assign(writer.db(), {
    inTransaction: true as const,
    trace: undefined,
    makeDue: due.note,
    run: writer.runStatement as Transaction['run'],
    require: writer.requireRow as Transaction['require'],
    later: undefined,
    lock() {
      // There is one writer at a time.
    },
  })
  const queue = new WriteQueue(
    {
      begin: () => begin(writer),
      execute: (statement) => writer.run(statement, []),
      isTransactionOpen: () => writer.isTransactionOpen(),
    },
    tx,
    due,
    (committed) => {
      reader.invalidate()
      listeners.notify(committed)
    },
  )

  const transaction: Database['transaction'] = (work, options) =>
    queue.run(() => {
      tx.trace = options?.trace
      return options?.wipes ? wiping(writer, () => work(tx)) : work(tx)
    }, options)

  const read = reader.db()
  return {
    product: 'SQLite file',
    isEmbedded: true,
    counters: countersOf(transaction),
    orderedId: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    read,
    reserved: read,
    transaction,
    execute: (statement, parameters) => queue.run((one) => one.list(statement, parameters)),
    notices: undefined,
    onDue: listeners.add,
    async snapshot(work) {
      // A separate connection: on the shared reader, everybody would see an old state meanwhile.
      const connection = new SqliteConnection(openFile(file), secrets)
      try {
        connection.execute('BEGIN')
        return await work(connection.db())
      } finally {
        connection.close()
      }
    },
    async emptyLog() {
      const connection = new SqliteConnection(openFile(file), secrets)
      try {
        // Whoever reads for long lets it wait for the next time.
        await whenFree(() => connection.emptyLog()).catch(() => undefined)
      } finally {
        connection.close()
      }
    },
    async scrub() {
      const connection = new SqliteConnection(openFile(file), secrets)
      try {
        // The copy that VACUUM makes may be larger than the memory.
        connection.execute('PRAGMA temp_store = FILE')
        await whenFree(() => connection.execute('VACUUM'))
        await whenFree(() => connection.emptyLog())
      } finally {
        connection.close()
      }
    },
    async runScript(_tx, script) {
      writer.execute(script)
    },
    async lockForMigration() {
      // BEGIN IMMEDIATE already holds the only writer's lock.
    },
    async ping() {
      reader.run('SELECT 1', [])
    },
    outageOf: (error) => (isUnwritableSqlite(error) ? 'unwritable' : undefined),
    outage: () => undefined,
    async close() {
      await queue.idle()
      reader.close()
      writer.close()
    },
  }
}

/** Also overwrites pages that the work frees; all the time, every delete would cost more. */
async function wiping<T>(writer: SqliteConnection, work: () => Promise<T>): Promise<T> {
  writer.execute('PRAGMA secure_delete = ON')
  try {
    return await work()
  } finally {
    writer.execute('PRAGMA secure_delete = FAST')
  }
}

async function begin(writer: SqliteConnection): Promise<void> {
  await whenFree(() => writer.execute('BEGIN IMMEDIATE'))
}

/**
 * A single process counts in memory and needs the store only to survive a restart: a window under a minute is not worth a write.
 */
function countersOf(transaction: Database['transaction']): Counters {
  const [own, stored] = [new OwnCounters(), new StoredCounters(transaction)]
  return {
    take: (window, permits, now) => (window.milliseconds < minute ? own : stored).take(window, permits, now),
    clear: () => own.clear(),
  }
}

/**
 * SQLite's own waiting would block the whole process, so the wait for another process's transaction happens here, between short
 * attempts.
 */
async function whenFree(work: () => void): Promise<void> {
  for (let waited = 0; ; waited += 10) {
    try {
      work()
      return
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== sqliteBusy || waited >= busyPatienceMilliseconds) throw error
      await wait(10)
    }
  }
}

function openFile(file: string): DatabaseSync {
  try {
    // It holds secrets: only its owner may read it. SQLite gives its companion files the same mode.
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    closeSync(openSync(file, 'a', 0o600))
    const handle = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: 0 })
    handle.exec('PRAGMA busy_timeout = 2000')
    handle.exec('PRAGMA journal_mode = WAL')
    handle.exec('PRAGMA synchronous = FULL')
    handle.exec('PRAGMA temp_store = MEMORY')
    // Zeros over what is deleted, and over what is moved when pages are split, where that costs no write.
    handle.exec('PRAGMA secure_delete = FAST')
    handle.exec('PRAGMA busy_timeout = 0')
    return handle
  } catch (error) {
    throw new DatabaseUnavailable(
      `cannot open the database file ${file}: ${(error as Error).message}; set DATA_DIR to a folder that can be written`,
    )
  }
}

interface PreparedStatement {
  readonly statement: StatementSync
  readonly returnsRows: boolean
  readonly decoders: readonly { name: string; decode: (stored: unknown) => unknown }[]
}

class SqliteConnection {
  readonly #handle: DatabaseSync
  readonly #secrets: KeyRing
  readonly #prepared = new Map<string, PreparedStatement>()
  readonly #compiled = new Map<unknown, CompiledStatement>()
  readonly #query = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new ExecutingDriver(async (sql, parameters) => this.run(sql, parameters)),
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

  isTransactionOpen(): boolean {
    return this.#handle.isTransaction
  }

  /** Moves the contents of the write-ahead log into the database, and empties the log. */
  emptyLog(): void {
    const result = this.#handle.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
    if (result?.['busy'] === 0) return
    throw Object.assign(new Error('somebody reads the store for long, an export perhaps'), { errcode: sqliteBusy })
  }

  run(sql: string, parameters: readonly unknown[]): { rows: object[]; changes: number } {
    const { statement, returnsRows, decoders } = this.#prepare(sql)
    const values = parameters.map(encodeForSqlite)
    if (!returnsRows) return { rows: [], changes: Number(statement.run(...values).changes) }
    const rows = statement.all(...values)
    for (const { name, decode } of decoders) {
      for (const row of rows as Record<string, unknown>[]) row[name] = decode(row[name])
    }
    return { rows, changes: rows.length }
  }

  db(): Db {
    const query = this.#query
    const first = async (statement: Statement<never, unknown>, parameters: object) => {
      const compiled = this.#compile(statement)
      return this.firstRow(compiled, compiled.bind(parameters))
    }
    const list = async (statement: Statement<never, unknown>, parameters: object) => {
      if (statement.steps) return statement.steps(db, parameters as never)
      return this.#listRows(statement, parameters)
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
    this.#listRows(statement, parameters)
  }

  readonly requireRow = (statement: Statement<never, unknown>, parameters: object, otherwise: () => Error): void => {
    const { sql, bind } = this.#compile(statement)
    if (this.run(sql, bind(parameters)).rows.length === 0) throw otherwise()
  }

  #listRows(statement: Statement<never, unknown>, parameters: object): object[] {
    const { byRow } = statement
    if (!byRow) {
      const { sql, bind } = this.#compile(statement)
      return this.run(sql, bind(parameters)).rows
    }
    const { sql, bind } = this.#compile(byRow.statement as Statement<never, unknown>)
    const rows: object[] = []
    for (const values of byRow.split(parameters as never)) rows.push(...this.run(sql, bind(values)).rows)
    return rows
  }

  #compile(statement: Statement<never, unknown>): CompiledStatement {
    let compiled = this.#compiled.get(statement)
    if (!compiled) {
      compiled = compileStatement(this.#query, statement)
      this.#compiled.set(statement, compiled)
    }
    return compiled
  }

  firstRow({ sql }: CompiledStatement, parameters: readonly unknown[]): object | undefined {
    return this.run(sql, parameters).rows[0]
  }

  cached<Value>(_memo: CacheName<Value>): Map<string, Value> | undefined {
    return undefined
  }

  close(): void {
    this.#prepared.clear()
    this.#handle.close()
  }

  #prepare(sql: string): PreparedStatement {
    const known = this.#prepared.get(sql)
    if (known) return known
    const statement = this.#handle.prepare(sql)
    const columns = statement.columns()
    const decoders = columns.flatMap(({ name, type }) => {
      const decode = sqliteDecoder(type)
      return decode ? [{ name, decode }] : []
    })
    const prepared = { statement, returnsRows: columns.length > 0, decoders }
    if (this.#prepared.size >= maxPreparedStatements) {
      const oldest = this.#prepared.keys().next().value
      if (oldest !== undefined) this.#prepared.delete(oldest)
    }
    this.#prepared.set(sql, prepared)
    return prepared
  }
}

/**
 * Caches rows between commits, because reads ask for the same token, node and row again and again. The protocol: SQLite's
 * data_version changes with every commit of another connection, and reading it costs a fraction of a look-up. It is checked once in
 * each turn of the event loop, again at the first request that arrives in the turn, and after every commit of this process. A
 * request that arrives after a commit was acknowledged therefore sees that commit.
 */
class CommittedReader extends SqliteConnection {
  readonly #askVersion: StatementSync
  readonly #rows = new Map<CompiledStatement, Map<string, object | undefined>>()
  readonly #derived = new Map<CacheName<unknown>, Map<string, unknown>>()
  #version: unknown
  #isChecked = false
  #hasArrivals = false
  #size = 0

  constructor(handle: DatabaseSync, secrets: KeyRing) {
    super(handle, secrets)
    this.#askVersion = handle.prepare('PRAGMA data_version')
    diagnostics.subscribe(requestStart, this.#beginRequest)
  }

  override close(): void {
    diagnostics.unsubscribe(requestStart, this.#beginRequest)
    super.close()
  }

  /** Makes the next look-up check the version: this process has committed. */
  readonly invalidate = (): void => {
    this.#isChecked = false
  }

  /**
   * Node calls this for every request to an HTTP server of this process. A turn ends after its requests are read, so a check made
   * earlier in the turn (for example by a worker) is too old for them.
   */
  readonly #beginRequest = (): void => {
    if (this.#hasArrivals) return
    this.#hasArrivals = true
    this.#isChecked = false
    setImmediate(this.#endTurn)
  }

  override firstRow(statement: CompiledStatement, parameters: readonly unknown[]): object | undefined {
    if (!this.#isChecked) this.#check()
    let rows = this.#rows.get(statement)
    if (!rows) {
      rows = new Map()
      this.#rows.set(statement, rows)
    }
    const key = keyOf(parameters)
    const known = rows.get(key)
    if (known !== undefined || rows.has(key)) return known
    const row = super.firstRow(statement, parameters)
    // A plain object, because the driver's objects have no prototype and are slow to read.
    const kept = row === undefined ? undefined : freezeDeep({ ...row })
    if (key.length <= maxKeyCharacters) {
      rows.set(copyText(key), kept)
      this.#size += 1
    }
    return kept
  }

  override cached<Value>(cacheName: CacheName<Value>): Map<string, Value> {
    if (!this.#isChecked) this.#check()
    let values = this.#derived.get(cacheName)
    // A commit replaces the map: values still being computed from older rows go into the old one, unseen.
    if (!values || values.size >= maxRememberedRows) {
      values = new Map()
      this.#derived.set(cacheName, values)
    }
    return values as Map<string, Value>
  }

  readonly #endTurn = (): void => {
    this.#hasArrivals = false
    this.invalidate()
  }

  #check(): void {
    const version = this.#askVersion.get()?.['data_version']
    if (version !== this.#version || this.#size >= maxRememberedRows) {
      this.#version = version
      this.#size = 0
      this.#rows.clear()
      this.#derived.clear()
    }
    this.#isChecked = true
    if (!this.#hasArrivals) setImmediate(this.#endTurn)
  }
}

function keyOf(parameters: readonly unknown[]): string {
  switch (parameters.length) {
    case 1:
      return String(parameters[0])
    case 2:
      return `${parameters[0]}\0${parameters[1]}`
    default:
      return parameters.join('\0')
  }
}

/** Copies a text: a substring keeps the whole alive, for example a code the address that it came in. */
function copyText(text: string): string {
  return Buffer.from(text).toString()
}
