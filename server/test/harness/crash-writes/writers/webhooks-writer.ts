import { accounts, numbers } from '../../world.ts'
import type { ChapterWriter, WriterDeps } from '../chapter-writer.ts'
import type { Write } from '../doors.ts'
import { Shelf } from '../shelf.ts'
import { listener } from '../world.ts'

interface Hearing {
  /** Where the app hears of what; null when it is not subscribed. */
  readonly subscription: { readonly callback_url: string; readonly fields: readonly string[] } | null
  /** Where it hears of the account: an address, the app's own (''), or null when it is not linked. */
  readonly link: string | null
  /** Where it hears of the one number. */
  readonly override: string | null
}

const fieldSets = [['messages'], ['messages', 'calls'], ['calls', 'account_update']]

/** An app that subscribes, links itself, and takes it all back. Nothing happens on that account, so no event is sent. */
export function webhooksWriter({ doors, chance, sinkUrl }: WriterDeps): ChapterWriter {
  const shelf = new Shelf<Hearing>('webhooks', doors)
  const subscriptions = `/v23.0/${listener.id}/subscriptions`
  const links = `/v23.0/${accounts.smallBusiness}/subscribed_apps`
  let count = 0

  const change = (value: Hearing, write: Omit<Write, 'token'>) =>
    shelf.change({ key: 'it', value }, { ...write, token: listener.token })

  return {
    name: 'webhooks',
    async act() {
      const now = shelf.get('it')
      const address = `${sinkUrl}/aside.${count++}`
      const roll = chance.next()
      if (!now.subscription || roll < 0.25) {
        const subscription = { callback_url: address, fields: chance.pick(fieldSets) }
        const json = { object: 'msgapp_business_account', verify_token: 'vt', ...subscription }
        const write = { operation: 'webhooks.subscribe', method: 'POST', path: subscriptions, json } as const
        await change({ ...now, subscription }, write)
      } else if (roll < 0.35) {
        const write = { operation: 'webhooks.unsubscribe', method: 'DELETE', path: subscriptions } as const
        await change({ ...now, subscription: null }, write)
      } else if (now.link === null || roll < 0.55) {
        const link = chance.happens(0.5) ? address : ''
        const json = link === '' ? {} : { override_callback_uri: link, verify_token: 'vt' }
        await change({ ...now, link }, { operation: 'webhooks.link_app', method: 'POST', path: links, json })
      } else if (roll < 0.65) {
        // With the link go the app's callbacks for the account's numbers.
        const write = { operation: 'webhooks.unlink_app', method: 'DELETE', path: links } as const
        await change({ ...now, link: null, override: null }, write)
      } else {
        const override = chance.happens(0.7) ? address : null
        const json = { webhook_configuration: { override_callback_uri: override ?? '', verify_token: 'vt' } }
        const path = `/v23.0/${numbers.smallBusiness}`
        await change({ ...now, override }, { operation: 'phone_numbers.update_settings', method: 'POST', path, json })
      }
    },
    async check(store) {
      const [subscribed] = (await doors.read({ path: subscriptions, token: listener.token })).data
      const linked = (await doors.read({ path: links, token: listener.token })).data.find(
        (app: { whatsapp_business_api_data: { id: string } }) => app.whatsapp_business_api_data.id === listener.id,
      )
      const [callback] = store.rows<{ override_callback_uri: string | null }>(
        'SELECT override_callback_uri FROM phone_number_callbacks WHERE app_id = ?',
        listener.id,
      )
      const value = {
        subscription: subscribed ? { callback_url: subscribed.callback_url, fields: subscribed.fields } : null,
        link: linked ? (linked.override_callback_uri ?? '') : null,
        override: callback?.override_callback_uri ?? null,
      }
      const seen = new Map([['it', value]])
      if (count === 0) shelf.begin(seen)
      else shelf.check(seen)
    },
  }
}
