import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { MigrationPatience, MigrationSession, Transaction } from '../database.ts'
import type { ConnectionConfig } from '../hosts/host-connections.ts'

/** Any number, as long as every migrating process uses the same one. */
const migrationLock = 7_305_921
/** The longest timer: building an index may take any time. */
const noTimeout = 2 ** 31 - 1
/** Milliseconds until the lock is tried again. */
const lockPause = 100

interface MigratingParts {
  /** For connections of its own: it holds one while others do the work, and a pool may have a single one. */
  readonly connection: ConnectionConfig
  /** Runs a script in a transaction of the pool, without a limit of time. */
  readonly runForLong: (tx: Transaction, text: string) => Promise<void>
  readonly patience: MigrationPatience
  /** Whether a pooler may run each transaction in another session: then nothing is set for a session. */
  readonly isPooled: boolean
}

/** Runs the work of a migration while every other process that wants to migrate waits, also one of an earlier version. */
export async function migrateAlone<T>(
  { connection, runForLong, patience, isPooled }: MigratingParts,
  work: (session: MigrationSession) => Promise<T>,
): Promise<T> {
  return withClient(connection, async (holder) => {
    await lockAlone(holder)
    const session: MigrationSession = {
      async begin(tx) {
        // One that lost its connection, and with it the lock of all migrations, waits here, and finds what another one has done.
        const lockSchema = 'LOCK TABLE schema_migrations IN SHARE ROW EXCLUSIVE MODE'
        const exists = `to_regclass('schema_migrations') IS NOT NULL`
        await runForLong(
          tx,
          `SET LOCAL lock_timeout = ${patience.lockTimeout}; DO $$ BEGIN IF ${exists} THEN ${lockSchema}; END IF; END $$`,
        )
      },
      live: {
        buildIndex: (name, statement) =>
          withClient(connection, async (client) => {
            // The URL, the user or the database may have limits, which would break it off each time.
            if (!isPooled) await client.query('SET statement_timeout = 0; SET lock_timeout = 0')
            await dropBroken(client, name)
            await client.query(statement)
          }),
        describeObstacle: () => describeOldest(holder),
        async pause() {
          await wait(patience.pause)
        },
      },
    }
    return work(session)
  })
}

/**
 * Holds the lock in a transaction, because behind a transaction pooler nothing else is held. A statement that waits has a snapshot, and an
 * index is built only when older snapshots are gone: whoever waited for the lock would keep its owner from ever finishing an index. So this
 * begins transactions until one gets the lock at once, and that one is idle.
 */
async function lockAlone(holder: pg.Client): Promise<void> {
  for (;;) {
    await holder.query('BEGIN')
    await holder.query('SET LOCAL idle_in_transaction_session_timeout = 0')
    const { rows } = await holder.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${migrationLock}) AS locked`,
    )
    if (rows[0]?.locked) return
    await holder.query('ROLLBACK')
    await wait(lockPause)
  }
}

async function withClient<T>(connection: ConnectionConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new connection.Client({ ...connection, query_timeout: noTimeout })
  // What waits for it hears of a broken connection; an error without a listener would end the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    // Ends its transaction too.
    await client.end()
  }
}

/** What was broken off leaves an index that is kept up to date and never used. */
async function dropBroken(client: pg.Client, name: string): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid',
    [name],
  )
  if (rowCount !== 0) await client.query(`DROP INDEX CONCURRENTLY ${client.escapeIdentifier(name)}`)
}

/** The transaction that has been open for the longest time: most often it has the lock. */
async function describeOldest(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; name: string; state: string; seconds: string }>(
    `SELECT pid, application_name AS name, state, round(extract(epoch FROM clock_timestamp() - xact_start)) AS seconds
     FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
     ORDER BY xact_start LIMIT 1`,
  )
  const [oldest] = rows
  if (!oldest) return 'a lock was not released in time'
  const { pid, name, state, seconds } = oldest
  return `a lock was not released in time; the oldest transaction is of ${name || 'a session without a name'} (pid ${pid}, ${state}, ${seconds} s)`
}
