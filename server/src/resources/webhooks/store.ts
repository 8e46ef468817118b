import type { Db, Transaction } from '../../db/database.ts'
import type { AppSubscriptionsTable, PhoneNumberCallbacksTable, SubscribedAppsTable } from '../../db/tables.ts'
import { accountObject } from '../../delivery/webhook-fields.ts'
import type { Node } from '../../graph/nodes.ts'

/** What an app asked to hear of, and where. */
export async function findSubscription(db: Db, app_id: string): Promise<AppSubscriptionsTable | undefined> {
  return db.query
    .selectFrom('app_subscriptions')
    .selectAll()
    .where('app_id', '=', app_id)
    .where('object', '=', accountObject)
    .executeTakeFirst()
}

/** Whether an app is linked to an account: one of its `subscribed_apps`. In a transaction it stays so until that ends. */
export async function isAppLinked(db: Db, account_id: string, app_id: string): Promise<boolean> {
  const query = db.query
    .selectFrom('subscribed_apps')
    .select('app_id')
    .where('account_id', '=', account_id)
    .where('app_id', '=', app_id)
  const isHeld = 'inTransaction' in db && db.lockRows
  const link = await (isHeld ? query.forKeyShare() : query).executeTakeFirst()
  return link !== undefined
}

type NumberCallbacks = Omit<PhoneNumberCallbacksTable, 'phone_number_id' | 'app_id'>

/** Sets where an app hears of one number; what is left out stays, null goes back to the app's own callback. */
export async function setNumberCallbacks(
  tx: Transaction,
  { phone_number_id, app_id }: { phone_number_id: string; app_id: string },
  changes: Partial<NumberCallbacks>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return
  await tx.query
    .insertInto('phone_number_callbacks')
    .values({ phone_number_id, app_id, override_callback_uri: null, webhook_url: null, ...changes })
    .onConflict((conflict) => conflict.columns(['phone_number_id', 'app_id']).doUpdateSet(changes))
    .execute()
}

/** Makes the subscription of an app, or puts a new one in the place of the one that it has. */
export async function putSubscription(
  tx: Transaction,
  subscription: Omit<AppSubscriptionsTable, 'object'>,
): Promise<void> {
  const { callback_url, verify_token, fields } = subscription
  await tx.query
    .insertInto('app_subscriptions')
    .values({ ...subscription, object: accountObject })
    .onConflict((conflict) =>
      conflict.columns(['app_id', 'object']).doUpdateSet({ callback_url, verify_token, fields }),
    )
    .execute()
}

/** The fields that an app is subscribed to, held until the transaction ends; undefined when it has no subscription. */
export async function lockSubscribedFields(tx: Transaction, app_id: string): Promise<string[] | undefined> {
  let query = tx.query
    .selectFrom('app_subscriptions')
    .select('fields')
    .where('app_id', '=', app_id)
    .where('object', '=', accountObject)
  if (tx.lockRows) query = query.forUpdate()
  return (await query.executeTakeFirst())?.fields
}

/** Leaves an app subscribed to these fields, or to nothing at all. */
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

/** Links an app to an account, with a callback of its own for it or none; also when it is linked already. */
export async function linkApp(tx: Transaction, link: SubscribedAppsTable): Promise<void> {
  const { override_callback_uri, verify_token } = link
  await tx.query
    .insertInto('subscribed_apps')
    .values(link)
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'app_id']).doUpdateSet({ override_callback_uri, verify_token }),
    )
    .execute()
}

/** The apps that are linked to an account, the first linked first. */
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

/** Ends the link of an app to an account, with the callbacks that the app has for the account's numbers. */
export async function unlinkApp(tx: Transaction, account_id: string, app_id: string): Promise<void> {
  const { query } = tx
  await query.deleteFrom('subscribed_apps').where('account_id', '=', account_id).where('app_id', '=', app_id).execute()
  await query
    .deleteFrom('phone_number_callbacks')
    .where('app_id', '=', app_id)
    .where('phone_number_id', 'in', query.selectFrom('phone_numbers').select('id').where('account_id', '=', account_id))
    .execute()
}
