import type { Db, Transaction } from '../../db/database.ts'
import { keyedHash } from '../../db/secrets/keyed-hash.ts'
import { openSecret, sealSecret } from '../../db/secrets/sealing.ts'
import type { AppSubscriptionsTable, PhoneNumberCallbacksTable, SubscribedAppsTable } from '../../db/tables.ts'
import { ensureLanes } from '../../delivery/store/lane-rows.ts'
import { accountObject } from '../../delivery/webhook-fields.ts'
import type { Node } from '../../graph/nodes.ts'

/** A requested subscription, its verify token in clear. */
export type NewSubscription = Omit<AppSubscriptionsTable, 'object' | 'verify_token' | 'verify_token_hash'> & {
  readonly verify_token: string
}

/** A requested link. */
export type NewLink = Omit<SubscribedAppsTable, 'verify_token'> & { readonly verify_token: string | null }

/** An app's subscription: which fields, and where. */
export async function findSubscription(db: Db, app_id: string): Promise<AppSubscriptionsTable | undefined> {
  return db.query
    .selectFrom('app_subscriptions')
    .selectAll()
    .where('app_id', '=', app_id)
    .where('object', '=', accountObject)
    .executeTakeFirst()
}

/** The verify token of a stored subscription. */
export function openVerifyToken(db: Db, { app_id, object, verify_token }: AppSubscriptionsTable): string {
  return openSecret(db, 'app_subscriptions.verify_token', `${app_id} ${object}`, verify_token)
}

/** A verify token as stored: sealed, and as the hash for look-ups. */
export async function sealVerifyToken(
  tx: Transaction,
  app_id: string,
  text: string,
): Promise<Pick<AppSubscriptionsTable, 'verify_token' | 'verify_token_hash'>> {
  return {
    verify_token: await sealSecret(tx, 'app_subscriptions.verify_token', `${app_id} ${accountObject}`, text),
    verify_token_hash: keyedHash(tx, 'verify token', text),
  }
}

/** Whether an app is linked to an account: one of its `subscribed_apps`. In a transaction it stays so until that ends. */
export async function isAppLinked(db: Db, account_id: string, app_id: string): Promise<boolean> {
  const query = db.query
    .selectFrom('subscribed_apps')
    .select('app_id')
    .where('account_id', '=', account_id)
    .where('app_id', '=', app_id)
  const link = await ('inTransaction' in db ? query.forKeyShare() : query).executeTakeFirst()
  return link !== undefined
}

type NumberCallbacks = Omit<PhoneNumberCallbacksTable, 'phone_number_id' | 'app_id'>

/** Sets an app's callback for one number; a missing value stays, null returns to the next of its callbacks. */
export async function setNumberCallbacks(
  tx: Transaction,
  { phone_number_id, app_id }: { phone_number_id: string; app_id: string },
  changes: Partial<NumberCallbacks>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return
  await tx.query
    .insertInto('phone_number_callbacks')
    .values({
      phone_number_id,
      app_id,
      override_callback_uri: null,
      webhook_url: null,
      temporary_callback_uri: null,
      ...changes,
    })
    .onConflict((conflict) => conflict.columns(['phone_number_id', 'app_id']).doUpdateSet(changes))
    .execute()
  await makeLanes(tx, app_id, [changes.temporary_callback_uri, changes.override_callback_uri, changes.webhook_url])
}

/** An app's callback of a number for a while. The number is locked: it changes with it alone. */
export async function findTemporaryCallback(
  tx: Transaction,
  { phone_number_id, app_id }: { phone_number_id: string; app_id: string },
): Promise<string | undefined> {
  const found = await tx.query
    .selectFrom('phone_number_callbacks')
    .select('temporary_callback_uri')
    .where('phone_number_id', '=', phone_number_id)
    .where('app_id', '=', app_id)
    .executeTakeFirst()
  return found?.temporary_callback_uri ?? undefined
}

/** Makes the lanes of callbacks that were set, so that the first event finds them. */
async function makeLanes(tx: Transaction, app_id: string, urls: readonly (string | null | undefined)[]): Promise<void> {
  await ensureLanes(
    tx,
    urls.flatMap((callback_url) => (callback_url ? [{ app_id, callback_url }] : [])),
  )
}

/** Creates or replaces the subscription of an app. */
export async function putSubscription(tx: Transaction, subscription: NewSubscription): Promise<void> {
  const { app_id, callback_url, fields, created_time } = subscription
  const changes = { callback_url, fields, ...(await sealVerifyToken(tx, app_id, subscription.verify_token)) }
  await tx.query
    .insertInto('app_subscriptions')
    .values({ app_id, object: accountObject, created_time, ...changes })
    .onConflict((conflict) => conflict.columns(['app_id', 'object']).doUpdateSet(changes))
    .execute()
  await makeLanes(tx, subscription.app_id, [callback_url])
}

/** The fields that an app is subscribed to, locked until the transaction ends; undefined when it has no subscription. */
export async function lockSubscribedFields(tx: Transaction, app_id: string): Promise<string[] | undefined> {
  const found = await tx.query
    .selectFrom('app_subscriptions')
    .select('fields')
    .where('app_id', '=', app_id)
    .where('object', '=', accountObject)
    .forUpdate()
    .executeTakeFirst()
  return found?.fields
}

/** Reduces an app's subscription to these fields, or removes it. */
export async function keepSubscribedFields(tx: Transaction, app_id: string, fields: string[]): Promise<void> {
  const { query } = tx
  await (fields.length === 0
    ? query.deleteFrom('app_subscriptions').where('app_id', '=', app_id).where('object', '=', accountObject).execute()
    : query
        .updateTable('app_subscriptions')
        .set({ fields })
        .where('app_id', '=', app_id)
        .where('object', '=', accountObject)
        .execute())
}

/** Links an app to an account, with or without a callback of its own; also when it is already linked. */
export async function linkApp(tx: Transaction, link: NewLink): Promise<void> {
  const { account_id, app_id, override_callback_uri, created_time } = link
  const row = `${account_id} ${app_id}`
  const verify_token =
    link.verify_token === null ? null : await sealSecret(tx, 'subscribed_apps.verify_token', row, link.verify_token)
  await tx.query
    .insertInto('subscribed_apps')
    .values({ account_id, app_id, override_callback_uri, verify_token, created_time })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'app_id']).doUpdateSet({ override_callback_uri, verify_token }),
    )
    .execute()
  await makeLanes(tx, link.app_id, [override_callback_uri])
}

/** The apps that are linked to an account, in the order of linking. */
export async function listLinkedApps(db: Db, account: Node) {
  return db.query
    .selectFrom('subscribed_apps')
    .innerJoin('apps', 'apps.id', 'subscribed_apps.app_id')
    .select(['apps.id', 'apps.name', 'apps.business_id', 'subscribed_apps.override_callback_uri'])
    .where('subscribed_apps.account_id', '=', account.id)
    .orderBy('subscribed_apps.created_time')
    .orderBy('apps.id')
    .execute()
}

/** Ends the link of an app to an account, with the app's callbacks for the account's numbers. */
export async function unlinkApp(tx: Transaction, account_id: string, app_id: string): Promise<void> {
  const { query } = tx
  await query.deleteFrom('subscribed_apps').where('account_id', '=', account_id).where('app_id', '=', app_id).execute()
  await query
    .deleteFrom('phone_number_callbacks')
    .where('app_id', '=', app_id)
    .where('phone_number_id', 'in', query.selectFrom('phone_numbers').select('id').where('account_id', '=', account_id))
    .execute()
}

/** How many links have a callback of their own, in the whole store. For operators. */
export async function countOverridesForOperators(db: Db): Promise<number> {
  const { count } = await db.query
    .selectFrom('subscribed_apps')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('override_callback_uri', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}
