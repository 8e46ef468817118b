import {
  gatewayListTemplates,
  gatewayListUsers,
  operatorListNodes,
  type TemplateStatus,
} from '@switchboard/client/methods'
import { nameOf } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import { service } from '../../data/live.ts'
import type { Node } from '../../data/types.ts'
import { go, place, setQuery } from '../../router.ts'
import { beginUpper } from '../../ui/begin-upper.ts'
import { Loaded } from '../../ui/load/loaded.tsx'
import { More, usePages } from '../../ui/load/paged.tsx'
import { Badge, Empty, PageHead, TablePlace, To } from '../../ui/parts.tsx'
import { listKinds, nameKind, nameKinds } from './kinds.ts'
import { readEveryKind } from './read-every-kind.ts'
import './resources.css'
import { nameValue } from './words.ts'

const statuses: readonly TemplateStatus[] = ['PENDING', 'APPROVED', 'REJECTED', 'PAUSED', 'DISABLED']

interface Asked {
  readonly kind: string
  readonly q: string
  readonly business: string
  readonly account: string
  /** Of templates alone. */
  readonly status: TemplateStatus | undefined
}

function readAsked(): Asked {
  const { query } = place.value
  const kind = query.get('kind') ?? ''
  const status = kind === 'template' ? statuses.find((one) => one === query.get('status')) : undefined
  return {
    kind,
    status,
    q: query.get('q') ?? '',
    business: query.get('business') ?? '',
    account: query.get('account') ?? '',
  }
}

/** A page of what was asked for. By their status templates are listed by another operation, which does not search. */
async function readNodes({ kind, q, business, account, status }: Asked, after: string | undefined) {
  const more = { limit: 50, ...(after !== undefined && { after }) }
  if (status !== undefined) {
    const { data, paging } = await gatewayListTemplates(client, { ...more, status })
    return { data: data.map(fromTemplate), ...(paging && { paging }) }
  }
  if (kind === 'user') {
    const { data, paging } = await gatewayListUsers(client, { ...more, ...(q !== '' && { q }) })
    return { data: data.map(fromUser), ...(paging && { paging }) }
  }
  const owner = { ...(business !== '' && { business_id: business }), ...(account !== '' && { account_id: account }) }
  if (kind === '' && q === '') return readEveryKind(owner, after)
  return operatorListNodes(client, { ...more, ...owner, ...(kind !== '' && { kind }), ...(q !== '' && { q }) })
}

function fromTemplate({ id = '', name, account_id }: { id?: string; name?: string; account_id: string }): Node {
  return { id, kind: 'template', ...(name !== undefined && { name }), account_id, business_id: '' }
}

/** Users belong to no business, and have addresses of their own. */
function fromUser({ wa_id, name }: { wa_id: string; name?: string }): Node {
  return { id: `user-${wa_id}`, kind: 'user', ...(name !== undefined && { name }), business_id: '' }
}

/** Everything in the store, to search and to open. */
export function ResourcesPage() {
  const asked = readAsked()
  const list = usePages(
    JSON.stringify(asked),
    (after) => readNodes(asked, after),
    ({ id }) => id,
  )
  const { kind, q, account, business, status } = asked
  const isFiltered = [kind, q, account, business].some((one) => one !== '')
  return (
    <div class="page page-resources">
      <PageHead of="resources" />
      <search class="filters">
        {status === undefined && (
          <input
            type="search"
            data-search=""
            aria-label="Search"
            placeholder="Part of a name, a number or an id"
            value={q}
            onInput={(event) => setQuery({ q: event.currentTarget.value })}
          />
        )}
        <Kinds kind={kind} />
        {kind === 'template' && (
          <select
            aria-label="Status"
            value={status ?? ''}
            onChange={(event) =>
              setQuery({ status: event.currentTarget.value, q: undefined, account: undefined, business: undefined })
            }
          >
            <option value="">Any status</option>
            {statuses.map((one) => (
              <option key={one} value={one}>
                {nameValue(one)}
              </option>
            ))}
          </select>
        )}
        {account !== '' && <Only what="account" of={account} />}
        {business !== '' && <Only what="business" of={business} />}
      </search>
      <Loaded
        of={list}
        what="the resources"
        isEmpty={(rows) => rows.length === 0}
        empty={<Empty title={isFiltered ? 'Nothing matches' : 'The store is empty'} />}
      >
        {(rows) => (
          <>
            <NodeTable rows={rows} />
            <More of={list} what="resources" />
          </>
        )}
      </Loaded>
    </div>
  )
}

function Kinds({ kind }: { readonly kind: string }) {
  const counts = service.value?.counts ?? {}
  const shown = listKinds(Object.keys(counts)).filter((name) => (counts[name] ?? 0) > 0 || name === kind)
  return (
    <select
      aria-label="Kind"
      value={kind}
      onChange={(event) => setQuery({ kind: event.currentTarget.value, status: undefined })}
    >
      <option value="">All kinds</option>
      <option value="user">Users</option>
      {shown.map((name) => (
        <option key={name} value={name}>{`${nameKinds(name)} (${(counts[name] ?? 0).toLocaleString()})`}</option>
      ))}
    </select>
  )
}

/** A filter that came by a link, and how to drop it. */
function Only({ what, of }: { readonly what: 'account' | 'business'; readonly of: string }) {
  return (
    <button type="button" class="small only" onClick={() => setQuery({ [what]: undefined })}>
      {what === 'account' ? 'Account' : 'Business'} <bdi>{nameOf(of)}</bdi> ✕
      <span class="unseen">: remove the filter</span>
    </button>
  )
}

/** Users have their number in place of an id. */
function writeId(id: string): string {
  return id.replace(/^user-/, '+')
}

function NodeTable({ rows }: { readonly rows: readonly Node[] }) {
  return (
    <TablePlace label="Resources">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Kind</th>
            <th scope="col">Id</th>
            <th scope="col">Account, business</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((node) => (
            <tr
              key={node.id}
              class="leads"
              onClick={(event) => {
                if (!(event.target as Element).closest('a')) go(`/resources/${node.id}`)
              }}
            >
              <td class="cut first">
                <bdi>
                  <To href={`/resources/${node.id}`}>{node.name || writeId(node.id)}</To>
                </bdi>
                {node.kind === 'phone_number' && <bdi class="second">{nameOf(node.id)}</bdi>}
              </td>
              <td>
                <Badge tone="plain">{beginUpper(nameKind(node.kind))}</Badge>
              </td>
              <td class="mono">{writeId(node.id)}</td>
              <td class="cut">
                {node.account_id && node.kind !== 'account' && <bdi>{nameOf(node.account_id)}</bdi>}
                {node.business_id && node.kind !== 'business' && <bdi class="second">{nameOf(node.business_id)}</bdi>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  )
}
