import type { Database } from '../db/database.ts'
import { isMigrated, type Migration } from '../db/migrate.ts'
import type { Readiness } from '../graph/ports.ts'

/** Whether the store is reached and up to date. Never throws. */
export async function findReadiness(database: Database, migrations: readonly Migration[]): Promise<Readiness> {
  try {
    await database.ping()
    const migrated = await isMigrated(database, migrations)
    if (!migrated) return { reason: 'migrations are missing' }
    // Ready all the same: another process has the same store, and who takes this one out of service takes the reads away as well.
    return { reason: undefined, ...(database.outage() === 'unwritable' && { warning: 'writes are refused' }) }
  } catch (error) {
    database.outageOf(error)
    return { reason: 'the database does not answer', error: (error as Error).message }
  }
}
