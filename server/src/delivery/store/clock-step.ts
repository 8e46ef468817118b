import { sql } from 'kysely'
import type { Transaction } from '../../db/database.ts'
import { isAmongWaiting } from '../../db/waiting.ts'
import { heldUntil } from '../../sandbox/fault-rules.ts'

/**
 * After the clock was set back by `back` milliseconds: shifts deliveries that were attempted or created later than `latest`, so that
 * each waits from now as long as it was meant to wait, and lets no subscriber be paused longer than it was meant to be. The attempts
 * themselves are shifted last: every process corrects what it finds, and so does the next start, but each row once. Lanes come before
 * deliveries, as in a replay, so that neither waits for the other.
 */
export async function correctDeliveries(tx: Transaction, now: number, latest: number, back: number): Promise<void> {
  const { query } = tx
  const attempted = query
    .selectFrom('delivery_attempts')
    .innerJoin('deliveries', 'deliveries.id', 'delivery_attempts.delivery_id')
    .select('deliveries.lane_id')
    .where('delivery_attempts.time', '>', latest)
  await query
    .updateTable('lanes')
    .set(({ eb }) => ({ paused_until: eb('paused_until', '-', back) }))
    .where('paused_until', '>', latest)
    .where('id', 'in', attempted)
    .execute()
  // Whoever claims the lane finds out when its next delivery is due.
  await query.updateTable('lanes').set({ next_due: now }).where('next_due', '>', now).execute()
  const lastAttempt = sql<number>`(SELECT a.time FROM delivery_attempts a WHERE a.delivery_id = deliveries.id AND a.number = deliveries.attempts)`
  const startedTime = sql<number>`CASE WHEN started_time > ${latest} THEN started_time - ${back} ELSE started_time END`
  await query
    .updateTable('deliveries')
    .set(({ eb }) => ({ due_time: eb('due_time', '-', back), started_time: startedTime }))
    .where(isAmongWaiting())
    .where('due_time', '>', now)
    .where('due_time', '<', heldUntil)
    .where(({ eb, or }) => or([eb('started_time', '>', latest), eb(lastAttempt, '>', latest)]))
    .execute()
  await query
    .updateTable('delivery_attempts')
    .set(({ eb }) => ({ time: eb('time', '-', back) }))
    .where('time', '>', latest)
    .execute()
}
