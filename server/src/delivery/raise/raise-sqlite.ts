import { sql } from 'kysely'
import { defineSql, defineStatement, type StepRunner, type Steps } from '../../db/statement.ts'
import { insertLanes, laneIdOf } from '../store/lane-rows.ts'
import type { EventRow, MoreDeliveries, NewEvents, RaisedFor } from './new-event.ts'
import { subscribersOf, type Target } from './subscribers.ts'

interface Subscriber {
  readonly app_id: string
  readonly callback_url: string
}

const findSubscribers = defineSql<{ account_id: string; phone_number_id: string; field: string }>()(
  ({ account_id, phone_number_id, field }) => sql<Subscriber>`
      SELECT linked.app_id, linked.callback_url
      FROM (${subscribersOf(
        account_id,
        phone_number_id,
        sql`EXISTS (SELECT 1 FROM json_each(app_subscriptions.fields) f WHERE f.value = ${field})`,
      )}) AS linked
      ORDER BY linked.app_id`,
)

const findLane = defineStatement<Subscriber>()((db, { app_id, callback_url }) =>
  db
    .selectFrom('lanes')
    .select(['id', 'next_due', 'paused_until'])
    .where('app_id', '=', app_id)
    .where('callback_url', '=', callback_url),
)

type StoredRow = EventRow & { readonly now: number }

const insertEvent = defineStatement<Omit<StoredRow, 'conversation'>>()(
  (db, { account_id, phone_number_id, field, value, trace, span, subject_id, now }) =>
    db.insertInto('events').values({
      account_id,
      phone_number_id: sql<string | null>`NULLIF(${phone_number_id}, '')`,
      field,
      value,
      created_time: now,
      trace,
      span,
      subject_id,
    }),
)

const insertDelivery = defineStatement<
  Omit<StoredRow, 'value' | 'phone_number_id' | 'trace' | 'span' | 'subject_id'> & {
    event_id: number
    lane_id: string
    app_id: string
  }
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
  ({ lane_id, now }) => sql`UPDATE lanes SET next_due = MAX(${now}, paused_until) WHERE id = ${lane_id}`,
)

/** Stores each event and its deliveries, one statement each. */
export const insertInSteps: Steps<NewEvents, RaisedFor> = (db, { events, now }) => {
  const raised: RaisedFor[] = []
  let found: Found | undefined
  for (const event of events) {
    found = findFor(db, event, now, found)
    const { n, account_id, phone_number_id, field, conversation, value, trace, span, subject_id } = event
    const { id: event_id } = db.write(insertEvent, {
      account_id,
      phone_number_id,
      field,
      value,
      trace,
      span,
      subject_id,
      now,
    })
    for (const { lane_id, app_id, callback_url } of found.targets) {
      raised.push({ n, event_id, app_id, callback_url, lane_id, holder })
      db.write(insertDelivery, { event_id, lane_id, account_id, app_id, field, conversation, now })
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

/** Who is notified of an event: the same as of the event before it, where both are about the same number and field. */
function findFor(db: StepRunner, event: EventRow, now: number, last: Found | undefined): Found {
  const { account_id, phone_number_id, field } = event
  if (
    last?.event.phone_number_id === phone_number_id &&
    last.event.account_id === account_id &&
    last.event.field === field
  ) {
    return last
  }
  const targets = db.list(findSubscribers, { account_id, phone_number_id, field }).map(({ app_id, callback_url }) => {
    const lane = db.first(findLane, { app_id, callback_url })
    const lane_id = lane?.id ?? laneIdOf(app_id, callback_url)
    if (!lane) db.list(insertLanes, { lanes: { [lane_id]: { app_id, callback_url } } })
    if (!lane || lane.next_due === null || lane.next_due > Math.max(now, lane.paused_until)) {
      db.write(touchLane, { lane_id, now })
    }
    return { app_id, callback_url, lane_id }
  })
  return { event, targets }
}

/** Stores the deliveries of an existing event, in lanes that were just made. */
export const insertMoreInSteps: Steps<MoreDeliveries, { id: string }> = (db, row) => {
  const lanes = db.list(findLanes, row)
  for (const { id: lane_id, app_id } of lanes) {
    db.write(insertDelivery, { ...row, lane_id, app_id })
    db.write(touchLane, { lane_id, now: row.now })
  }
  return lanes
}
