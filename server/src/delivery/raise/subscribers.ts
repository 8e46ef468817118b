import { type RawBuilder, sql } from 'kysely'
import { hasAccess } from '../../auth/access.ts'

/**
 * Each app that is linked to an account, whose business has access to it, and that is subscribed to a field, with the callback for
 * a number: the number's own, the one for a while first, else the account's, else the app's.
 */
export function subscribersOf(
  account_id: unknown,
  phone_number_id: unknown,
  isSubscribed: RawBuilder<boolean>,
): RawBuilder<unknown> {
  return sql`
    SELECT links.app_id, COALESCE(
      numbers.temporary_callback_uri, numbers.override_callback_uri, numbers.webhook_url, links.override_callback_uri,
      app_subscriptions.callback_url
    ) AS callback_url
    FROM subscribed_apps links
    JOIN app_subscriptions ON app_subscriptions.app_id = links.app_id
    JOIN apps ON apps.id = links.app_id
    LEFT JOIN phone_number_callbacks numbers
      ON numbers.app_id = links.app_id AND numbers.phone_number_id = ${phone_number_id}
    WHERE links.account_id = ${account_id} AND ${isSubscribed}
      AND ${hasAccess(sql.ref('apps.business_id'), sql.ref('links.account_id'))}`
}

/** Where an app receives an event. */
export interface Target {
  readonly app_id: string
  readonly callback_url: string
  readonly lane_id: string
}
