import { join } from 'node:path'
import type { Log } from '../base/log.ts'
import type { Database } from './database.ts'
import { openSqlite } from './sqlite.ts'

export interface StoreLocation {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly maxConnections: number
}

/** Opens the store that the settings name; the only place that chooses between the two databases. */
export async function openDatabase(location: StoreLocation, log: Log): Promise<Database> {
  if (location.databaseUrl === undefined) return openSqlite(join(location.dataDir, 'switchboard.db'))
  // Loaded only by those who use it: a command on the embedded store is done sooner without it.
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres({
    url: location.databaseUrl,
    maxConnections: location.maxConnections,
    onIdleError: (error) => log.warn({ err: error.message }, 'an idle database connection broke and is replaced'),
  })
}
