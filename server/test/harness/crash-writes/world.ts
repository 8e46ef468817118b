import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { accounts, ids, strangerIds, testWorld } from '../world.ts'

/** An app of the owner's besides the one that hears of everything: what it is subscribed to is changed all the time. */
export const listener = { id: '3000000000000005', token: 'token-of-the-listener' } as const

/** A partner's app, to which businesses connect themselves. */
export const connector = {
  id: '3000000000000006',
  business_id: '2000000000000006',
  secret: 'connector-secret',
  redirect_uri: 'http://127.0.0.1:9000/connected',
} as const

/** The last part of the address at which the owner's app hears of everything. */
export const hearsAll = 'all'

const heardFields = [
  ...['messages', 'calls', 'group_lifecycle_update', 'group_participants_update'],
  ...['message_template_status_update', 'message_template_quality_update'],
]

/** The world of the tests, with an app that hears of all that is written in it. */
export async function writeFirstWorld(folder: string, sinkUrl: string): Promise<string> {
  const world = testWorld()
  const webhook = { callback_url: `${sinkUrl}/${hearsAll}`, verify_token: 'vt', fields: heardFields }
  return write(folder, 'world.json', {
    ...world,
    businesses: [...world.businesses, { id: connector.business_id, name: 'Connector' }],
    apps: [
      ...world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app)),
      { id: listener.id, business_id: ids.business, name: 'Listener', secret: 'listener-secret' },
      {
        id: connector.id,
        business_id: connector.business_id,
        name: 'Connector',
        secret: connector.secret,
        redirect_uris: [connector.redirect_uri],
        // What it hears is not about the account but about itself: it comes to the same place.
        webhook: { ...webhook, fields: ['account_update'] },
      },
    ],
    tokens: [...world.tokens, { token: listener.token, app_id: listener.id, scopes: ['msgapp_business_management'] }],
    accounts: world.accounts.map((account) =>
      account.id === accounts.private ? { ...account, subscribed_apps: [ids.application] } : account,
    ),
  })
}

const strangersNumbers = Array.from({ length: 40 }, (_, index) => String(4_000_000_000_000_900 + index))

/** A world of things that nothing else touches, which all get the same new name: applied as a whole or not at all. */
export async function writeNextWorld(folder: string, name: string): Promise<string> {
  return write(folder, 'next-world.json', {
    accounts: [
      {
        id: strangerIds.account,
        business_id: strangerIds.business,
        name,
        phone_numbers: strangersNumbers.map((id, index) => ({
          id,
          display_phone_number: `+1 631-555-${7000 + index}`,
          verified_name: name,
        })),
      },
    ],
  })
}

/** What the rows of that world are called, which must be one and the same. */
export const namesOfNextWorld = `
  SELECT name FROM accounts WHERE id = '${strangerIds.account}'
  UNION SELECT verified_name FROM phone_numbers WHERE id IN (${strangersNumbers.map((id) => `'${id}'`).join(', ')})`

async function write(folder: string, name: string, content: object): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, JSON.stringify(content))
  return file
}
