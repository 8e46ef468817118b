import { type RawBuilder, sql } from 'kysely'
import type { Database, Db, RaisedDelivery } from '../../db/database.ts'
import { defineSql, defineWithSteps } from '../../db/statement.ts'
import { isAmongWaiting } from '../../db/waiting.ts'
import type { WaitingDelivery } from '../rules/waiting-delivery.ts'
import { mayReceive } from './may-receive.ts'

/** A position in the order of due deliveries. */
export type DuePosition = Readonly<Pick<WaitingDelivery, 'due_time' | 'id'>>

/** The most deliveries of a lane that one read returns. */
export const maxRead = 256

/** Values up to this size are read with their deliveries, so that held lanes use little memory. */
const inlineBytes = 4096

/** A delivery that was just raised, as a read would return it. */
export function asWaiting(
  lane_id: string,
  { id, event_id, account_id, field, conversation, created_time, previous_id, value, trace, span }: RaisedDelivery,
): WaitingDelivery {
  return {
    id,
    lane_id,
    event_id,
    account_id,
    field,
    conversation,
    attempts: 0,
    earlier_attempts: 0,
    due_time: created_time,
    started_time: created_time,
    created_time,
    previous_id,
    has_access: 1,
    value: value.length <= inlineBytes ? value : null,
    trace,
    span,
  }
}

// `previous_id` is no MAX: in this form only the index in the order of the conversation fits.
const columns = sql`d.id, d.lane_id, d.event_id, d.account_id, d.field, d.conversation, d.attempts, d.earlier_attempts,
  d.due_time, d.started_time, d.created_time, (
    SELECT p.id FROM deliveries p
    WHERE p.lane_id = d.lane_id AND p.conversation = d.conversation AND ${isAmongWaiting('p')} AND p.id < d.id
    ORDER BY p.id DESC LIMIT 1
  ) AS previous_id,
  ${mayReceive} AS has_access,
  CASE WHEN octet_length(events.value) <= ${sql.lit(inlineBytes)} THEN events.value END AS value,
  events.trace, events.span`

const isDueIn = (lane_id: RawBuilder<string>, now: number) => sql`d.lane_id = ${lane_id} AND d.state = 'waiting'
  AND d.due_time <= ${now} AND (SELECT lanes.stopped_until FROM lanes WHERE lanes.id = ${lane_id}) <= ${now}`

/** With their events, in the order of becoming due. */
function describeDue(source: RawBuilder<unknown>, rest: RawBuilder<unknown>): RawBuilder<WaitingDelivery> {
  return sql`SELECT ${columns} FROM ${source} AS d JOIN events ON events.id = d.event_id JOIN apps ON apps.id = d.app_id
    ${rest} ORDER BY d.due_time, d.id`
}

const findDue = defineSql<{ lane_id: string; now: number; limit: number }>()(
  ({ lane_id, now, limit }) =>
    sql<WaitingDelivery>`${describeDue(sql`deliveries`, sql`WHERE ${isDueIn(sql`${lane_id}`, now)}`)} LIMIT ${limit}`,
)

const findDueBehind = defineSql<{ lane_id: string; now: number; limit: number; due_time: number; id: number }>()(
  ({ lane_id, now, limit, due_time, id }) => {
    const isBehind = sql`(d.due_time, d.id) > (${due_time}, ${id})`
    return sql<WaitingDelivery>`${describeDue(sql`deliveries`, sql`WHERE ${isDueIn(sql`${lane_id}`, now)} AND ${isBehind}`)} LIMIT ${limit}`
  },
)

/** The due deliveries of a lane behind a position. */
export async function listDueBehind(
  { read }: Pick<Database, 'read'>,
  lane_id: string,
  { due_time, id }: DuePosition,
  limit: number,
  now: number,
): Promise<WaitingDelivery[]> {
  return read.list(findDueBehind, { lane_id, now, limit, due_time, id })
}

/** By id: how many deliveries, and besides which, as an array of PostgreSQL. */
type LaneLimits = Readonly<Record<string, readonly [limit: number, known: string]>>

/** How many deliveries of a lane are read; on PostgreSQL the known ones are left out and not counted. */
export interface ReadLimit {
  readonly limit: number
  readonly known: readonly number[]
}

/**
 * The first due deliveries of a lane besides the known ones. The outer limit differs from lane to lane, so the planner takes it for a tenth
 * of everything that waits: with a long backlog it would plan for millions of rows. The inner one is a number that it knows.
 */
const firstDue = (now: number) => sql`(
  SELECT * FROM (
    SELECT d.* FROM deliveries d WHERE ${isDueIn(sql`o.key`, now)} AND d.id <> ALL (known.ids)
    ORDER BY d.due_time, d.id LIMIT ${sql.lit(maxRead)}
  ) AS first LIMIT CAST(o.value ->> 0 AS INTEGER)
)`

const findDueOfMany = defineWithSteps(
  defineSql<{ lanes: LaneLimits; now: number }>()(
    ({ lanes, now }) => sql<WaitingDelivery>`
      SELECT due.* FROM json_each(${lanes}) AS o
      CROSS JOIN LATERAL (SELECT CAST(o.value ->> 1 AS BIGINT[]) AS ids OFFSET 0) AS known
      CROSS JOIN LATERAL (${describeDue(firstDue(now), sql``)}) AS due`,
  ),
  (db, { lanes, now }) =>
    Object.entries(lanes).flatMap(([lane_id, [limit]]) => db.list(findDue, { lane_id, now, limit })),
)

/** The due deliveries of some lanes, ordered by due time within each lane, up to a limit for each. */
export async function listDue(
  { read }: Pick<Database, 'read'>,
  limits: ReadonlyMap<string, ReadLimit>,
  now: number,
): Promise<WaitingDelivery[]> {
  const lanes = Object.fromEntries([...limits].map(([id, { limit, known }]) => [id, [limit, `{${known}}`]] as const))
  return read.list(findDueOfMany, { lanes, now })
}

const findFirstOf = defineSql<{ lane_id: string; conversation: string; limit: number }>()(
  ({ lane_id, conversation, limit }) => sql<WaitingDelivery>`
    SELECT ${columns} FROM deliveries d JOIN events ON events.id = d.event_id JOIN apps ON apps.id = d.app_id
    WHERE d.lane_id = ${lane_id} AND d.conversation = ${conversation} AND ${isAmongWaiting('d')}
    ORDER BY d.id LIMIT ${limit}`,
)

/** The first waiting deliveries of a conversation, due or not, in order. */
export async function listFirstOf(
  db: Db,
  lane_id: string,
  conversation: string,
  limit: number,
): Promise<WaitingDelivery[]> {
  return db.list(findFirstOf, { lane_id, conversation, limit })
}

const findValue = defineSql<{ event_id: number }>()(
  ({ event_id }) => sql<{ value: string }>`SELECT value FROM events WHERE id = ${event_id}`,
)

/** The value of an event that was too large to be read with its delivery. */
export async function readValue(db: Db, event_id: number): Promise<string> {
  const [event] = await db.list(findValue, { event_id })
  if (!event) throw new Error(`the event ${event_id} is missing`)
  return event.value
}
