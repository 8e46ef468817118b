import {
  type GatewayTemplatesListItem,
  gatewayTemplatesList,
  gatewayUsersList,
  operatorNodesList,
  type TemplateStatus,
} from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import { businessOf, nameOf } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import { readService, service } from '../../data/live.ts'
import type { Node } from '../../data/types.ts'
import { go, place, setQuery } from '../../router.ts'
import { beginUpper } from '../../ui/begin-upper.ts'
import { Loaded } from '../../ui/load/loaded.tsx'
import { More, usePages } from '../../ui/load/paged.tsx'
import { Badge, Empty, PageHead, TablePlace, To } from '../../ui/parts.tsx'
import { listKindOptions, nameKind } from './kinds.ts'
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

/** A listed object. A template also has its language and status, if the operation returns them. */
interface Row extends Node {
  readonly language?: string
  readonly status?: TemplateStatus
}

interface Page {
  readonly data: readonly Row[]
  readonly paging?: { readonly cursors?: { readonly after?: string }; readonly next?: string }
}

/** A page of what was asked for. All templates, or those of a status, are listed by an operation that says more and does not search. */
async function readNodes({ kind, q, business, account, status }: Asked, after: string | undefined): Promise<Page> {
  const more = { limit: 50, ...(after !== undefined && { after }) }
  const isEveryTemplate = kind === 'template' && [q, business, account].every((one) => one === '')
  if (isEveryTemplate || status !== undefined) {
    const { data, paging } = await gatewayTemplatesList(client, { ...more, ...(status !== undefined && { status }) })
    return { data: data.map(fromTemplate), ...(paging && { paging }) }
  }
  if (kind === 'user') {
    const { data, paging } = await gatewayUsersList(client, { ...more, ...(q !== '' && { q }) })
    return { data: data.map(fromUser), ...(paging && { paging }) }
  }
  const owner = { ...(business !== '' && { business_id: business }), ...(account !== '' && { account_id: account }) }
  if (kind === '' && q === '') return readEveryKind(owner, after)
  return operatorNodesList(client, { ...more, ...owner, ...(kind !== '' && { kind }), ...(q !== '' && { q }) })
}

function fromTemplate({ id = '', name = id, account_id, language = '', status }: GatewayTemplatesListItem): Row {
  return { id, kind: 'template', name, account_id, business_id: '', language, ...(status !== undefined && { status }) }
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
  // What is known already may be old: something was created or deleted since.
  useEffect(() => {
    if (service.peek() !== undefined) void readService()
  }, [])
  return (
    <select
      aria-label="Kind"
      value={kind}
      onChange={(event) => setQuery({ kind: event.currentTarget.value, status: undefined })}
    >
      <option value="">All kinds</option>
      <option value="user">Users</option>
      {listKindOptions(service.value?.counts, kind).map((one) => (
        <option key={one.kind} value={one.kind}>
          {one.text}
        </option>
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

function NodeTable({ rows }: { readonly rows: readonly Row[] }) {
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
            <NodeRow key={node.id} node={node} />
          ))}
        </tbody>
      </table>
    </TablePlace>
  )
}

function NodeRow({ node }: { readonly node: Row }) {
  const owner = node.business_id || businessOf(node.account_id)
  return (
    <tr
      class="leads"
      onClick={(event) => {
        if (!(event.target as Element).closest('a')) go(`/resources/${node.id}`)
      }}
    >
      <td class="cut first">
        <bdi>
          <To href={`/resources/${node.id}`}>{node.name || writeId(node.id)}</To>
        </bdi>
        {node.status !== undefined && (
          <span class="second">
            {node.language} · {nameValue(node.status)}
          </span>
        )}
        {node.kind === 'phone_number' && <bdi class="second">{nameOf(node.id)}</bdi>}
      </td>
      <td>
        <Badge tone="plain">{beginUpper(nameKind(node.kind))}</Badge>
      </td>
      <td class="mono">{writeId(node.id)}</td>
      <td class="cut">
        {node.account_id && node.kind !== 'account' && <bdi>{nameOf(node.account_id)}</bdi>}
        {owner && node.kind !== 'business' && <bdi class="second">{nameOf(owner)}</bdi>}
      </td>
    </tr>
  )
}
