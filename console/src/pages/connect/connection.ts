import {
  operatorNodesList,
  operatorWorldExport,
  webhooksLinkedAppsCreate,
  webhooksLinkedAppsDelete,
  webhooksLinkedAppsList,
  webhooksSubscriptionsCreate,
  webhooksSubscriptionsList,
} from '@switchboard/client/methods'
import { businessClient, product } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import type { Node } from '../../data/types.ts'
import type { CurrentSubscription, Subscription, SubscriptionChange } from './subscription-change.ts'

/** How many accounts of a business are asked for their links. */
const mostAccounts = 25

export interface LinkableAccount {
  readonly id: string
  readonly name: string
  /** Where the app gets its events of this account, instead of at its own callback. */
  readonly override?: string
}

/** An app as it is connected now. */
export interface Connection {
  readonly accounts: readonly LinkableAccount[]
  /** Whether its business has more accounts than are listed. */
  readonly hasMoreAccounts: boolean
  readonly current: CurrentSubscription
}

export async function readConnection(app: Node): Promise<Connection> {
  const business = await businessClient(app.id)
  const [{ data: subscriptions }, { data: accounts, paging }] = await Promise.all([
    webhooksSubscriptionsList(business, app.id),
    operatorNodesList(client, { kind: 'account', business_id: app.business_id, limit: mostAccounts }),
  ])
  const linkable = await Promise.all(
    accounts.map(async ({ id, name = id }) => {
      const { data } = await webhooksLinkedAppsList(business, id)
      const link = data.find((one) => one.whatsapp_business_api_data.id === app.id)
      const override = link?.override_callback_uri
      return { id, name, isLinked: link !== undefined, ...(override !== undefined && { override }) }
    }),
  )
  const linked = linkable.filter(({ isLinked }) => isLinked).map(({ id }) => id)
  const [subscription] = subscriptions
  return {
    accounts: linkable,
    hasMoreAccounts: paging?.next !== undefined,
    current: subscription
      ? { callback_url: subscription.callback_url, fields: subscription.fields, accounts: linked }
      : { accounts: linked },
  }
}

interface NewSubscription extends Subscription {
  readonly verify_token: string
}

/** Subscribes an app after a handshake, then links and unlinks accounts. What is linked already stays as it is, with its override. */
export async function connectApp(app: string, wanted: NewSubscription, change: SubscriptionChange): Promise<void> {
  const business = await businessClient(app)
  const { callback_url, verify_token, fields } = wanted
  await webhooksSubscriptionsCreate(business, app, {
    object: `${product()}_business_account`,
    callback_url,
    verify_token,
    fields: [...fields],
  })
  for (const id of change.linked) await webhooksLinkedAppsCreate(business, id)
  for (const id of change.unlinked) await webhooksLinkedAppsDelete(business, id)
}

export interface AppSecrets {
  readonly secret: string | undefined
  readonly verifyToken: string | undefined
}

interface ExportedApp {
  readonly id: string
  readonly secret?: string
  readonly webhook?: { readonly verify_token?: string }
}

/** The export of the store is the one place where the secrets of an app can be read. */
export async function readAppSecrets(app: string): Promise<AppSecrets> {
  const exported = await operatorWorldExport(client, { headers: { accept: 'application/json' } })
  const { apps = [] } = (await exported.json()) as { readonly apps?: readonly ExportedApp[] }
  const found = apps.find(({ id }) => id === app)
  return { secret: found?.secret, verifyToken: found?.webhook?.verify_token }
}
