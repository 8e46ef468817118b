import diagnostics from 'node:diagnostics_channel'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { KeyRing } from '../../base/keys/key-ring.ts'
import { minute } from '../../base/time/duration.ts'
import type { SqliteValue } from '../codecs.ts'
import { OwnCounters, StoredCounters } from '../counters.ts'
import { type CacheName, type Counters, type Database, DatabaseUnavailable, type Transaction } from '../database.ts'
import { DueListeners } from '../due-work.ts'
import { isUnwritableSqlite } from '../outage.ts'
import { type ReadyStatement, SqliteConnection, sqliteBusy } from './sqlite-connection.ts'
import { SqliteScope, SqliteTransaction } from './sqlite-transaction.ts'
import { WriteQueue } from './write-queue.ts'

/** How long a transaction waits for another process's (for example `./switchboard apply`) before it gives up. */
const busyPatienceMilliseconds = 30_000
const maxRememberedRows = 10_000
/** The longest cache key: ids and codes are far shorter, and a longer text was made up by a caller. */
const maxKeyCharacters = 256
const writingActions = new Set([constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE])
/** Malformed, and not a database. */
const damagedCodes = new Set([11, 26])
/** The channel on which Node reports each request before any handler sees it. */
const requestStart = 'http.server.request.start'

/**
 * The embedded store. One connection writes, one transaction after the other, so that two never interleave between awaits; another
 * reads committed data and never waits for the writer (WAL).
 */
export function openSqlite(file: string): Database {
  const secrets = new KeyRing()
  const writer = new SqliteConnection(openFile(file), secrets)
  const reader = new CommittedReader(openForReading(file), secrets)
  const listeners = new DueListeners()
  const queue = new WriteQueue(
    {
      begin: () => begin(writer),
      execute: (statement) => writer.command(statement),
      isTransactionOpen: () => writer.isTransactionOpen(),
      rollBack: () => writer.rollBack(),
      open: (cause) => {
        const scope = new SqliteScope(writer)
        return { tx: new SqliteTransaction(writer, scope, cause), scope }
      },
    },
    (committed) => {
      reader.invalidate()
      listeners.notify(committed)
    },
  )

  const transaction: Database['transaction'] = (work, options) =>
    queue.run(options?.wipes ? (tx) => wiping(writer, () => work(tx)) : work, options)

  const read = reader.db()
  return {
    product: 'SQLite file',
    isEmbedded: true,
    connections: undefined,
    counters: countersOf(transaction),
    orderedId: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    read,
    reserved: read,
    transaction,
    // One statement has no other effect.
    execute: (statement, parameters) => queue.run((one) => one.list(statement, parameters)),
    notifications: undefined,
    onDue: listeners.add,
    async snapshot(work) {
      // A separate connection: on the shared reader, everybody would see an old state meanwhile.
      const connection = new SqliteConnection(openForReading(file), secrets)
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
    async runScript(tx, script) {
      ownTransaction(tx).runScript(script)
    },
    // One transaction migrates the whole store, and whoever has it is alone.
    migrate: (_patience, work) =>
      work({
        async begin(tx) {
          // BEGIN IMMEDIATE already holds the only writer's lock.
          ownTransaction(tx).lock()
        },
        live: undefined,
      }),
    async ping() {
      reader.execute('SELECT 1')
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

function ownTransaction(tx: Transaction): SqliteTransaction {
  if (tx instanceof SqliteTransaction) return tx
  throw new Error('the transaction is one of another database')
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
  await whenFree(() => writer.begin())
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
    // The pages that writes come back to: by default there is room for a fourth of these. What is not used takes no memory.
    handle.exec('PRAGMA cache_size = -8000')
    // Pages of the log that are written over many times are then moved into the database once, not four times; the log takes 16 MB.
    handle.exec('PRAGMA wal_autocheckpoint = 4000')
    // Zeros over what is deleted, and over what is moved when pages are split, where that costs no write.
    handle.exec('PRAGMA secure_delete = FAST')
    handle.exec('PRAGMA busy_timeout = 0')
    return handle
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number }
    const advice = damagedCodes.has(errcode ?? 0)
      ? 'it is damaged, or another program made it: restore a backup, or set DATA_DIR to another folder'
      : 'set DATA_DIR to a folder that can be written'
    throw new DatabaseUnavailable(`cannot open the database file ${file}: ${message}; ${advice}`)
  }
}

/**
 * A connection that cannot write: `data_version` does not change with commits of its own, so its caches would go stale. SQLite names the
 * actions of a statement when it is prepared, also those in a script or behind `WITH`.
 */
function openForReading(file: string): DatabaseSync {
  const handle = openFile(file)
  handle.setAuthorizer((action, table) => {
    if (!writingActions.has(action)) return constants.SQLITE_OK
    throw new Error(`a read cannot write to ${table}: use Database.transaction or Database.execute`)
  })
  return handle
}

/**
 * Caches rows between commits, because reads ask for the same token, node and row again and again. The protocol: SQLite's
 * data_version changes with every commit of another connection, and reading it costs a fraction of a look-up. It is checked once in
 * each turn of the event loop, again at the first request that arrives in the turn, and after every commit of this process. A
 * request that arrives after a commit was acknowledged therefore sees that commit.
 */
class CommittedReader extends SqliteConnection {
  readonly #askVersion: StatementSync
  readonly #rows = new Map<ReadyStatement, Map<string, object | undefined>>()
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

  override firstRow(statement: ReadyStatement, parameters: readonly SqliteValue[]): object | undefined {
    if (!this.#isChecked) this.#check()
    let rows = this.#rows.get(statement)
    if (!rows) {
      rows = new Map()
      this.#rows.set(statement, rows)
    }
    const key = keyOf(parameters)
    const known = rows.get(key)
    if (known !== undefined || rows.has(key)) return known
    const kept = super.firstRow(statement, parameters)
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
