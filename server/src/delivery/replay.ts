import { sql } from 'kysely'
import { writeAccess } from '../auth/access.ts'
import type { Clock } from '../base/clock.ts'
import type { Transaction } from '../db/database.ts'
import { emptiedValue } from './empty-values.ts'
import { ensureLanes, type LaneAddress } from './lane-rows.ts'
import { subscribersOf } from './subscribers.ts'

export type Replay =
  | { readonly kind: 'replayed'; readonly lane: LaneAddress }
  | { readonly kind: 'unknown' }
  /** The app's business no longer has access to the account. */
  | { readonly kind: 'withdrawn' }
  /** The app no longer receives events of the account. */
  | { readonly kind: 'no_callback'; readonly app_id: string; readonly account_id: string }
  /** What it said was removed: MESSAGE_BODY_KEEP is over, or the user was forgotten. */
  | { readonly kind: 'emptied' }

/**
 * Sends a delivery again, whatever its state, with a new count of attempts: to the current callback of its app, or to another
 * address. Refused when the app's business no longer has access to the account.
 */
export async function replayDelivery(tx: Transaction, clock: Clock, id: number, to?: string): Promise<Replay> {
  const delivery = await tx.query
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .innerJoin('apps', 'apps.id', 'deliveries.app_id')
    .select([
      'deliveries.app_id',
      'deliveries.account_id',
      'events.phone_number_id',
      'events.value',
      writeAccess(sql.ref('apps.business_id'), sql.ref('deliveries.account_id')).as('has_access'),
    ])
    .where('deliveries.id', '=', id)
    // Held against whoever empties the event: see empty-values.ts.
    .forUpdate('events')
    .executeTakeFirst()
  if (!delivery) return { kind: 'unknown' }
  if (delivery.has_access === 0) return { kind: 'withdrawn' }
  if (delivery.value === emptiedValue) return { kind: 'emptied' }
  const { app_id, account_id } = delivery
  const callback_url = to ?? (await findCallback(tx, delivery))
  if (callback_url === undefined) return { kind: 'no_callback', app_id, account_id }
  const [lane] = await ensureLanes(tx, [{ app_id, callback_url }])
  if (!lane) throw new Error('the lane was not made')
  const now = clock.now()
  await tx.query
    .updateTable('deliveries')
    .set(({ ref }) => ({
      lane_id: lane.id,
      state: 'waiting' as const,
      due_time: now,
      finished_time: null,
      started_time: now,
      earlier_attempts: ref('attempts'),
    }))
    .where('id', '=', id)
    .execute()
  // After the delivery: a holder that releases the lane meanwhile has not seen it.
  await tx.query
    .updateTable('lanes')
    .set({
      paused_until: 0,
      failures: 0,
      next_due: sql<number>`CASE WHEN next_due <= ${now} THEN next_due ELSE ${now} END`,
    })
    .where('id', '=', lane.id)
    .execute()
  return { kind: 'replayed', lane }
}

async function findCallback(
  tx: Transaction,
  { app_id, account_id, phone_number_id }: { app_id: string; account_id: string; phone_number_id: string | null },
): Promise<string | undefined> {
  const isApp = sql<boolean>`links.app_id = ${app_id}`
  const { rows } = await sql<{
    callback_url: string
  }>`${subscribersOf(account_id, phone_number_id ?? '', isApp)}`.execute(tx.query)
  return rows[0]?.callback_url
}
