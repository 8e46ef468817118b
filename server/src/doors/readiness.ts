import type { Database } from '../db/database.ts'
import { isMigrated, type Migration } from '../db/migrate.ts'

export interface Readiness {
  /** Why it cannot serve; undefined: it can. */
  readonly reason: string | undefined
  /** What the database said, for the log alone. */
  readonly error?: string
}

/** Whether the store is reached and up to date. Never throws. */
export async function findReadiness(database: Database, migrations: readonly Migration[]): Promise<Readiness> {
  try {
    await database.ping()
    const migrated = await isMigrated(database, migrations)
    return { reason: migrated ? undefined : 'migrations are missing' }
  } catch (error) {
    return { reason: 'the database does not answer', error: (error as Error).message }
  }
}
