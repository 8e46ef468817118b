import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { emptiedValue } from '../db/emptied-value.ts'
import type { FeedItem } from './feed-item.ts'

/** Larger values of events are left out: whoever wants one reads its delivery. */
const maxValueBytes = 16_384

/** A value of an event as far as it is read to be shown; null where it is larger. */
export function shownValueOf(value: RawBuilder<unknown>): RawBuilder<string | null> {
  return sql`CASE WHEN octet_length(${value}) <= ${sql.lit(maxValueBytes)} THEN ${value} END`
}

/** Which rows: all that `where` selects, the oldest first, up to a limit. */
export interface Selection {
  readonly where: RawBuilder<boolean>
  readonly limit: number
  /**
   * By default the id. Who selects by a time orders by it: SQLite would walk through the whole table in the order of ids otherwise,
   * in the hope to come to the limit early.
   */
  readonly order?: RawBuilder<unknown>
}

const businessOf = (account: RawBuilder<unknown>) =>
  sql<string | null>`(SELECT accounts.business_id FROM accounts WHERE accounts.id = ${account})`

interface EventRow {
  readonly id: number
  readonly business_id: string | null
  readonly account_id: string
  readonly phone_number_id: string | null
  readonly field: string
  readonly created_time: number
  readonly trace: string | null
  readonly value: string | null
}

/** Events; those of messages and calls are sent as such too. The columns are those of `events`. */
export async function readEvents(
  db: Db,
  { where, limit, order = sql.ref('events.id') }: Selection,
): Promise<{ last: number; found: FeedItem[] }> {
  const { rows } = await sql<EventRow>`
    SELECT events.id, ${businessOf(sql.ref('events.account_id'))} AS business_id, events.account_id,
      events.phone_number_id, events.field, events.created_time, events.trace,
      ${shownValueOf(sql.ref('events.value'))} AS value
    FROM events WHERE ${where} ORDER BY ${order} LIMIT ${sql.lit(limit)}`.execute(db.query)
  return { last: rows.at(-1)?.id ?? 0, found: rows.flatMap(showEvent) }
}

function showEvent({ id, field, created_time, value, ...owner }: EventRow): FeedItem[] {
  const data = { event_id: String(id), field, ...showValue(value) }
  const event: FeedItem = { id: `event-${id}`, type: 'event', time: created_time, ...owner, data }
  if (field === 'messages') return [event, { ...event, id: `message-${id}`, type: 'message' }]
  if (field === 'calls') return [event, { ...event, id: `call-${id}`, type: 'call' }]
  return [event]
}

/** Of an event as of a message: where there is no value, it says whether the value was removed. */
function showValue(value: string | null) {
  if (value === emptiedValue) return { value: null, content_removed: true }
  return { value: value === null ? null : JSON.parse(value) }
}

const deliveryColumns = sql`deliveries.id, ${businessOf(sql.ref('deliveries.account_id'))} AS business_id,
  deliveries.account_id, events.phone_number_id, events.trace, deliveries.app_id, deliveries.field, deliveries.event_id,
  lanes.callback_url`

interface DeliveryRow {
  readonly id: number
  readonly business_id: string | null
  readonly account_id: string
  readonly phone_number_id: string | null
  readonly trace: string | null
  readonly app_id: string
  readonly field: string
  readonly event_id: number
  readonly callback_url: string
}

const joined = sql`JOIN events ON events.id = deliveries.event_id JOIN lanes ON lanes.id = deliveries.lane_id`

type StatedRow = DeliveryRow & {
  readonly state: string
  readonly attempts: number
  readonly earlier_attempts: number
  readonly started_time: number
  readonly finished_time: number | null
}

/** Deliveries as they stand. The columns are those of `deliveries`, `events` and `lanes`. */
export async function readDeliveries(
  db: Db,
  { where, limit, order = sql.ref('deliveries.id') }: Selection,
): Promise<{ last: number; found: FeedItem[] }> {
  const { rows } = await sql<StatedRow>`
    SELECT ${deliveryColumns}, deliveries.state, deliveries.attempts, deliveries.earlier_attempts,
      deliveries.started_time, deliveries.finished_time
    FROM deliveries ${joined} WHERE ${where} ORDER BY ${order} LIMIT ${sql.lit(limit)}`.execute(db.query)
  return { last: rows.at(-1)?.id ?? 0, found: rows.map(showDelivery) }
}

function showDelivery(row: StatedRow): FeedItem {
  const { state, attempts, earlier_attempts, started_time, finished_time } = row
  const id = `delivery-${row.id}-${state}-${attempts}`
  const time = finished_time ?? started_time
  const failing = state === 'waiting' && attempts > earlier_attempts
  return { id, type: 'delivery', time, ...ownerOf(row), data: { ...dataOf(row), state, failing, attempts } }
}

type TryRow = DeliveryRow & {
  readonly number: number
  readonly time: number
  readonly duration: number
  readonly status: number | null
  readonly problem: string | null
}

/** Tries. The columns are those of `tries` (delivery_attempts), `deliveries`, `events` and `lanes`. */
export async function readTries(db: Db, { where, limit }: Selection): Promise<FeedItem[]> {
  const { rows } = await sql<TryRow>`
    SELECT ${deliveryColumns}, tries.number, tries.time, tries.duration, tries.status, tries.problem
    FROM delivery_attempts tries JOIN deliveries ON deliveries.id = tries.delivery_id ${joined}
    WHERE ${where} ORDER BY tries.time, tries.delivery_id, tries.number LIMIT ${sql.lit(limit)}`.execute(db.query)
  return rows.map((row) => ({
    id: `try-${row.id}-${row.number}`,
    type: 'try',
    time: row.time,
    ...ownerOf(row),
    data: {
      ...dataOf(row),
      number: row.number,
      status: row.status,
      problem: row.problem,
      milliseconds: row.duration,
    },
  }))
}

interface ReplayRow {
  readonly id: string
  readonly business_id: string | null
  readonly account_id: string | null
  readonly trace: string | null
  readonly state: string
  readonly replayed: number
  readonly left_out: number
  readonly total: number
  readonly changed_time: number
}

/** Replays as they stand. The columns are those of `replays`. */
export async function readReplays(db: Db, { where, limit }: Selection): Promise<FeedItem[]> {
  const { rows } = await sql<ReplayRow>`
    SELECT id, business_id, account_id, trace, state, replayed, left_out, total, changed_time
    FROM replays WHERE ${where} ORDER BY changed_time, id LIMIT ${sql.lit(limit)}`.execute(db.query)
  return rows.map(({ id, business_id, account_id, trace, changed_time, ...progress }) => ({
    id: `replay-${id}-${progress.state}-${progress.replayed + progress.left_out}`,
    type: 'replay',
    time: changed_time,
    ...{ business_id, account_id, phone_number_id: null, trace },
    data: { replay_id: id, ...progress },
  }))
}

function ownerOf({ business_id, account_id, phone_number_id, trace }: DeliveryRow) {
  return { business_id, account_id, phone_number_id, trace }
}

function dataOf({ id, event_id, app_id, field, callback_url }: DeliveryRow) {
  return { delivery_id: String(id), event_id: String(event_id), app_id, field, callback_url }
}
