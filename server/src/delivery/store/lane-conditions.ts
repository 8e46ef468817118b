import { sql } from 'kysely'
import { failuresUntilDown } from '../rules/pause.ts'

/**
 * Whether events still go to a lane: an address that the app had before keeps its lane for the log, and an app that is linked to no
 * account (its links go with its access) gets nothing at any address.
 */
export const isSubscribed = sql<boolean>`(EXISTS (SELECT 1 FROM subscribed_apps l WHERE l.app_id = lanes.app_id)
  AND (EXISTS (SELECT 1 FROM app_subscriptions s WHERE s.app_id = lanes.app_id AND s.callback_url = lanes.callback_url)
  OR EXISTS (SELECT 1 FROM subscribed_apps l WHERE l.app_id = lanes.app_id AND l.override_callback_uri = lanes.callback_url)
  OR EXISTS (SELECT 1 FROM phone_number_callbacks c WHERE c.app_id = lanes.app_id AND c.override_callback_uri = lanes.callback_url)
  OR EXISTS (SELECT 1 FROM phone_number_callbacks c WHERE c.app_id = lanes.app_id AND c.webhook_url = lanes.callback_url)
  OR EXISTS (SELECT 1 FROM phone_number_callbacks c WHERE c.app_id = lanes.app_id AND c.temporary_callback_uri = lanes.callback_url)))`

/** Whether something waits for a lane or would go there. */
const isInUse = sql<boolean>`(lanes.next_due IS NOT NULL OR ${isSubscribed})`

/** Whether the subscriber of a lane that is in use did not take what it was sent last. */
export const isFailingInUse = sql<boolean>`lanes.failures > 0 AND ${isInUse}`

/** Whether the subscriber of a lane that is in use is down. */
export const isDownInUse = sql<boolean>`lanes.failures >= ${sql.lit(failuresUntilDown)} AND ${isInUse}`
