import { type RawBuilder, sql } from 'kysely'
import { signalUnless } from '../../db/postgres/signal.ts'
import { defineSql } from '../../db/statement.ts'
import { isAmongWaiting } from '../../db/waiting.ts'
import type { LaneAddress } from '../store/lane-rows.ts'
import type { MoreDeliveries, NewEvents, RaisedFor } from './new-event.ts'
import { subscribersOf } from './subscribers.ts'

/**
 * The lanes that get deliveries. Locking one in share mode before reading `next_due` keeps its holder from releasing it without
 * having seen these deliveries. Nothing waits for a lock: a lane whose row somebody else has locked comes with `is_locked`, and as
 * it was when the statement began.
 */
function targetsOf(from: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`SELECT seen.id, seen.app_id, seen.callback_url, own.id IS NULL AS is_locked, own.next_due,
      COALESCE(own.paused_until, seen.paused_until) AS paused_until,
      COALESCE(own.stopped_until, seen.stopped_until) AS stopped_until,
      COALESCE(own.leased_until, seen.leased_until) AS leased_until,
      CASE WHEN own.id IS NULL THEN seen.lease_owner ELSE own.lease_owner END AS lease_owner
    FROM ${from}
    LEFT JOIN LATERAL (
      SELECT lanes.id, lanes.next_due, lanes.paused_until, lanes.stopped_until, lanes.leased_until, lanes.lease_owner
      FROM lanes WHERE lanes.id = seen.id FOR KEY SHARE SKIP LOCKED
    ) AS own ON TRUE`
}

const deliveryColumns = sql`event_id, lane_id, account_id, app_id, field, conversation, state, attempts,
  earlier_attempts, due_time, created_time, started_time`

/** The initial values of every delivery. */
const newDelivery = (now: number) => sql`'waiting', 0, 0,
  CAST(${now} AS BIGINT), CAST(${now} AS BIGINT), CAST(${now} AS BIGINT)`

const dueOf = (now: number) => sql`GREATEST(CAST(${now} AS BIGINT), targets.paused_until)`

/**
 * Makes the lanes due that are not, or leaves a note of those that somebody else has locked: CTEs to follow `targets`. One note a lane
 * is enough: where there is one that nobody is taking in, it is held until the commit instead, because whoever took it in before would
 * not see these deliveries.
 */
const touchLanes = (now: number) => sql`
  idle AS (
    SELECT lanes.id, ${dueOf(now)} AS due FROM targets JOIN lanes ON lanes.id = targets.id
    WHERE NOT targets.is_locked AND (targets.next_due IS NULL OR targets.next_due > ${dueOf(now)})
    FOR NO KEY UPDATE OF lanes SKIP LOCKED
  ), touched AS (
    UPDATE lanes SET next_due = idle.due FROM idle WHERE lanes.id = idle.id RETURNING lanes.id
  ), untouched AS MATERIALIZED (
    SELECT targets.id, targets.app_id, targets.callback_url, ${dueOf(now)} AS due FROM targets
    WHERE targets.is_locked OR ((targets.next_due IS NULL OR targets.next_due > ${dueOf(now)})
      AND targets.id NOT IN (SELECT id FROM touched))
  ), kept AS MATERIALIZED (
    SELECT own.lane_id FROM untouched CROSS JOIN LATERAL (
      SELECT lane_wakes.lane_id FROM lane_wakes WHERE lane_wakes.lane_id = untouched.id AND lane_wakes.due_time <= untouched.due
      LIMIT 1 FOR KEY SHARE SKIP LOCKED
    ) AS own
  ), noted AS (
    INSERT INTO lane_wakes (lane_id, app_id, callback_url, due_time)
    SELECT id, app_id, callback_url, due FROM untouched WHERE id NOT IN (SELECT lane_id FROM kept)
    RETURNING lane_id
  )`

const isHeld = (now: number) => sql`targets.leased_until > CAST(${now} AS BIGINT)`

const givenColumns = sql`n INTEGER, account_id TEXT, phone_number_id TEXT, field TEXT, conversation TEXT, value TEXT, trace TEXT,
  span TEXT, subject_id TEXT`

const concernsLinked = sql`linked.account_id = given.account_id AND linked.phone_number_id = given.phone_number_id
  AND linked.field = given.field`

/** Who is notified of events, with the addresses: CTEs to follow `given`. */
const linkedApps = sql`
  concerned AS MATERIALIZED (
    SELECT DISTINCT account_id, phone_number_id, field FROM given
  ), linked AS MATERIALIZED (
    SELECT concerned.*, subscribers.app_id, subscribers.callback_url FROM concerned CROSS JOIN LATERAL (
      ${subscribersOf(
        sql.ref('concerned.account_id'),
        sql.ref('concerned.phone_number_id'),
        sql`jsonb_exists(app_subscriptions.fields, concerned.field)`,
      )}
    ) AS subscribers
  )`

/**
 * Stores events, their deliveries and the due times of their lanes in one statement; signals when a lane is missing. Ids are drawn in the
 * order of the events. What the holder of a lane would read of its deliveries comes with them, so that it need not.
 */
export const insertAtOnce = defineSql<NewEvents>()(
  ({ events, now }) => sql<RaisedFor>`
    WITH given AS MATERIALIZED (
      SELECT nextval('events_id_seq') AS event_id, o.*
      FROM json_to_recordset(${events}) AS o (${givenColumns})
    ), ${linkedApps}, targets AS MATERIALIZED (
      ${targetsOf(sql`(SELECT DISTINCT app_id, callback_url FROM linked) AS wanted
        JOIN lanes AS seen ON seen.app_id = wanted.app_id AND seen.callback_url = wanted.callback_url`)}
    ), stored AS (
      INSERT INTO events (id, account_id, phone_number_id, field, value, created_time, trace, span, subject_id)
      SELECT event_id, account_id, NULLIF(phone_number_id, ''), field, value, CAST(${now} AS BIGINT), trace, span, subject_id
      FROM given
    ), inserted AS (
      INSERT INTO deliveries (${deliveryColumns})
      SELECT given.event_id, targets.id, given.account_id, targets.app_id, given.field, given.conversation, ${newDelivery(now)}
      FROM given JOIN linked ON ${concernsLinked}
      JOIN targets ON targets.app_id = linked.app_id AND targets.callback_url = linked.callback_url
      ORDER BY given.event_id
      RETURNING id, event_id, lane_id
    ), ${touchLanes(now)}
    SELECT given.n, given.event_id, linked.app_id, linked.callback_url,
      CASE WHEN ${signalUnless(sql`linked.app_id IS NULL OR targets.id IS NOT NULL`)} = 1 THEN targets.id END AS lane_id,
      EXISTS (SELECT 1 FROM noted WHERE noted.lane_id = targets.id) AS is_noted,
      CASE WHEN ${isHeld(now)} THEN targets.lease_owner END AS holder,
      CASE WHEN ${isHeld(now)} AND targets.stopped_until <= CAST(${now} AS BIGINT) THEN inserted.id END AS delivery_id,
      CASE WHEN ${isHeld(now)} THEN (
        SELECT p.id FROM deliveries p
        WHERE p.lane_id = targets.id AND p.conversation = given.conversation AND ${isAmongWaiting('p')}
        ORDER BY p.id DESC LIMIT 1
      ) END AS previous_id,
      CASE WHEN ${isHeld(now)} THEN (SELECT apps.secret FROM apps WHERE apps.id = targets.app_id) END AS secret
    FROM given LEFT JOIN linked ON ${concernsLinked}
    LEFT JOIN targets ON targets.app_id = linked.app_id AND targets.callback_url = linked.callback_url
    LEFT JOIN inserted ON inserted.event_id = given.event_id AND inserted.lane_id = targets.id
    ORDER BY given.n`,
)

export const selectMissingLanes = defineSql<Pick<NewEvents, 'events'>>()(
  ({ events }) => sql<Omit<LaneAddress, 'id'>>`
    WITH given AS (SELECT * FROM json_to_recordset(${events}) AS o (${givenColumns})), ${linkedApps}
    SELECT DISTINCT app_id, callback_url FROM linked WHERE NOT EXISTS (
      SELECT 1 FROM lanes WHERE lanes.app_id = linked.app_id AND lanes.callback_url = linked.callback_url
    )`,
)

/** Stores the deliveries of an existing event. */
export const insertMoreAtOnce = defineSql<MoreDeliveries>()(
  ({ event_id, lanes, account_id, field, conversation, now }) => sql<{ id: string }>`
    WITH targets AS MATERIALIZED (${targetsOf(sql`json_each(${lanes}) AS o JOIN lanes AS seen ON seen.id = o.key`)}),
    inserted AS (
      INSERT INTO deliveries (${deliveryColumns})
      SELECT CAST(${event_id} AS BIGINT), targets.id, CAST(${account_id} AS TEXT), targets.app_id, CAST(${field} AS TEXT),
        CAST(${conversation} AS TEXT), ${newDelivery(now)}
      FROM targets
    ), ${touchLanes(now)}
    SELECT targets.id FROM targets`,
)
