import { setTimeout as wait } from 'node:timers/promises'
import { second } from '../../base/time/duration.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { webhookFields } from '../../delivery/webhook-fields.ts'
import { findSubscription } from '../../resources/webhooks/store.ts'
import type { Listener } from '../listener.ts'
import { findMissingServer } from './find-server.ts'
import { printable, say } from './listen-output.ts'

/** Says when the events of an app do not come here any more, and when they do again, until it is stopped. */
export async function watchCallback(
  { read }: Database,
  config: Config,
  listener: Listener,
  stopping: AbortSignal,
): Promise<void> {
  let loss: string | undefined
  let missing = await findMissingServer(config)
  if (missing !== undefined) say(missing)
  while (!stopping.aborted) {
    await wait(second, undefined, { signal: stopping }).catch(() => undefined)
    if (stopping.aborted) return
    const lossNow = describeLoss(listener, await findSubscription(read, listener.app_id))
    if (lossNow !== loss)
      say(lossNow ?? `App ${listener.app_id} has the callback of this command again: its events come here.`)
    loss = lossNow
    const missingNow = await findMissingServer(config)
    if (missingNow !== missing) say(missingNow ?? 'A server runs on the store again.')
    missing = missingNow
  }
}

/** Undefined: all events come here. */
function describeLoss(
  { app_id, callback_url }: Listener,
  current: { readonly callback_url: string; readonly fields: readonly string[] } | undefined,
): string | undefined {
  if (!current)
    return `App ${app_id} is not subscribed any more: its events come to nobody. Start this command again to get them.`
  if (current.callback_url !== callback_url) {
    return `App ${app_id} has got another callback, ${printable(current.callback_url)}: its events go there, not here. Start this command again to get them.`
  }
  const lost = webhookFields.filter((field) => !current.fields.includes(field))
  return lost.length === 0 ? undefined : `App ${app_id} is not subscribed to these fields any more: ${lost.join(', ')}.`
}
