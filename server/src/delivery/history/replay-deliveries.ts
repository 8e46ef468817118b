import { sql } from 'kysely'
import type { Clock } from '../../base/time/clock.ts'
import type { Transaction } from '../../db/database.ts'
import { emptiedValue } from '../../db/emptied-value.ts'
import { lockRowsOf } from '../../db/row-locks.ts'
import { defineSql } from '../../db/statement.ts'
import { findOwnCallback } from '../raise/raise-for-app.ts'
import { subscribersOf } from '../raise/subscribers.ts'
import { concernsConnection } from '../rules/about-connection.ts'
import { ensureLanes, type LaneAddress, laneIdOf } from '../store/lane-rows.ts'
import { keysOf } from '../store/lanes.ts'
import { mayReceive } from '../store/may-receive.ts'

export type Reason =
  | { readonly kind: 'unknown' }
  /** The app's business no longer has access to the account. */
  | { readonly kind: 'withdrawn' }
  /** The app no longer receives events of the account. */
  | { readonly kind: 'no_callback'; readonly app_id: string; readonly account_id: string }
  /** What it said was removed: MESSAGE_BODY_KEEP is over, or the user was forgotten. */
  | { readonly kind: 'emptied' }

export interface Refused {
  readonly id: number
  readonly reason: Reason
}

export interface Replay {
  readonly replayed: readonly number[]
  readonly lanes: readonly LaneAddress[]
  readonly refused: readonly Refused[]
}

interface Found {
  readonly id: number
  readonly app_id: string
  readonly account_id: string
  readonly conversation: string
  readonly phone_number_id: string | null
  readonly has_access: number
  readonly is_emptied: number
}

// Events are locked against whoever empties them: see empty-values.ts.
const findDeliveries = defineSql<{ ids: object }>()(
  ({ ids }) => sql<Found>`
    SELECT d.id, d.app_id, d.account_id, d.conversation, events.phone_number_id,
      CASE WHEN events.value = ${sql.lit(emptiedValue)} THEN 1 ELSE 0 END AS is_emptied,
      ${mayReceive} AS has_access
    FROM json_each(${ids}) AS o JOIN deliveries d ON d.id = CAST(o.key AS BIGINT)
    JOIN events ON events.id = d.event_id JOIN apps ON apps.id = d.app_id ORDER BY d.id
    ${lockRowsOf('events', 'ForUpdate')}`,
)

const restart = defineSql<{ deliveries: object; now: number }>()(
  ({ deliveries, now }) => sql`
    UPDATE deliveries SET lane_id = o.value ->> 'lane', state = 'waiting', due_time = CAST(${now} AS BIGINT),
      finished_time = NULL, started_time = CAST(${now} AS BIGINT), earlier_attempts = attempts
    FROM json_each(${deliveries}) AS o WHERE deliveries.id = CAST(o.key AS BIGINT)`,
)

const wakeLanes = defineSql<{ ids: object; now: number }>()(
  ({ ids, now }) => sql<{ id: string }>`
    UPDATE lanes SET paused_until = 0, failures = 0,
      next_due = CASE WHEN next_due <= ${now} THEN next_due ELSE CAST(${now} AS BIGINT) END
    WHERE id IN (SELECT key FROM json_each(${ids})) RETURNING id`,
)

const lockTries = 3

/**
 * Sends deliveries again, whatever their state, each with a new count of attempts: to the current callback of its app, or to another
 * address. Those that cannot be sent are refused and stay as they are. A few statements, however many deliveries there are.
 */
export async function replayDeliveries(
  tx: Transaction,
  clock: Clock,
  ids: readonly number[],
  to?: string,
): Promise<Replay> {
  const found = await tx.list(findDeliveries, { ids: keysOf(ids) })
  const known = new Set(found.map(({ id }) => id))
  const refused: Refused[] = ids.filter((id) => !known.has(id)).map((id) => ({ id, reason: { kind: 'unknown' } }))
  const callbacks = new Map<string, string | undefined>()
  const lanes = new Map<string, LaneAddress>()
  const moved: Record<string, { lane: string }> = {}
  for (const delivery of found) {
    const { id, app_id, account_id, conversation, phone_number_id } = delivery
    if (delivery.has_access === 0) {
      refused.push({ id, reason: { kind: 'withdrawn' } })
      continue
    }
    if (delivery.is_emptied === 1) {
      refused.push({ id, reason: { kind: 'emptied' } })
      continue
    }
    const isOfApp = concernsConnection(conversation)
    const key = isOfApp ? app_id : `${app_id} ${account_id} ${phone_number_id ?? ''}`
    if (to === undefined && !callbacks.has(key)) callbacks.set(key, await findCallback(tx, delivery))
    const callback_url = to ?? callbacks.get(key)
    if (callback_url === undefined) {
      refused.push({ id, reason: { kind: 'no_callback', app_id, account_id } })
      continue
    }
    const lane = { id: laneIdOf(app_id, callback_url), app_id, callback_url }
    lanes.set(lane.id, lane)
    moved[id] = { lane: lane.id }
  }
  const made = [...lanes.values()]
  if (made.length > 0) {
    const now = clock.now()
    await lockLanes(tx, made, now)
    await tx.list(restart, { deliveries: moved, now })
  }
  return { replayed: Object.keys(moved).map(Number), lanes: made, refused }
}

/**
 * Makes the lanes due, and holds their rows until the commit: nobody removes or releases one without having seen what moves there. A
 * sweep that was removing one is waited for, and the lane made anew.
 */
async function lockLanes(tx: Transaction, lanes: readonly LaneAddress[], now: number): Promise<void> {
  const ids = keysOf(lanes.map(({ id }) => id))
  for (let tries = 1; tries <= lockTries; tries++) {
    await ensureLanes(tx, lanes)
    const locked = await tx.list(wakeLanes, { ids, now })
    if (locked.length === lanes.length) return
  }
  throw new Error('a lane is removed again and again')
}

async function findCallback(
  tx: Transaction,
  { app_id, account_id, conversation, phone_number_id }: Found,
): Promise<string | undefined> {
  if (concernsConnection(conversation)) return findOwnCallback(tx, app_id)
  const isApp = sql<boolean>`links.app_id = ${app_id}`
  const { rows } = await sql<{
    callback_url: string
  }>`${subscribersOf(account_id, phone_number_id ?? '', isApp)}`.execute(tx.query)
  return rows[0]?.callback_url
}

/** The same for one delivery. */
export async function replayDelivery(
  tx: Transaction,
  clock: Clock,
  id: number,
  to?: string,
): Promise<{ readonly kind: 'replayed'; readonly lane: LaneAddress } | Reason> {
  const { lanes, refused } = await replayDeliveries(tx, clock, [id], to)
  const [lane] = lanes
  return lane ? { kind: 'replayed', lane } : (refused[0]?.reason ?? { kind: 'unknown' })
}
