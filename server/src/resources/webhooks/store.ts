import type { Db, Transaction } from '../../db/database.ts'
import type { AppSubscriptionsTable, PhoneNumberCallbacksTable } from '../../db/tables.ts'
import { accountObject } from './schemas.ts'

/** What an app asked to hear of, and where. */
export async function findSubscription(db: Db, app_id: string): Promise<AppSubscriptionsTable | undefined> {
  return db.query
    .selectFrom('app_subscriptions')
    .selectAll()
    .where('app_id', '=', app_id)
    .where('object', '=', accountObject)
    .executeTakeFirst()
}

/** Whether an app is linked to an account: one of its `subscribed_apps`. */
export async function isAppLinked(db: Db, account_id: string, app_id: string): Promise<boolean> {
  const link = await db.query
    .selectFrom('subscribed_apps')
    .select('app_id')
    .where('account_id', '=', account_id)
    .where('app_id', '=', app_id)
    .executeTakeFirst()
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
