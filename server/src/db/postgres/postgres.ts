import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { KeyRing } from '../../base/keys/key-ring.ts'
import { WorkGroups } from '../../base/work/work-groups.ts'
import { StoredCounters } from '../counters.ts'
import {
  type Cause,
  type Database,
  DatabaseBusy,
  DatabaseSilent,
  DatabaseUnavailable,
  type Db,
  type Outage,
  ownFairnessKey,
  type Transaction,
  type TransactionOptions,
} from '../database.ts'
import { DueListeners, DueNotes } from '../due-work.ts'
import { FairSemaphore } from '../fair-semaphore.ts'
import { freezeDeep } from '../freeze.ts'
import { parseDatabaseUrl } from '../hosts/database-url.ts'
import { type ConnectionConfig, HostConnections } from '../hosts/host-connections.ts'
import { NoSuitableHost, TakesNoWrites } from '../hosts/host-locator.ts'
import { noNotifications, openNotifications } from '../notifications.ts'
import type { Statement } from '../statement.ts'
import { type NamedQuery, parserOf, type StatementResult, sendAlone } from './batch.ts'
import { type GroupedWork, GroupTransaction } from './group-transaction.ts'
import { LivenessProbe } from './liveness-probe.ts'
import { migrateAlone } from './migrating.ts'
import { MustRunAgain, PipelinedTransaction } from './pipelined-transaction.ts'
import { isOutdated, PostgresStatements } from './postgres-statements.ts'
import { PostgresTransaction, type TransactionPipeline } from './postgres-transaction.ts'
import { type Reader, SharedReader } from './shared-reader.ts'

/**
 * PostgreSQL compiles a statement whose estimated cost is high, at each execution. Ours touch few rows, whatever a plan for a
 * parameter that is not known says: compiling one took 3 s where running it takes 10 ms.
 */
const noJit = 'jit = off'
/** Serialization failure and deadlock: PostgreSQL asks for the transaction to be run again. */
const retryCodes = new Set(['40001', '40P01'])
const maxTries = 5
/** A lock that was not released in time. */
const lockedCode = '55P03'
/** A statement that PostgreSQL ended at its time limit. */
const cancelledCode = '57014'
const tooManyConnectionsCode = '53300'
/** A read-only server, for example a primary that has become a standby. */
const readOnlyCode = '25006'
/** The second one is a full disk. */
const unwritableCodes = new Set([readOnlyCode, '53100'])
/** Shutting down, starting, too many connections or none to this database, and errors of the connection itself. */
const unreachableCodes =
  /^(08...|25P0[34]|28...|3D000|53300|55000|57P0[1-5]|E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN))$/
/** The driver has no codes for these. */
const unreachableMessages =
  /^(Connection terminated|timeout (exceeded when trying to connect|expired)|Query read timeout|Client has encountered a connection error)/
const missingPassword = /^SASL: .*client password must be a/
/** So that a readiness check does not wait longer. */
const pingTimeout = 5000
/** How long a new connection may take at least. */
const minConnectTimeout = 5000
/** How long a database is waited for that may be gone. */
const probeTimeout = 1000
/** By how much PostgreSQL ends a statement before its connection is dropped: then the connection is still good. */
const leadOfServer = 0.9
/** The longest timer: a migration may take any time. */
const noTimeout = 2 ** 31 - 1
/** Rewriting a table waits for all its users and blocks all others meanwhile, so it waits briefly and retries. */
const rewriteLockTimeout = '500ms'
/** Each a tenth of a second after the one before it. */
const snapshotTries = 300
const rewriteTries = 20
const lockNotAvailable = '55P03'

/** PostgreSQL ends a transaction that is silent for so long (its process is paused or cut off), and releases its locks. */
const minIdleTimeout = 10_000
/** A transaction waits this many times longer for a connection than for a lock. */
const connectionWaitInLockTimeouts = 2
/** How long, in milliseconds, a group of transactions waits for a lock that only one of them may need. */
const groupLockTimeout = 250
/** How many transactions of one app may wait for a connection. */
const maxWaiting = 1000
/** With fewer connections none is kept for operators and health. */
const smallestWithReserve = 5

export interface PostgresOptions {
  readonly url: string
  readonly maxConnections: number
  /** Milliseconds for the response to a statement; then its connection is dropped. */
  readonly timeout: number
  /** Milliseconds that a statement of a transaction waits for a lock. */
  readonly lockTimeout: number
  /** Whether a pooler gives each transaction whatever connection is free: then nothing outlives a transaction. */
  readonly isPooled: boolean
  /** Called for idle connections that break; the pool replaces them by itself. */
  readonly onIdleError: (error: Error) => void
  /** Called with a fault of our own that no caller gets. */
  readonly onFault: (error: unknown, message: string) => void
  /** Called when another one of several hosts takes writes. */
  readonly onMoved: (host: string) => void
}

/** PostgreSQL, for any number of server processes. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { maxConnections, timeout, onIdleError, onFault, onMoved, isPooled } = options
  const { connectionString, choice } = parseDatabaseUrl(options.url)
  const onLateError = (error: unknown) => onFault(error, 'a write was stored, but what came with it could not be read')
  const onListenerError = (error: Error) => onFault(error, 'a notification of another process could not be used')
  const lockTimeout = Math.min(options.lockTimeout, timeout)
  // Where locks may take long, the machine of the database is a slow one.
  const connectTimeout = Math.min(timeout, Math.max(minConnectTimeout, lockTimeout / 2))
  const config: pg.ClientConfig = {
    connectionString,
    connectionTimeoutMillis: connectTimeout,
    // Without it, a machine that vanished would be waited for until the system's own timeout: a quarter of an hour.
    query_timeout: timeout,
    application_name: 'switchboard',
    types: { getTypeParser: parserOf },
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
  const hosts = choice && new HostConnections({ config, choice, timeout: connectTimeout, onMoved })
  const connection: ConnectionConfig = { ...config, Client: hosts?.Client ?? pg.Client }
  const idleTimeout = `idle_in_transaction_session_timeout = ${Math.max(timeout, minIdleTimeout)}`
  // A connection that is dropped does not end what runs on it: the server would go on, and nobody would see it any more.
  const statementTimeout = Math.ceil(timeout * leadOfServer)
  const ownStatementTimeout = `statement_timeout = ${statementTimeout}`
  // By a statement, not by a parameter of the start: a session pooler would refuse that, and the URL may have options of its own.
  const prepareSession: PrepareSession = isPooled
    ? undefined
    : async (client) => void (await client.query(`SET ${noJit}; SET ${idleTimeout}; SET ${ownStatementTimeout}`))
  const settings = isPooled
    ? { text: `SELECT set_config('jit', 'off', TRUE), set_config('statement_timeout', '${statementTimeout}', TRUE)` }
    : undefined
  const probe = new LivenessProbe(() => probeOnOwnConnection(connection, prepareSession))
  // One connection is for look-ups and health, and one of the others for lists: neither ever waits for writers.
  const hasReserve = maxConnections >= smallestWithReserve
  const poolSize = Math.max(1, maxConnections - (hasReserve ? 2 : 1))
  const pool = new pg.Pool({
    ...connection,
    max: poolSize,
    pipeline: !isPooled,
    ...(prepareSession && { onConnect: prepareSession }),
  })
  const pooled = readerOf(pool, probe, settings)
  const shared = new SharedReader(connection, pooled, { probe, onBroken: onIdleError, prepareSession, settings })
  const semaphore = new FairSemaphore({
    slots: Math.max(1, poolSize - 1),
    timeoutMs: connectionWaitInLockTimeouts * lockTimeout,
    maxWaiting,
    classifyTimeout: (message, milliseconds) => probe.classifyTimeout(message, milliseconds),
  })
  // In each transaction: reads wait for as long as their response may take, and a pooler may use a different connection for each.
  const setInSession = [
    { name: 'idle_timeout', text: `SET LOCAL ${idleTimeout}` },
    { name: 'no_jit', text: `SET LOCAL ${noJit}` },
    { name: 'statement_timeout', text: `SET LOCAL ${ownStatementTimeout}` },
  ]
  const makeBegin = (name: string, text: string, milliseconds: number): readonly NamedQuery[] => [
    { name, text },
    { name: `lock_timeout_${milliseconds}`, text: `SET LOCAL lock_timeout = ${milliseconds}` },
    ...(isPooled ? setInSession : []),
  ]
  const beginWrite = makeBegin('begin', 'BEGIN', lockTimeout)
  // What one of a group waits for, the others wait for too; then each is done alone.
  const beginGroup = makeBegin('begin', 'BEGIN', Math.min(lockTimeout, groupLockTimeout))
  const beginSnapshot = makeBegin('begin_snapshot', 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', lockTimeout)
  const reserve = hasReserve
    ? new pg.Pool({
        ...connection,
        max: 1,
        pipeline: !isPooled,
        ...(prepareSession && { onConnect: prepareSession }),
      })
    : undefined
  for (const connections of reserve ? [pool, reserve] : [pool]) {
    connections.on('error', onIdleError)
    connections.on('connect', (client) => {
      // A connection that breaks in use reports it twice: to the failing query, which handles it, and here, where an error without a
      // listener would end the process.
      client.on('error', () => undefined)
      probe.listenTo(client)
    })
  }
  try {
    await reach(connection)
  } catch (error) {
    hosts?.close()
    throw error
  }

  const statements = new PostgresStatements()
  const secrets = new KeyRing()
  const read = makeDb(pooled, statements, secrets, shared)
  const reserveReader = reserve && readerOf(reserve, probe, settings)
  const isFull = () => pool.idleCount === 0 && pool.totalCount >= poolSize
  const spare: Reader = { query: (query) => (reserveReader && isFull() ? reserveReader : pooled).query(query) }
  const reserved = makeDb(spare, statements, secrets)
  const listeners = new DueListeners()
  /** Whether a connection is of no more use after this error. */
  function isBroken(error: unknown): boolean {
    const isReadOnly = (error as { code?: string }).code === readOnlyCode
    if (isReadOnly) hosts?.invalidate()
    return isReadOnly || findOutage(error) === 'unreachable'
  }

  const open = (pipeline: TransactionPipeline, due: DueNotes, isCareful: boolean, cause: Cause) =>
    new PostgresTransaction({ pipeline, due, statements, secrets, isCareful }, cause)

  async function runTransaction<T>(
    work: (pipeline: PipelinedTransaction, due: DueNotes) => Promise<T>,
    fairnessKey: string,
    begin: readonly NamedQuery[],
  ): Promise<T> {
    await semaphore.acquire(fairnessKey)
    // A snapshot cannot run again, because what it has read is on its way; a statement without a name is never outdated.
    const isNamed = !isPooled && begin !== beginSnapshot
    const pipeline = new PipelinedTransaction({ connect: () => connect(pool, probe), begin, isNamed, onLateError })
    const due = new DueNotes()
    let broken: Error | undefined
    try {
      const result = await work(pipeline, due)
      await pipeline.commit()
      listeners.notify(due)
      return result
    } catch (error) {
      // A connection that does not respond would not respond to this either; when it is dropped, the server rolls back.
      if (isBroken(error)) broken = error as Error
      else {
        await pipeline.rollback().catch((rollbackError: Error) => {
          broken = rollbackError
        })
      }
      throw error
    } finally {
      pipeline.end(broken)
      semaphore.release(fairnessKey)
    }
  }

  async function runForLong(tx: Transaction, text: string): Promise<void> {
    if (!(tx instanceof PostgresTransaction)) throw new Error('the transaction is one of another database')
    await tx.runScript(`SET LOCAL statement_timeout = 0; ${text}`, noTimeout)
  }

  const transactAlone: Database['transaction'] = (work, { fairnessKey = ownFairnessKey, trace, span } = {}) =>
    retried(statements, (isCareful) =>
      runTransaction((one, due) => work(open(one, due, isCareful, { trace, span })), fairnessKey, beginWrite),
    )

  const transactTogether = (works: readonly GroupedTransaction[], fairnessKey: string) =>
    runTransaction(
      (all, due) =>
        new GroupTransaction(all, statements).run(works, ({ work, options: { trace, span } }, one) =>
          work(open(one, due, false, { trace, span })),
        ),
      fairnessKey,
      beginGroup,
    )

  const groups = new WorkGroups<GroupedTransaction, unknown>({
    doAlone: ({ work }) => transactAlone(work.work, work.options),
    doTogether: transactTogether,
    isOutage: (error) => findOutage(error) !== undefined,
    makeBusy: (kind, message) => new DatabaseBusy(kind, message),
    timeoutMs: connectionWaitInLockTimeouts * lockTimeout,
  })

  const transaction: Database['transaction'] = (work, options = {}) => {
    const { holds, fairnessKey = ownFairnessKey } = options
    if (holds === undefined) return transactAlone(work, options)
    return groups.take(fairnessKey, { work: { work, options }, holds }) as ReturnType<typeof work>
  }

  return {
    product: 'PostgreSQL',
    isEmbedded: false,
    counters: new StoredCounters(transaction),
    orderedId: 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
    read,
    reserved,
    transaction,
    execute: (statement, parameters) => retried(statements, () => read.list(statement, parameters)),
    notifications: prepareSession
      ? openNotifications({ connection, pool, prepareSession, onListenerError })
      : noNotifications,
    onDue: listeners.add,
    snapshot: (work) => runTransaction((one, due) => work(open(one, due, false, {})), ownFairnessKey, beginSnapshot),
    async runScript(tx, script) {
      await runForLong(tx, script)
    },
    migrate: (patience, work) => migrateAlone({ connection, runForLong, patience, isPooled }, work),
    async emptyLog() {
      // The log belongs to the server, which recycles it.
    },
    async scrub(tables) {
      if (isPooled)
        throw new Error(
          'rewriting tables takes a session: set DATABASE_URL to PostgreSQL itself, without the pooler, and DATABASE_POOLER=none',
        )
      const client = await pool.connect()
      try {
        await client.query(`SET lock_timeout = '${rewriteLockTimeout}'; SET statement_timeout = 0`)
        await waitForOldTransactions(client)
        for (const table of tables) await rewriteTable(client, table)
      } finally {
        await client.query(`RESET lock_timeout; SET ${ownStatementTimeout}`).then(
          () => client.release(),
          (error: Error) => client.release(error),
        )
      }
    },
    async ping() {
      const query = { text: 'SELECT 1', query_timeout: pingTimeout } as pg.QueryConfig
      const pings = [shared.query(query), ...(reserveReader ? [reserveReader.query(query)] : [])]
      // The shared connection may be stuck behind a locked table, and the reserve busy with something long.
      const responded = Promise.any(pings).catch((error: AggregateError) => {
        throw error.errors[0]
      })
      const late = wait(pingTimeout, undefined, { ref: false }).then(() => {
        throw new Error('timeout expired')
      })
      await Promise.race([responded, late])
    },
    connections: () => ({
      inUse: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      max: poolSize,
      waiting: pool.waitingCount + semaphore.waiting,
    }),
    outageOf: findOutage,
    outage: () => undefined,
    async close() {
      hosts?.close()
      await Promise.all([pool.end(), reserve?.end(), shared.close()])
    },
  }
}

/** Retries when PostgreSQL asks for it, and reports a lock timeout as a busy database. */
async function retried<T>(statements: PostgresStatements, run: (isCareful: boolean) => Promise<T>): Promise<T> {
  let isCareful = false
  for (let tries = 1; ; tries++) {
    const { generation } = statements
    try {
      return await run(isCareful)
    } catch (error) {
      if (error instanceof MustRunAgain && !isCareful) {
        isCareful = true
        continue
      }
      if (isOutdated(error) && tries < maxTries) {
        statements.renew(generation)
        continue
      }
      const { code = '', message } = error as { code?: string; message?: string }
      if (code === lockedCode) throw new DatabaseBusy('locked', String(message), { cause: error })
      if (!retryCodes.has(code)) throw error
      if (tries === maxTries) throw new DatabaseBusy('locked', String(message), { cause: error })
    }
  }
}

/**
 * A rewrite keeps the rows that a transaction of before can still see, so it waits until there is none. Snapshots of this database count,
 * and running transactions of every database: between two statements a transaction has no snapshot, and new snapshots are as old as
 * the oldest running transaction of the whole server.
 */
async function waitForOldTransactions(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ xid: string }>('SELECT pg_current_xact_id() AS xid')
  for (let tries = 1; ; tries++) {
    const { rowCount } = await client.query(
      `SELECT 1 WHERE pg_snapshot_xmin(pg_current_snapshot()) <= $1::xid8 OR EXISTS (
         SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND age(backend_xmin) > age($1::xid8::xid))`,
      [rows[0]?.xid],
    )
    if (rowCount === 0) return
    if (tries === snapshotTries) throw new Error('a transaction that began before goes on for too long')
    await wait(100)
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
  if (error instanceof DatabaseSilent) return 'unreachable'
  if (error instanceof TakesNoWrites) return 'unwritable'
  if (error instanceof NoSuitableHost) return error.isReadOnly ? 'unwritable' : 'unreachable'
  if (error instanceof AggregateError) return error.errors.map(findOutage).find((kind) => kind !== undefined)
  const { code, message = '' } = error as { code?: string; message?: string }
  if (code === undefined) return unreachableMessages.test(message) ? 'unreachable' : undefined
  if (unwritableCodes.has(code)) return 'unwritable'
  if (code === cancelledCode) return 'busy'
  return unreachableCodes.test(code) ? 'unreachable' : undefined
}

class CannotHoldEveryText extends DatabaseUnavailable {
  constructor(encoding: string) {
    super(
      `the database of DATABASE_URL is encoded in ${encoding}, which does not hold every text: create one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name it there`,
    )
  }
}

interface ServerSettings {
  readonly read_only: string
  readonly encoding: string
}

const selectSettings =
  "SELECT current_setting('transaction_read_only') AS read_only, current_setting('server_encoding') AS encoding"

/**
 * By a client of its own: the pool leaves a connection open whose sign-in failed on this side, which would keep the process alive
 * until PostgreSQL closes it.
 */
async function reach(connection: ConnectionConfig): Promise<void> {
  const client = new connection.Client(connection)
  client.on('error', () => undefined)
  try {
    await client.connect()
    const [settings] = (await client.query<ServerSettings>(selectSettings)).rows
    if (settings?.read_only === 'on') throw new TakesNoWrites()
    if (settings && settings.encoding !== 'UTF8') throw new CannotHoldEveryText(settings.encoding)
  } catch (error) {
    throw error instanceof CannotHoldEveryText ? error : new DatabaseUnavailable(explainStart(error))
  } finally {
    client.end().catch(() => undefined)
  }
}

function explainStart(error: unknown): string {
  if (error instanceof TakesNoWrites) {
    return 'the database of DATABASE_URL takes no writes: it is a standby, or set to read-only; name the primary, all hosts of which one is the primary, or what leads to it, such as a proxy (deploy/haproxy-postgres.cfg)'
  }
  if (error instanceof NoSuitableHost && error.isReadOnly) {
    return `no host of DATABASE_URL takes writes: ${error.message}; name all hosts of which one is the primary`
  }
  return `cannot reach the database of DATABASE_URL: ${describe(error)}; check that it runs, and the user, the password and the name in the URL`
}

/** A refused connection to a name with several addresses is an AggregateError with an empty message. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  if (!(error instanceof Error)) return String(error)
  return missingPassword.test(error.message) ? 'it asks for a password, and the URL has none' : error.message
}

/** A connection of a pool. All of them being taken is not the same as a database that cannot be reached. */
async function connect(pool: pg.Pool, probe: LivenessProbe): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    const { max, connectionTimeoutMillis = 0 } = pool.options
    const isFull = pool.totalCount >= max && pool.idleCount === 0
    if (!isFull || !(error as Error).message.startsWith('timeout exceeded when trying to connect')) throw error
    const message = 'every connection to the database is taken'
    throw await probe.classifyTimeout(message, connectionTimeoutMillis, { cause: error })
  }
}

/** What a session begins with; undefined behind a transaction pooler, where there are none. */
type PrepareSession = ((client: pg.ClientBase) => Promise<void>) | undefined

/** Asks on a connection of its own. */
async function probeOnOwnConnection(connection: ConnectionConfig, prepareSession: PrepareSession): Promise<void> {
  const { connectionTimeoutMillis = probeTimeout, query_timeout = probeTimeout } = connection
  const client = new connection.Client({
    ...connection,
    connectionTimeoutMillis: Math.min(connectionTimeoutMillis, probeTimeout),
    query_timeout: Math.min(query_timeout, probeTimeout),
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await prepareSession?.(client)
    await client.query('SELECT 1')
  } catch (error) {
    // A database that has no connection left is there.
    if ((error as { code?: string }).code !== tooManyConnectionsCode) throw error
  } finally {
    client.end().catch(() => undefined)
  }
}

/** A pool's connections, for one statement at a time. */
function readerOf(pool: pg.Pool, probe: LivenessProbe, settings: pg.QueryConfig | undefined): Reader {
  return {
    async query(query) {
      const client = await connect(pool, probe)
      return new Promise<StatementResult>((resolve, reject) => {
        sendAlone(
          client,
          query,
          (result) => {
            client.release()
            resolve(result)
          },
          (error) => {
            client.release(error)
            reject(error)
          },
          settings,
        )
      })
    },
  }
}

type GroupedTransaction = GroupedWork<{
  readonly work: (tx: Transaction) => Promise<unknown>
  readonly options: TransactionOptions
}>

/** Look-ups of single rows use `lookUp`, all other statements `runner`. */
function makeDb(runner: Reader, statements: PostgresStatements, secrets: KeyRing, lookUp: Reader = runner): Db {
  const ask = async (reader: Reader, statement: Statement<never, unknown>, parameters: object) => {
    const { generation } = statements
    try {
      return (await reader.query(statements.prepare(statement, parameters))).rows
    } catch (error) {
      if (!isOutdated(error)) throw error
      statements.renew(generation)
      return (await reader.query(statements.prepare(statement, parameters))).rows
    }
  }
  const list = (statement: Statement<never, unknown>, parameters: object) => ask(runner, statement, parameters)
  const first = async (statement: Statement<never, unknown>, parameters: object) =>
    freezeDeep((await ask(lookUp, statement, parameters))[0])
  return {
    query: statements.buildOn((query) => runner.query(query)),
    first: first as Db['first'],
    list: list as Db['list'],
    cached: () => undefined,
    secrets,
  }
}
