import { createHash } from 'node:crypto'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import pg from 'pg'
import { encodeForPostgres, postgresNumberTypes } from './codecs.ts'
import { type Database, DatabaseUnavailable, type Db, type Transaction } from './database.ts'
import { type CompiledStatement, compileStatement, type Statement } from './statement.ts'
import type { Tables } from './tables.ts'

/** Any number will do, as long as every process that migrates uses the same one. */
const migrationLock = 7_305_921
/** Serialization failure and deadlock: PostgreSQL asks for the transaction to be run again. */
const retryCodes = new Set(['40001', '40P01'])
const maxTries = 5

type Runner = Pick<pg.Pool, 'query'> | Pick<pg.PoolClient, 'query'>

export interface PostgresOptions {
  readonly url: string
  readonly maxConnections: number
  /** Connections that break while nobody uses them are reported here; the pool replaces them by itself. */
  readonly onIdleError: (error: Error) => void
}

/** PostgreSQL, for any number of server processes. */
export async function openPostgres({ url, maxConnections, onIdleError }: PostgresOptions): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 5000,
    application_name: 'switchboard',
    types: { getTypeParser: parserOf },
  })
  pool.on('error', onIdleError)
  await reach(pool)

  const compiled: CompiledStatements = new Map()
  const read = makeDb(pool, compiled)
  const transactions = new WeakMap<pg.PoolClient, Transaction>()

  function transactionOn(client: pg.PoolClient): Transaction {
    let tx = transactions.get(client)
    if (!tx) {
      tx = Object.assign(makeDb(client, compiled), { inTransaction: true as const })
      transactions.set(client, tx)
    }
    return tx
  }

  async function runTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    let broken: Error | undefined
    try {
      await client.query('BEGIN')
      const result = await work(transactionOn(client))
      await client.query('COMMIT')
      return result
    } catch (error) {
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        broken = rollbackError
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  return {
    engine: 'postgres',
    pool,
    read,
    async transaction(work) {
      for (let tries = 1; ; tries++) {
        try {
          return await runTransaction(work)
        } catch (error) {
          if (tries === maxTries || !retryCodes.has((error as { code?: string }).code ?? '')) throw error
        }
      }
    },
    async runScript(tx, script) {
      await tx.query.executeQuery(rawQuery(script))
    },
    async lockForMigration(tx) {
      await tx.query.executeQuery(rawQuery(`SELECT pg_advisory_xact_lock(${migrationLock})`))
    },
    async ping() {
      await pool.query('SELECT 1')
    },
    async close() {
      await pool.end()
    },
  }
}

async function reach(pool: pg.Pool): Promise<void> {
  try {
    const client = await pool.connect()
    client.release()
  } catch (error) {
    await pool.end()
    throw new DatabaseUnavailable(`cannot reach the database of DATABASE_URL: ${describe(error)}`)
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

type CompiledStatements = Map<unknown, CompiledStatement & { name: string }>

function makeDb(runner: Runner, compiled: CompiledStatements): Db {
  const query = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new RunnerDriver(runner),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  const first = async (statement: Statement<never, unknown>, parameters: object) => {
    let known = compiled.get(statement)
    if (!known) {
      const fresh = compileStatement(query, statement)
      known = { ...fresh, name: createHash('sha256').update(fresh.sql).digest('hex').slice(0, 32) }
      compiled.set(statement, known)
    }
    // A named statement is parsed and planned once a connection.
    const values = known.bind(parameters).map(encodeForPostgres)
    const { rows } = await runner.query({ name: known.name, text: known.sql, values })
    return rows[0]
  }
  return { query, first: first as Db['first'], lockRows: true }
}

function rawQuery(sql: string): CompiledQuery {
  return {
    sql,
    parameters: [],
    query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
    queryId: { queryId: '' },
  }
}

/** Lets Kysely run its queries on the pool, or on one client whose transaction is managed above it. */
class RunnerDriver implements Driver {
  readonly #connection: DatabaseConnection

  constructor(runner: Runner) {
    this.#connection = {
      async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
        const { rows, rowCount } = await runner.query(sql, parameters.map(encodeForPostgres))
        return { rows: (rows ?? []) as R[], numAffectedRows: BigInt(rowCount ?? 0) }
      },
      // biome-ignore lint/correctness/useYield: streaming is not offered; lists are read page by page.
      async *streamQuery() {
        throw new Error('rows are read page by page, not streamed')
      },
    }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    throw new Error('transactions are opened with Database.transaction')
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}
