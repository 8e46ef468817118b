import type { Database } from '../db/database.ts'
import { isMigrated } from '../db/schema/migrate.ts'
import type { Migration } from '../db/schema/migrations.ts'
import type { Readiness } from '../graph/ports.ts'

/** What the clock of the process forbids, for people. */
export type ClockReadiness = Pick<Readiness, 'reason' | 'warning'>

/** Whether the store responds and is up to date, and the clock is right. Never throws. */
export async function findReadiness(
  database: Database,
  migrations: readonly Migration[],
  judgeClock: () => ClockReadiness = () => ({ reason: undefined }),
): Promise<Readiness> {
  try {
    await database.ping()
    const migrated = await isMigrated(database, migrations)
    if (!migrated) return { reason: 'migrations are missing' }
    const clock = judgeClock()
    // Still ready: other processes have the same store, and taking this one out of service would stop its reads as well.
    const unwritable = database.outage() === 'unwritable' ? 'writes are refused' : undefined
    const warnings = [unwritable, clock.warning].filter((one) => one !== undefined)
    return { reason: clock.reason, ...(warnings.length > 0 && { warning: warnings.join('; ') }) }
  } catch (error) {
    database.outageOf(error)
    return { reason: 'the database does not answer', error: (error as Error).message }
  }
}
