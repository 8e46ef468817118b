import { callRow, operatorNodesList } from '@switchboard/client/methods'
import { appOf, businessClient, findConnectedApp } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import type { Node } from '../../data/types.ts'

export type BusinessClient = Awaited<ReturnType<typeof businessClient>>

/**
 * The client as an app of the business that owns an object: what it returns is what that business sees. A business that came by a sign-up
 * has no app of its own: what belongs to an account is read as the app sees it to which the account is connected.
 */
export async function actFor(node: Node): Promise<BusinessClient> {
  if (node.kind === 'application') return businessClient(node.id)
  const account = node.kind === 'account' ? node.id : node.account_id
  const own = await findAppOf(node.business_id)
  const app = own ?? (account === undefined ? undefined : await findConnectedApp(account))
  if (app === undefined)
    throw new Error('The business that owns this has no app, so that the API cannot be used for it.')
  return businessClient(app)
}

/** An app of a business; undefined: it has none. */
export async function findAppOf(business_id: string): Promise<string | undefined> {
  const known = appOf(business_id)
  if (known !== undefined) return known
  const { data } = await operatorNodesList(client, { kind: 'application', business_id, limit: 1 })
  return data[0]?.id
}

/** An object, or an edge of it such as `subscribed_apps`, as the API returns it. */
export async function readAsBusiness(node: Node, edge = '', fields = ''): Promise<object> {
  const path = edge === '' ? '/{}' : `/{}/${edge}`
  const row = { name: path, method: 'GET', door: 'business', path } as const
  return callRow<object>(await actFor(node), row, [node.id], fields === '' ? undefined : { fields })
}

export async function changeAsBusiness(node: Node, edge: string, json: object): Promise<void> {
  const path = edge === '' ? '/{}' : `/{}/${edge}`
  await callRow<object>(await actFor(node), { name: path, method: 'POST', door: 'business', path }, [node.id], json)
}
