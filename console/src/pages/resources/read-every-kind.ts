import { operatorNodesList } from '@switchboard/client/methods'
import { client } from '../../data/http.ts'
import { service } from '../../data/live.ts'
import type { Node } from '../../data/types.ts'
import { listKinds } from './kinds.ts'

const pageSize = 50

interface Owner {
  readonly business_id?: string
  readonly account_id?: string
}

/**
 * A page of everything, one kind after the other: the service lists nodes by id, which mixes the kinds. A page ends with the kind that
 * fills it; its cursor says which kind is next and from where.
 */
export async function readEveryKind(owner: Owner, cursor: string | undefined) {
  const [first = '', after] = cursor?.split(' ') ?? []
  const all = listKinds(Object.keys(service.peek()?.counts ?? {}))
  const kinds = all.slice(Math.max(0, all.indexOf(first)))
  // At once, because most kinds are few.
  const pages = await Promise.all(
    kinds.map((kind, index) =>
      operatorNodesList(client, { limit: pageSize, kind, ...owner, ...(index === 0 && after && { after }) }),
    ),
  )
  const data: Node[] = []
  for (const [index, page] of pages.entries()) {
    data.push(...page.data)
    const rest = page.paging?.next === undefined ? undefined : page.paging.cursors?.after
    if (rest !== undefined) return nextPage(data, `${kinds[index]} ${rest}`)
    const isMore = pages.slice(index + 1).some((one) => one.data.length > 0)
    if (data.length >= pageSize && isMore) return nextPage(data, `${kinds[index + 1]}`)
  }
  return { data }
}

function nextPage(data: readonly Node[], after: string) {
  return { data, paging: { cursors: { after }, next: after } }
}
