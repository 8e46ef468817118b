import { sql } from 'kysely'
import type { Transaction } from '../db/database.ts'
import { defineSql, defineStatement } from '../db/statement.ts'
import { ensureLanes, type LaneAddress } from './lane-rows.ts'
import type { EventRow } from './new-event.ts'
import { addressOf, subscribersOf, type Target } from './subscribers.ts'

const findTargets = defineSql<{ account_id: string; phone_number_id: string; field: string; now: number }>()(
  ({ account_id, phone_number_id, field, now }) => sql<Target & { needs_touch: number }>`
    SELECT linked.app_id, linked.callback_url, lanes.id AS lane_id,
      lanes.next_due IS NULL OR lanes.next_due > MAX(${now}, lanes.paused_until) AS needs_touch
    FROM (${subscribersOf(
      account_id,
      phone_number_id,
      sql`EXISTS (SELECT 1 FROM json_each(app_subscriptions.fields) f WHERE f.value = ${field})`,
    )}) AS linked
    LEFT JOIN lanes ON lanes.app_id = linked.app_id AND lanes.callback_url = linked.callback_url
    ORDER BY linked.app_id`,
)

const insertEvent = defineStatement<Omit<EventRow, 'conversation'>>()(
  (db, { account_id, phone_number_id, field, value, now }) =>
    db
      .insertInto('events')
      .values({
        account_id,
        phone_number_id: sql<string | null>`NULLIF(${phone_number_id}, '')`,
        field,
        value,
        created_time: now,
      })
      .returning('id'),
)

const insertDelivery = defineStatement<
  Omit<EventRow, 'value' | 'phone_number_id'> & { event_id: number; lane_id: string; app_id: string }
>()((db, { event_id, lane_id, account_id, app_id, field, conversation, now }) =>
  db
    .insertInto('deliveries')
    .values({
      event_id,
      lane_id,
      account_id,
      app_id,
      field,
      conversation,
      state: 'waiting',
      attempts: 0,
      earlier_attempts: 0,
      due_time: now,
      created_time: now,
      started_time: now,
      finished_time: null,
    })
    .returning('id'),
)

const touchLane = defineSql<{ lane_id: string; now: number }>()(
  ({ lane_id, now }) =>
    sql<{ id: string }>`UPDATE lanes SET next_due = MAX(${now}, paused_until) WHERE id = ${lane_id} RETURNING id`,
)

/** The event and its deliveries, one statement each: there is nothing to gain by fewer where none of them travels. */
export async function raiseOnSqlite(tx: Transaction, row: EventRow): Promise<LaneAddress[]> {
  const targets = await tx.list(findTargets, row)
  const event = await tx.first(insertEvent, row)
  if (!event) throw new Error('the event was not stored')
  const missing = targets.filter(({ lane_id }) => lane_id === null)
  if (missing.length > 0) await ensureLanes(tx, missing)
  const lanes = targets.map(addressOf)
  for (const [index, { id: lane_id, app_id }] of lanes.entries()) {
    await tx.first(insertDelivery, { ...row, event_id: event.id, lane_id, app_id })
    if (targets[index]?.needs_touch === 1) await tx.first(touchLane, { lane_id, now: row.now })
  }
  return lanes
}
