import type { Database } from '../db/database.ts'
import { isMigrated, type Migration } from '../db/migrate.ts'
import type { Readiness } from '../graph/ports.ts'

/** Whether the store responds and is up to date. Never throws. */
export async function findReadiness(database: Database, migrations: readonly Migration[]): Promise<Readiness> {
  try {
    await database.ping()
    const migrated = await isMigrated(database, migrations)
    if (!migrated) return { reason: 'migrations are missing' }
    // Still ready: other processes have the same store, and taking this one out of service would stop its reads as well.
    return { reason: undefined, ...(database.outage() === 'unwritable' && { warning: 'writes are refused' }) }
  } catch (error) {
    database.outageOf(error)
    return { reason: 'the database does not answer', error: (error as Error).message }
  }
}
