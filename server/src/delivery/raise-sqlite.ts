import { sql } from 'kysely'
import { defineSql, defineStatement, type StatementRunner, type Steps } from '../db/statement.ts'
import type { EventRow, MoreDeliveries, NewEvents, RaisedFor } from './new-event.ts'
import { subscribersOf, type Target } from './subscribers.ts'

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

type StoredRow = EventRow & { readonly now: number }

const insertEvent = defineStatement<Omit<StoredRow, 'conversation'>>()(
  (db, { account_id, phone_number_id, field, value, trace, now }) =>
    db
      .insertInto('events')
      .values({
        account_id,
        phone_number_id: sql<string | null>`NULLIF(${phone_number_id}, '')`,
        field,
        value,
        created_time: now,
        trace,
      })
      .returning('id'),
)

const insertDelivery = defineStatement<
  Omit<StoredRow, 'value' | 'phone_number_id' | 'trace'> & { event_id: number; lane_id: string; app_id: string }
>()((db, { event_id, lane_id, account_id, app_id, field, conversation, now }) =>
  db.insertInto('deliveries').values({
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
  }),
)

const findLanes = defineSql<{ lanes: object }>()(
  ({ lanes }) => sql<{ id: string; app_id: string }>`
    SELECT lanes.id, lanes.app_id FROM json_each(${lanes}) AS o JOIN lanes ON lanes.id = o.key`,
)

const touchLane = defineSql<{ lane_id: string; now: number }>()(
  ({ lane_id, now }) =>
    sql<{ id: string }>`UPDATE lanes SET next_due = MAX(${now}, paused_until) WHERE id = ${lane_id} RETURNING id`,
)

/** Stores each event and its deliveries, one statement each. */
export const insertInSteps: Steps<NewEvents, RaisedFor> = async (db, { events, now }) => {
  const raised: RaisedFor[] = []
  let found: Found | undefined
  for (const event of events) {
    found = await findFor(db, event, now, found)
    const { n, account_id, phone_number_id, field, conversation, value, trace } = event
    const stored = await db.first(insertEvent, { account_id, phone_number_id, field, value, trace, now })
    if (!stored) throw new Error('the event was not stored')
    const event_id = stored.id
    for (const { lane_id, app_id, callback_url } of found.targets) {
      raised.push({ n, event_id, app_id, callback_url, lane_id, holder })
      if (lane_id !== null) {
        await db.first(insertDelivery, { event_id, lane_id, account_id, app_id, field, conversation, now })
      }
    }
    if (found.targets.length === 0) {
      raised.push({ n, event_id, app_id: null, callback_url: null, lane_id: null, holder })
    }
  }
  return raised
}

// The store belongs to one process.
const holder = null

interface Found {
  readonly event: EventRow
  readonly targets: readonly Target[]
}

/** Who hears of an event: the same as of the event before it, where both are about the same number and field. */
async function findFor(db: StatementRunner, event: EventRow, now: number, last: Found | undefined): Promise<Found> {
  const { account_id, phone_number_id, field } = event
  if (
    last?.event.phone_number_id === phone_number_id &&
    last.event.account_id === account_id &&
    last.event.field === field
  ) {
    return last
  }
  const targets = await db.list(findTargets, { account_id, phone_number_id, field, now })
  for (const { lane_id, needs_touch } of targets) {
    if (lane_id !== null && needs_touch === 1) await db.first(touchLane, { lane_id, now })
  }
  return { event, targets }
}

/** Stores the deliveries of an existing event, in lanes that were just made. */
export const insertMoreInSteps: Steps<MoreDeliveries, { id: string }> = async (db, row) => {
  const lanes = await db.list(findLanes, row)
  for (const { id: lane_id, app_id } of lanes) {
    await db.first(insertDelivery, { ...row, lane_id, app_id })
    await db.first(touchLane, { lane_id, now: row.now })
  }
  return lanes
}
