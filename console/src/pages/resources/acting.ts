import { callRow, operatorNodesList } from '@switchboard/client/methods'
import { appOf, businessClient } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import type { Node } from '../../data/types.ts'

export type BusinessClient = Awaited<ReturnType<typeof businessClient>>

/** The client as an app of the business that owns an object: what it returns is what that business sees. */
export async function actFor(node: Node): Promise<BusinessClient> {
  if (node.kind === 'application') return businessClient(node.id)
  const app = appOf(node.business_id) ?? (await findApp(node.business_id))
  if (app === undefined)
    throw new Error('The business that owns this has no app, so that the API cannot be used for it.')
  return businessClient(app)
}

async function findApp(business_id: string): Promise<string | undefined> {
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
