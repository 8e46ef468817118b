import { sql } from 'kysely'
import type { Database } from '../../src/db/database.ts'

/** Whether a transaction waits for a lock of another one, on PostgreSQL. */
export async function isSomebodyWaiting({ read }: Pick<Database, 'read'>): Promise<boolean> {
  const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  const { rows } = await waiting.execute(read.query)
  return rows.length > 0
}
