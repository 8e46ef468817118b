import { sql } from 'kysely'
import { writeAccess } from '../../../auth/access.ts'
import type { Db } from '../../../db/database.ts'
import { emptiedValue } from '../../../db/emptied-value.ts'
import { isAmongWaiting } from '../../../db/waiting.ts'
import { isDown } from '../../../delivery/rules/pause.ts'
import { isSubscribed } from '../../../delivery/store/lane-conditions.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import { describeStoredSubject } from '../../../stream/event-subject.ts'
import { shownValueOf } from '../../../stream/read.ts'
import { isSeen } from '../limits.ts'
import type { AheadFacts, AttemptFacts, DeliveryDetails, DeliveryFacts, LinkedApp } from './facts.ts'

/** Those that were not delivered come first. */
const maxDeliveries = 2000

const owner = { account: sql.ref<string>('deliveries.account_id') }

/** The deliveries of these events that an operator sees, with their subscribers. */
export async function listDeliveriesOfEventsForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  events: readonly number[],
): Promise<DeliveryFacts[]> {
  if (events.length === 0) return []
  const rows = await selectDeliveries(db)
    .where('deliveries.event_id', 'in', [...events])
    .where(isSeen(limits, owner))
    .orderBy(sql`CASE WHEN deliveries.state = 'delivered' THEN 1 ELSE 0 END`)
    .orderBy('deliveries.id')
    .limit(maxDeliveries)
    .execute()
  return rows.map(toFacts)
}

export async function findDeliveryForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  id: number,
): Promise<DeliveryFacts | undefined> {
  const row = await selectDeliveries(db).where('deliveries.id', '=', id).where(isSeen(limits, owner)).executeTakeFirst()
  return row && toFacts(row)
}

function selectDeliveries(db: Db) {
  return db.query
    .selectFrom('deliveries')
    .innerJoin('lanes', 'lanes.id', 'deliveries.lane_id')
    .innerJoin('apps', 'apps.id', 'deliveries.app_id')
    .select([
      'deliveries.id',
      'deliveries.event_id',
      'deliveries.account_id',
      'deliveries.lane_id',
      'deliveries.app_id',
    ])
    .select(['deliveries.conversation', 'deliveries.state', 'deliveries.attempts', 'deliveries.earlier_attempts'])
    .select(['deliveries.due_time', 'deliveries.started_time', 'deliveries.finished_time', 'apps.name as app_name'])
    .select(['lanes.callback_url', 'lanes.failures', 'lanes.paused_until', 'lanes.stopped_until', 'lanes.leased_until'])
    .select([
      sql<number>`CASE WHEN ${isSubscribed} THEN 1 ELSE 0 END`.as('is_current'),
      sql<number>`CASE WHEN EXISTS (SELECT 1 FROM events e WHERE e.id = deliveries.event_id
        AND e.value = ${sql.lit(emptiedValue)}) THEN 1 ELSE 0 END`.as('is_emptied'),
    ])
}

type DeliveryRow = Awaited<ReturnType<ReturnType<typeof selectDeliveries>['execute']>>[number]

function toFacts({ attempts, earlier_attempts, is_current, is_emptied, ...row }: DeliveryRow): DeliveryFacts {
  return {
    ...row,
    attempts: attempts - earlier_attempts,
    isReplayed: earlier_attempts > 0,
    isCurrent: is_current === 1,
    isEmptied: is_emptied === 1,
  }
}

/** What more decides of one webhook: its last attempt, and the one of its conversation that it waits for. */
export async function readDetailsForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  delivery: DeliveryFacts,
): Promise<DeliveryDetails> {
  const { id, event_id, lane_id, state, attempts } = delivery
  return {
    subject: await findSubject(db, event_id),
    last: state !== 'delivered' && attempts > 0 ? await findLastAttempt(db, id) : undefined,
    ahead: state === 'waiting' ? await findAhead(db, limits, delivery) : undefined,
    lastSuccess: state === 'waiting' && isDown(delivery) ? await findLastSuccess(db, lane_id) : undefined,
  }
}

async function findLastAttempt(db: Db, delivery_id: number): Promise<AttemptFacts | undefined> {
  return db.query
    .selectFrom('delivery_attempts')
    .select(['status', 'problem'])
    .where('delivery_id', '=', delivery_id)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
}

async function findAhead(
  db: Db,
  limits: OperatorLimits | undefined,
  { id, lane_id, conversation }: DeliveryFacts,
): Promise<AheadFacts | undefined> {
  const ahead = await db.query
    .selectFrom('deliveries')
    .select(['id', 'attempts', 'earlier_attempts', 'due_time'])
    .where('conversation', '=', conversation)
    .where('lane_id', '=', lane_id)
    .where(isAmongWaiting())
    .where('id', '<', id)
    .where(isSeen(limits, owner))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (!ahead) return undefined
  const attempts = ahead.attempts - ahead.earlier_attempts
  const last = attempts > 0 ? await findLastAttempt(db, ahead.id) : undefined
  return { id: ahead.id, attempts, due_time: ahead.due_time, problem: last?.problem ?? null }
}

/** The webhook that was due last says it to within one retry: there is no index by the time of arrival. */
async function findLastSuccess(db: Db, lane_id: string): Promise<number | undefined> {
  const row = await db.query
    .selectFrom('deliveries')
    .select('finished_time')
    .where('lane_id', '=', lane_id)
    .where('state', '=', 'delivered')
    .orderBy('due_time', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.finished_time ?? undefined
}

async function findSubject(db: Db, event_id: number): Promise<string | undefined> {
  const row = await db.query
    .selectFrom('events')
    .select(['field', shownValueOf(sql.ref('events.value')).as('value')])
    .where('id', '=', event_id)
    .executeTakeFirst()
  return (row && describeStoredSubject(row.field, row.value)) ?? undefined
}

/** The apps that are linked to an account, with the callback that each has for a number. */
export async function listLinkedForOperators(
  db: Db,
  account_id: string,
  phone_number_id: string | null,
): Promise<LinkedApp[]> {
  const rows = await db.query
    .selectFrom('subscribed_apps')
    .innerJoin('apps', 'apps.id', 'subscribed_apps.app_id')
    .leftJoin('app_subscriptions', 'app_subscriptions.app_id', 'subscribed_apps.app_id')
    .leftJoin('phone_number_callbacks', (join) =>
      join
        .onRef('phone_number_callbacks.app_id', '=', 'subscribed_apps.app_id')
        .on('phone_number_callbacks.phone_number_id', '=', phone_number_id ?? ''),
    )
    .select(['subscribed_apps.app_id', 'apps.name as app_name', 'app_subscriptions.fields'])
    .select([
      sql<string | null>`COALESCE(phone_number_callbacks.temporary_callback_uri,
        phone_number_callbacks.override_callback_uri, phone_number_callbacks.webhook_url,
        subscribed_apps.override_callback_uri, app_subscriptions.callback_url)`.as('callback_url'),
      writeAccess(sql.ref('apps.business_id'), sql.ref('subscribed_apps.account_id')).as('has_access'),
    ])
    .where('subscribed_apps.account_id', '=', account_id)
    .orderBy('subscribed_apps.app_id')
    .execute()
  return rows.map(({ has_access, ...app }) => ({ ...app, hasAccess: has_access === 1 }))
}

/** The apps to which events about connections go, by the id of the connection: to the app's own callback, linked or not. */
export async function listAppsOfConnectionsForOperators(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Omit<LinkedApp, 'hasAccess'>>> {
  if (ids.length === 0) return new Map()
  const rows = await db.query
    .selectFrom('connections')
    .innerJoin('apps', 'apps.id', 'connections.app_id')
    .leftJoin('app_subscriptions', 'app_subscriptions.app_id', 'connections.app_id')
    .select(['connections.id', 'connections.app_id', 'apps.name as app_name', 'fields', 'callback_url'])
    .where('connections.id', 'in', [...ids])
    .execute()
  return new Map(rows.map(({ id, ...app }) => [id, app]))
}
