import type { WebhookEvent } from '@switchboard/client'
import type { StoreKeys } from '../start/prepared-store.ts'
import type { Subscriber } from './subscriber.ts'

/** The fields that the subscriber of the tests gets: all of them. */
const fields = [
  'messages',
  'calls',
  'group_lifecycle_update',
  'group_participants_update',
  'group_settings_update',
  'group_status_update',
  'account_update',
  'phone_number_name_update',
  'phone_number_quality_update',
  'message_template_status_update',
  'message_template_quality_update',
  'template_category_update',
  'user_preferences',
] satisfies readonly WebhookEvent['field'][]

/** Links our app of each business to the accounts of the business, beside the apps that are linked already, and opens the windows of the world anew. */
export function describeSubscription({ businesses, accounts, users }: StoreKeys, subscriber: Subscriber) {
  const appOf = new Map(businesses.map(({ id, app_id }) => [id, app_id]))
  return {
    users,
    apps: businesses.map(({ id, app_id }) => ({
      id: app_id,
      business_id: id,
      webhook: subscriber.describeWebhook(app_id, fields),
    })),
    accounts: accounts.map(({ subscribed_apps, ...account }) => ({
      ...account,
      subscribed_apps: [...new Set([...subscribed_apps, appOf.get(account.business_id) ?? []].flat())],
    })),
  }
}
