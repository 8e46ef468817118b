import { sql } from 'kysely'
import type { Transaction } from '../db/database.ts'

/**
 * After the clock was set back by `back` milliseconds: shifts deliveries that were attempted or created later than `latest`, so that
 * each waits from now as long as it was meant to wait, and lets no subscriber be paused longer than it was meant to be.
 */
export async function correctDeliveries(tx: Transaction, now: number, latest: number, back: number): Promise<void> {
  const lastAttempt = sql<number>`(SELECT a.time FROM delivery_attempts a WHERE a.delivery_id = deliveries.id AND a.number = deliveries.attempts)`
  await tx.query
    .updateTable('deliveries')
    .set(({ eb }) => ({ due_time: eb('due_time', '-', back) }))
    .where('state', '=', 'waiting')
    .where('due_time', '>', now)
    .where(({ eb, or }) => or([eb('started_time', '>', latest), eb(lastAttempt, '>', latest)]))
    .execute()
  await tx.query
    .updateTable('lanes')
    .set(({ eb }) => ({ paused_until: eb('paused_until', '-', back) }))
    .where('paused_until', '>', latest)
    .execute()
  await tx.query
    .updateTable('lanes')
    .set(({ eb }) => ({ next_due: eb('next_due', '-', back) }))
    .where('next_due', '>', now)
    .execute()
}
