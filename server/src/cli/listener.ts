import { sql } from 'kysely'
import type { Db, Transaction } from '../db/database.ts'
import { openSecret, sealSecret } from '../db/secrets/sealing.ts'
import type { AppSubscriptionsTable } from '../db/tables.ts'
import { accountObject, webhookFields } from '../delivery/webhook-fields.ts'
import {
  findSubscription,
  linkApp,
  type NewSubscription,
  openVerifyToken,
  putSubscription,
  sealVerifyToken,
} from '../resources/webhooks/store.ts'

/** A listener in place of an app's callback, and what to restore when it ends: kept in the store, so that no crash loses it. */
export interface Listener {
  readonly app_id: string
  readonly callback_url: string
  /** Its machine, and the address there to check whether it runs. */
  readonly host: string
  readonly local_url: string
  readonly started_time: number
  /** The app's previous subscription; null: none. */
  readonly before: NewSubscription | null
  /** The accounts that it linked the app to. */
  readonly linked: readonly string[]
}

export type NewListener = Omit<Listener, 'before' | 'linked'>

/** The apps with a listener, running or killed. */
export async function listListenedApps({ query }: Db): Promise<string[]> {
  const apps = await query
    .selectFrom('apps')
    .select('id')
    .where((eb) =>
      eb.or([
        eb.exists(eb.selectFrom('listeners').select('app_id').whereRef('app_id', '=', 'apps.id')),
        eb.exists(
          eb.selectFrom('service_secrets').select('name').where('name', '=', sql<string>`'listener:' || apps.id`),
        ),
      ]),
    )
    .orderBy('id')
    .execute()
  return apps.map(({ id }) => id)
}

/** The listener of an app, running or killed. */
export async function findListener(tx: Transaction, app_id: string): Promise<Listener | undefined> {
  await moveEarlierRecord(tx, app_id)
  const found = await tx.query
    .selectFrom('listeners')
    .select('record')
    .where('app_id', '=', app_id)
    .forUpdate()
    .executeTakeFirst()
  return found && (JSON.parse(openSecret(tx, 'listeners.record', app_id, found.record)) as Listener)
}

const earlierPrefix = 'listener:'

/** The app of a listener that an earlier version stored among the service's secrets, by the secret's name; [] for other secrets. */
export function earlierListener(name: string): string[] {
  return name.startsWith(earlierPrefix) ? [name.slice(earlierPrefix.length)] : []
}

async function moveEarlierRecord(tx: Transaction, app_id: string): Promise<void> {
  const name = `${earlierPrefix}${app_id}`
  const [earlier] = await tx.query.deleteFrom('service_secrets').where('name', '=', name).returning('value').execute()
  if (earlier) await insertRecord(tx, app_id, openSecret(tx, 'service_secrets.value', name, earlier.value))
}

/** Sealed, because it holds a verify token, and a path that only the listener knows. False when there already is one. */
async function insertRecord(tx: Transaction, app_id: string, text: string): Promise<boolean> {
  const record = await sealSecret(tx, 'listeners.record', app_id, text)
  const taken = await tx.query
    .insertInto('listeners')
    .values({ app_id, record })
    .onConflict((conflict) => conflict.doNothing())
    .returning('app_id')
    .executeTakeFirst()
  return taken !== undefined
}

/**
 * Subscribes a listener to everything in place of an app's callback, and links the app to all accounts that its business sees. The
 * app must have no listener; undefined when it got one at the same moment.
 */
export async function beginListening(
  tx: Transaction,
  listener: NewListener,
  verify_token: string,
): Promise<Listener | undefined> {
  const { app_id, callback_url, started_time } = listener
  const subscription = await findSubscription(tx, app_id)
  const linked = await listUnlinkedAccounts(tx, app_id)
  const whole: Listener = { ...listener, before: subscription ? pickBefore(tx, subscription) : null, linked }
  if (!(await insertRecord(tx, app_id, JSON.stringify(whole)))) return undefined
  await putSubscription(tx, {
    app_id,
    callback_url,
    verify_token,
    fields: [...webhookFields],
    created_time: started_time,
  })
  for (const account_id of linked) {
    await linkApp(tx, {
      account_id,
      app_id,
      override_callback_uri: null,
      verify_token: null,
      created_time: started_time,
    })
  }
  return whole
}

function pickBefore(db: Db, subscription: AppSubscriptionsTable): NewSubscription {
  const { app_id, callback_url, fields, created_time } = subscription
  return { app_id, callback_url, verify_token: openVerifyToken(db, subscription), fields, created_time }
}

async function listUnlinkedAccounts(tx: Transaction, app_id: string): Promise<string[]> {
  const accounts = await tx.query
    .selectFrom('apps')
    .innerJoin('account_access', 'account_access.business_id', 'apps.business_id')
    .leftJoin('subscribed_apps', (join) =>
      join
        .onRef('subscribed_apps.account_id', '=', 'account_access.account_id')
        .onRef('subscribed_apps.app_id', '=', 'apps.id'),
    )
    .select('account_access.account_id')
    .distinct()
    .where('apps.id', '=', app_id)
    .where('subscribed_apps.app_id', 'is', null)
    .orderBy('account_access.account_id')
    .execute()
  return accounts.map(({ account_id }) => account_id)
}

/**
 * Restores the state before a listener, except what others changed meanwhile. Deliveries that still wait for the listener are given
 * up: the next program on its port must not get them. False where others changed the callback.
 */
export async function endListening(tx: Transaction, listener: Listener, now: number): Promise<boolean> {
  const { app_id, callback_url, before, linked, started_time } = listener
  const current = await findSubscription(tx, app_id)
  const isOurs = current?.callback_url === callback_url
  if (isOurs) {
    await (before === null
      ? tx.query.deleteFrom('app_subscriptions').where('app_id', '=', app_id).where('object', '=', accountObject)
      : tx.query
          .updateTable('app_subscriptions')
          .set({ ...before, ...(await sealVerifyToken(tx, app_id, before.verify_token)) })
          .where('app_id', '=', app_id)
          .where('object', '=', accountObject)
    ).execute()
  }
  if (linked.length > 0) {
    await tx.query
      .deleteFrom('subscribed_apps')
      .where('app_id', '=', app_id)
      .where('created_time', '=', started_time)
      .where('override_callback_uri', 'is', null)
      .where('account_id', 'in', [...linked])
      .execute()
  }
  await tx.query
    .updateTable('deliveries')
    .set({ state: 'failed', finished_time: now })
    .where('state', '=', 'waiting')
    .where(
      'lane_id',
      'in',
      tx.query.selectFrom('lanes').select('id').where('app_id', '=', app_id).where('callback_url', '=', callback_url),
    )
    .execute()
  // After a reset of the store the app may have another listener.
  const recorded = await findListener(tx, app_id)
  if (recorded?.callback_url === callback_url) {
    await tx.query.deleteFrom('listeners').where('app_id', '=', app_id).execute()
  }
  return isOurs
}

/** How many accounts and numbers have their own callbacks for the app: the listener does not get those events. */
export async function countOwnCallbacks(tx: Transaction, app_id: string): Promise<number> {
  const { accounts } = await tx.query
    .selectFrom('subscribed_apps')
    .select(({ fn }) => fn.countAll<number>().as('accounts'))
    .where('app_id', '=', app_id)
    .where('override_callback_uri', 'is not', null)
    .executeTakeFirstOrThrow()
  const { numbers } = await tx.query
    .selectFrom('phone_number_callbacks')
    .select(({ fn }) => fn.countAll<number>().as('numbers'))
    .where('app_id', '=', app_id)
    .where(({ or, eb }) =>
      or([
        eb('temporary_callback_uri', 'is not', null),
        eb('override_callback_uri', 'is not', null),
        eb('webhook_url', 'is not', null),
      ]),
    )
    .executeTakeFirstOrThrow()
  return accounts + numbers
}
