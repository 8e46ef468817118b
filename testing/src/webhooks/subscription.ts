import { webhookFields } from '../generated/webhook-fields.ts'
import type { StoreKeys } from '../start/prepared-store.ts'
import type { Subscriber } from './subscriber.ts'

/** Links our app of each business to the accounts of the business, beside the apps that are linked already, and opens the windows of the world anew. */
export function describeSubscription({ businesses, accounts, users }: StoreKeys, subscriber: Subscriber) {
  const appOf = new Map(businesses.map(({ id, app_id }) => [id, app_id]))
  return {
    users,
    apps: businesses.map(({ id, app_id }) => ({
      id: app_id,
      business_id: id,
      webhook: subscriber.describeWebhook(app_id, webhookFields),
    })),
    accounts: accounts.map(({ subscribed_apps, ...account }) => ({
      ...account,
      subscribed_apps: [...new Set([...subscribed_apps, appOf.get(account.business_id) ?? []].flat())],
    })),
  }
}
