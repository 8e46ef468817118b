import { second } from '../base/time/duration.ts'
import { within } from '../base/work/within.ts'
import type { Database } from '../db/database.ts'
import { isMigrated } from '../db/schema/migrate.ts'
import type { Migration } from '../db/schema/migrations.ts'
import type { Readiness } from '../graph/ports.ts'

/** What the clock of the process forbids, for people. */
export type ClockReadiness = Pick<Readiness, 'reason' | 'warning'>

/** What is judged besides the database. */
interface Judges {
  readonly judgeClock?: () => ClockReadiness
  /** What an operator holds, for people. */
  readonly noteHold?: () => string | undefined
}

/** Whoever probes waits a second or more, whatever the database does: the response leaves before. */
const maxWait = 0.9 * second

/** Whether the store responds and is up to date, and the clock is right. Never throws. */
export async function findReadiness(
  database: Database,
  migrations: readonly Migration[],
  { judgeClock = () => ({ reason: undefined }), noteHold = () => undefined }: Judges = {},
): Promise<Readiness> {
  const clock = judgeClock()
  try {
    if (!(await within(maxWait, isUpToDate(database, migrations)))) return { reason: 'migrations are missing' }
    // Still ready: other processes have the same store, and taking this one out of service would stop its reads as well.
    const unwritable = database.outage() === 'unwritable' ? 'writes are refused' : undefined
    const warnings = [unwritable, clock.warning, noteHold()].filter((one) => one !== undefined)
    return { reason: clock.reason, ...(warnings.length > 0 && { warning: warnings.join('; ') }) }
  } catch (error) {
    database.outageOf(error)
    const isOnlyDatabase = clock.reason === undefined
    return { reason: 'the database does not answer', isOnlyDatabase, error: (error as Error).message }
  }
}

async function isUpToDate(database: Database, migrations: readonly Migration[]): Promise<boolean> {
  await database.ping()
  return isMigrated(database, migrations)
}
