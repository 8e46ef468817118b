import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import pg from 'pg'
import { KeyRing } from '../base/key-ring.ts'
import { encodeForPostgres, postgresNumberTypes } from './codecs.ts'
import { StoredCounters } from './counters.ts'
import {
  type Database,
  DatabaseBusy,
  DatabaseUnavailable,
  type Db,
  type Outage,
  ownShare,
  type Transaction,
} from './database.ts'
import { DueListeners, DueNotes } from './due.ts'
import { Flight, type NamedQuery } from './flight.ts'
import { ExecutingDriver } from './kysely-driver.ts'
import { openNotices } from './notices.ts'
import { Places } from './places.ts'
import { type Reader, SharedReader } from './shared-reader.ts'
import { type CompiledStatement, compileStatement, type Statement } from './statement.ts'
import type { Tables } from './tables.ts'

/** Any number will do, as long as every process that migrates uses the same one. */
const migrationLock = 7_305_921
/** Serialization failure and deadlock: PostgreSQL asks for the transaction to be run again. */
const retryCodes = new Set(['40001', '40P01'])
const maxTries = 5
/** A lock that was not let go in time. */
const lockedCode = '55P03'
/** A full disk, and a server that may be read alone: a standby, say. */
const unwritableCodes = new Set(['53100', '25006'])
/** Being stopped, starting, taking no more connections or none to this database, and what a connection itself breaks by. */
const unreachableCodes =
  /^(08...|25P0[34]|28...|3D000|53300|55000|57P0[1-5]|E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN))$/
/** The driver has no codes for these. */
const unreachableMessages =
  /^(Connection terminated|timeout (exceeded when trying to connect|expired)|Query read timeout|Client has encountered a connection error)/
/** So that who asks whether the service is ready does not wait for longer. */
const patienceOfPing = 5000
/** The most that a timer takes: a migration takes as long as it takes. */
const noTimeout = 2 ** 31 - 1
/** Rewriting a table waits for everybody who uses it, and makes all others wait meanwhile: it asks shortly, and again. */
const rewriteLockTimeout = '500ms'
const rewriteTries = 20
const lockNotAvailable = '55P03'

/** A transaction that the server hears nothing of for so long, and whose process is paused or cut off, lets go of its locks. */
const minIdleTimeout = 10_000
/** A transaction waits for a connection for so many times as long as for a lock. */
const patienceInLockTimeouts = 2
/** How many transactions of one app may wait for a connection. */
const maxWaiting = 1000

export interface PostgresOptions {
  readonly url: string
  readonly maxConnections: number
  /** Milliseconds for the answer to a statement; then its connection is given up. */
  readonly timeout: number
  /** Milliseconds that a statement of a transaction waits for what another one holds. */
  readonly lockTimeout: number
  /** Connections that break while nobody uses them are reported here; the pool replaces them by itself. */
  readonly onIdleError: (error: Error) => void
}

/** PostgreSQL, for any number of server processes. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, maxConnections, timeout, onIdleError } = options
  const lockTimeout = Math.min(options.lockTimeout, timeout)
  const connection: pg.ClientConfig = {
    connectionString: url,
    connectionTimeoutMillis: Math.min(timeout, patienceOfPing),
    // A machine that is gone without a word would be waited for until the system gives up its connection: a quarter of an hour.
    query_timeout: timeout,
    application_name: 'switchboard',
    types: { getTypeParser: parserOf },
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
  // Of the connections, one is for look-ups and health, and one of the others for lists: neither ever waits for writers.
  const pool = new pg.Pool({
    ...connection,
    max: Math.max(1, maxConnections - 1),
    pipeline: true,
    async onConnect(client) {
      await client.query(`SET idle_in_transaction_session_timeout = ${Math.max(timeout, minIdleTimeout)}`)
    },
  })
  const shared = new SharedReader(connection, pool, onIdleError)
  const places = new Places({
    places: Math.max(1, maxConnections - 2),
    patience: patienceInLockTimeouts * lockTimeout,
    maxWaiting,
  })
  // Within each transaction, because a pooler between may give each another connection.
  const setLockTimeout = `SET LOCAL lock_timeout = ${lockTimeout}`
  pool.on('error', onIdleError)
  // One that breaks in somebody's hands tells so twice: to the query that fails by it, who sees to it, and here, where an error
  // that nobody listened to would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  await reach(pool)

  const compiled: CompiledStatements = new Map()
  const secrets = new KeyRing()
  const { db: read } = makeDb(pool, compiled, secrets, shared)
  const transactions = new WeakMap<pg.PoolClient, OpenTransaction>()
  const flights = new WeakMap<Transaction, Flight>()
  const listeners = new DueListeners()

  function transactionOn(client: pg.PoolClient): OpenTransaction {
    let known = transactions.get(client)
    if (!known) {
      const [flight, due] = [new Flight(client), new DueNotes()]
      const { db, prepare } = makeDb(flight, compiled, secrets)
      const run = (statement: Statement<never, unknown>, parameters: object) =>
        flight.run(prepare(statement, parameters))
      const require = (statement: Statement<never, unknown>, parameters: object, otherwise: Error) =>
        flight.require(prepare(statement, parameters), otherwise)
      const tx: Transaction = {
        ...db,
        inTransaction: true as const,
        makeDue: due.note,
        run: run as Transaction['run'],
        require: require as Transaction['require'],
        lock: run as Transaction['lock'],
      }
      known = { tx, flight, due }
      transactions.set(client, known)
      flights.set(tx, flight)
    }
    known.due.clear()
    return known
  }

  async function runInPlace<T>(work: (tx: Transaction) => Promise<T>, share: string, begin = 'BEGIN'): Promise<T> {
    await places.enter(share)
    try {
      return await runTransaction(work, `${begin}; ${setLockTimeout}`)
    } finally {
      places.leave(share)
    }
  }

  async function runTransaction<T>(work: (tx: Transaction) => Promise<T>, begin: string): Promise<T> {
    const client = await pool.connect()
    const { tx, flight, due } = transactionOn(client)
    let broken: Error | undefined
    try {
      flight.begin(begin)
      const result = await work(tx)
      await flight.commit()
      listeners.tell(due)
      return result
    } catch (error) {
      // One that does not answer would not answer to this either; given up, it is rolled back by the server.
      if (findOutage(error) === 'unreachable') broken = error as Error
      else {
        await flight.rollback().catch((rollbackError: Error) => {
          broken = rollbackError
        })
      }
      throw error
    } finally {
      client.release(broken)
    }
  }

  async function runForLong(tx: Transaction, text: string): Promise<void> {
    await flights.get(tx)?.query({ text, query_timeout: noTimeout } as pg.QueryConfig)
  }

  const transaction: Database['transaction'] = (work, { share = ownShare } = {}) =>
    retried(() => runInPlace(work, share))

  return {
    product: 'PostgreSQL',
    isEmbedded: false,
    counters: new StoredCounters(transaction),
    orderedId: 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
    read,
    transaction,
    execute: (statement, parameters) => retried(() => read.list(statement, parameters)),
    notices: openNotices(url, pool),
    onDue: listeners.add,
    snapshot: (work) => runInPlace(work, ownShare, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    async runScript(tx, script) {
      await runForLong(tx, script)
    },
    async lockForMigration(tx) {
      await runForLong(tx, `SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(${migrationLock})`)
    },
    async scrub(tables) {
      const client = await pool.connect()
      try {
        await client.query(`SET lock_timeout = '${rewriteLockTimeout}'`)
        for (const table of tables) await rewriteTable(client, table)
      } finally {
        await client.query('RESET lock_timeout').then(
          () => client.release(),
          (error: Error) => client.release(error),
        )
      }
    },
    async ping() {
      await shared.query({ text: 'SELECT 1', query_timeout: patienceOfPing } as pg.QueryConfig)
    },
    outageOf: findOutage,
    outage: () => undefined,
    async close() {
      await Promise.all([pool.end(), shared.close()])
    },
  }
}

/** Runs what PostgreSQL asks to be run again, and says of what it gave up for another's lock that the database is busy. */
async function retried<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run()
    } catch (error) {
      const { code = '', message } = error as { code?: string; message?: string }
      if (code === lockedCode) throw new DatabaseBusy('locked', String(message), { cause: error })
      if (!retryCodes.has(code)) throw error
      if (tries === maxTries) throw new DatabaseBusy('locked', String(message), { cause: error })
    }
  }
}

/** A plain VACUUM would leave the bytes of old rows in their pages. */
async function rewriteTable(client: pg.PoolClient, table: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query({
        text: `VACUUM FULL ${client.escapeIdentifier(table)}`,
        query_timeout: noTimeout,
      } as pg.QueryConfig)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable || tries === rewriteTries) throw error
      await wait(500)
    }
  }
}

function findOutage(error: unknown): Outage | undefined {
  if (error instanceof DatabaseBusy) return 'busy'
  if (error instanceof AggregateError) return error.errors.map(findOutage).find((kind) => kind !== undefined)
  const { code, message = '' } = error as { code?: string; message?: string }
  if (code === undefined) return unreachableMessages.test(message) ? 'unreachable' : undefined
  if (unwritableCodes.has(code)) return 'unwritable'
  return unreachableCodes.test(code) ? 'unreachable' : undefined
}

async function reach(pool: pg.Pool): Promise<void> {
  try {
    const client = await pool.connect()
    client.release()
  } catch (error) {
    await pool.end()
    throw new DatabaseUnavailable(
      `cannot reach the database of DATABASE_URL: ${describe(error)}; check that it runs, and the user, the password and the name in the URL`,
    )
  }
}

/** A refused connection to a name with several addresses is an AggregateError with an empty message. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  return error instanceof Error ? error.message : String(error)
}

function parserOf(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (postgresNumberTypes.includes(oid)) return Number
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text')
}

interface OpenTransaction {
  readonly tx: Transaction
  readonly flight: Flight
  readonly due: DueNotes
}

type CompiledStatements = Map<unknown, CompiledStatement & { name: string }>

/** Look-ups of single rows go by `lookUp`, everything else by `runner`. */
function makeDb(
  runner: Reader,
  compiled: CompiledStatements,
  secrets: KeyRing,
  lookUp: Reader = runner,
): { db: Db; prepare: (statement: Statement<never, unknown>, parameters: object) => NamedQuery } {
  const query = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () =>
        new ExecutingDriver(async (text, parameters) => {
          const { rows, rowCount } = await runner.query({ text, values: parameters.map(encodeForPostgres) })
          return { rows: rows ?? [], changes: rowCount ?? 0 }
        }),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  const prepare = (statement: Statement<never, unknown>, parameters: object): NamedQuery => {
    let known = compiled.get(statement)
    if (!known) {
      const fresh = compileStatement(query, statement)
      known = { ...fresh, name: createHash('sha256').update(fresh.sql).digest('hex').slice(0, 32) }
      compiled.set(statement, known)
    }
    // A named statement is parsed and planned once a connection.
    const values = known.bind(parameters).map(encodeForPostgres)
    return { name: known.name, text: known.sql, values }
  }
  const list = async (statement: Statement<never, unknown>, parameters: object) =>
    (await runner.query(prepare(statement, parameters))).rows
  const first = async (statement: Statement<never, unknown>, parameters: object) =>
    (await lookUp.query(prepare(statement, parameters))).rows[0]
  const db: Db = {
    query,
    first: first as Db['first'],
    list: list as Db['list'],
    cached: () => undefined,
    secrets,
  }
  return { db, prepare }
}
