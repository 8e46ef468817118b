import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../base/log/log.ts'
import { second } from '../base/time/duration.ts'
import type { Database } from './database.ts'
import { watchOutages } from './outage.ts'
import { openSqlite } from './sqlite/sqlite.ts'

export interface StoreLocation {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly maxConnections: number
  /** Milliseconds for PostgreSQL to respond to a statement. */
  readonly timeout?: number
  /** Milliseconds that a statement waits for a lock, on PostgreSQL. */
  readonly lockTimeout?: number
  /** Whether a transaction pooler is in between. */
  readonly isPooled?: boolean
}

/** How long a transaction of the embedded store waits for another process's. */
const defaultTimeout = 30 * second
const defaultLockTimeout = 10 * second
const fileName = 'switchboard.db'
/** Connections that break together are logged together. */
const gatherTime = second

/** Whether there is an embedded store; the check creates nothing. */
export function hasSqliteFile({ dataDir }: Pick<StoreLocation, 'dataDir'>): boolean {
  return existsSync(join(dataDir, fileName))
}

/** Opens the configured store; the only place that chooses between the two databases. */
export async function openDatabase(location: StoreLocation, log: Log): Promise<Database> {
  return watchOutages(await open(location, log), log)
}

async function open(location: StoreLocation, log: Log): Promise<Database> {
  if (location.databaseUrl === undefined) return openSqlite(join(location.dataDir, fileName))
  // Loaded on demand: a command on the embedded store starts faster without it.
  const { openPostgres } = await import('./postgres/postgres.ts')
  return openPostgres({
    url: location.databaseUrl,
    maxConnections: location.maxConnections,
    timeout: location.timeout ?? defaultTimeout,
    lockTimeout: location.lockTimeout ?? defaultLockTimeout,
    isPooled: location.isPooled ?? false,
    onIdleError: makeReportBroken(log),
    onFault: (error, message) => log.error({ err: error }, message),
    onMoved: (host) => log.warn({ host }, 'another host of the database takes the writes: all connections go there'),
  })
}

function makeReportBroken(log: Log): (error: Error) => void {
  let connections = 0
  return ({ message }) => {
    connections += 1
    if (connections > 1) return
    const report = () => {
      log.warn({ connections, err: message }, 'idle database connections broke and are replaced')
      connections = 0
    }
    setTimeout(report, gatherTime).unref()
  }
}
