import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from '../base/clock.ts'
import type { Transaction } from '../db/database.ts'
import { defineStatement } from '../db/statement.ts'

/** Something that happened on an account: the value of one change of a webhook, as it will be told. */
export interface NewEvent {
  readonly account_id: string
  /** The number that it happened on, where it did on one: that decides where it is told. */
  readonly phone_number_id: string | null
  readonly field: string
  /** An object, or one as JSON text. */
  readonly value: object | string
}

/**
 * Raises an event, in the transaction of what caused it; there is no other way. Who is to hear of it is settled here and now:
 * every app that is linked to the account and subscribed to the field, at the address that it has at this moment. So a change
 * of a subscription takes effect with the next event, and what is under way is not disturbed.
 */
export async function raiseEvent(tx: Transaction, clock: Clock, event: NewEvent): Promise<void> {
  const { account_id, phone_number_id, field } = event
  const created_time = clock.now()
  const value = typeof event.value === 'string' ? event.value : JSON.stringify(event.value)
  const stored = await tx.first(insertEvent, { account_id, phone_number_id, field, value, created_time })
  if (!stored) throw new Error('the event was not stored')
  const linked = await tx.list(findLinkedApps, { account_id, phone_number_id: phone_number_id ?? '' })
  for (const { app_id, callback_url, fields, known_lane_id } of linked) {
    if (!fields.includes(field)) continue
    const lane_id = known_lane_id ?? laneIdOf(app_id, callback_url)
    // A lane stays for ever, so one that is known need not be made.
    if (known_lane_id === null) await tx.first(insertLane, { lane_id, app_id, callback_url })
    await tx.first(insertDelivery, { event_id: stored.id, lane_id, account_id, app_id, field, created_time })
    tx.makeDue('deliveries', created_time)
  }
}

/** The same app at the same address is the same lane, whichever process meets it first. */
function laneIdOf(app_id: string, callback_url: string): string {
  return createHash('sha256').update(`${app_id} ${callback_url}`).digest('hex').slice(0, 32)
}

/**
 * Each linked app with where it hears of the number: at the number's own callback, else the account's, else the app's. In a
 * fixed order, so that transactions that make the same lanes never wait for each other crosswise.
 */
const findLinkedApps = defineStatement<{ account_id: string; phone_number_id: string }>()(
  (db, { account_id, phone_number_id }) =>
    db
      .selectFrom((linked) =>
        linked
          .selectFrom('subscribed_apps')
          .innerJoin('app_subscriptions', 'app_subscriptions.app_id', 'subscribed_apps.app_id')
          .leftJoin('phone_number_callbacks', (join) =>
            join
              .onRef('phone_number_callbacks.app_id', '=', 'subscribed_apps.app_id')
              .on('phone_number_callbacks.phone_number_id', '=', phone_number_id),
          )
          .select(({ fn }) => [
            'subscribed_apps.app_id',
            'app_subscriptions.fields',
            fn
              .coalesce(
                'phone_number_callbacks.override_callback_uri',
                'phone_number_callbacks.webhook_url',
                'subscribed_apps.override_callback_uri',
                'app_subscriptions.callback_url',
              )
              .as('callback_url'),
          ])
          .where('subscribed_apps.account_id', '=', account_id)
          .as('linked'),
      )
      .leftJoin('lanes', (join) =>
        join.onRef('lanes.app_id', '=', 'linked.app_id').onRef('lanes.callback_url', '=', 'linked.callback_url'),
      )
      .select(['linked.app_id', 'linked.fields', 'linked.callback_url', 'lanes.id as known_lane_id'])
      .orderBy('linked.app_id'),
)

const insertEvent = defineStatement<{
  account_id: string
  phone_number_id: string | null
  field: string
  value: string
  created_time: number
}>()((db, { account_id, phone_number_id, field, value, created_time }) =>
  db.insertInto('events').values({ account_id, phone_number_id, field, value, created_time }).returning('id'),
)

const insertLane = defineStatement<{ lane_id: string; app_id: string; callback_url: string }>()(
  (db, { lane_id, app_id, callback_url }) =>
    db
      .insertInto('lanes')
      .values({ id: lane_id, app_id, callback_url, leased_until: 0, lease_owner: null, paused_until: 0, failures: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .returning(sql<number>`1`.as('made')),
)

const insertDelivery = defineStatement<{
  event_id: number
  lane_id: string
  account_id: string
  app_id: string
  field: string
  created_time: number
}>()((db, { event_id, lane_id, account_id, app_id, field, created_time }) =>
  db
    .insertInto('deliveries')
    .values({
      event_id,
      lane_id,
      account_id,
      app_id,
      field,
      state: 'waiting',
      attempts: 0,
      earlier_attempts: 0,
      due_time: created_time,
      created_time,
      started_time: created_time,
      finished_time: null,
    })
    .returning('id'),
)
