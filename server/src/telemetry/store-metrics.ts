import { second } from '../base/time/duration.ts'
import { within } from '../base/work/within.ts'
import type { Database, Db } from '../db/database.ts'

/** Prometheus waits ten seconds for all metrics together. */
const maxWait = second

/**
 * What a metric reads from the store; undefined when the store does not respond at once: the other metrics must be readable then, and
 * `switchboard_database_up` says what is wrong.
 */
export async function readForMetric<T>(database: Database, read: (db: Db) => Promise<T>): Promise<T | undefined> {
  if (database.outage() === 'unreachable') return undefined
  try {
    return await within(maxWait, read(database.reserved))
  } catch (error) {
    database.outageOf(error)
    return undefined
  }
}
