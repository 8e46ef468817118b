import { useSignal } from '@preact/signals'
import {
  type OperatorConnectionsListItem,
  operatorConnectionsEnd,
  operatorConnectionsList,
} from '@switchboard/client/methods'
import type { ComponentChildren } from 'preact'
import { nameOf } from '../../../data/directory.ts'
import { client } from '../../../data/http.ts'
import { serviceNow } from '../../../data/live.ts'
import { place, setQuery } from '../../../router.ts'
import { confirmAction } from '../../../ui/dialog.tsx'
import { Loaded } from '../../../ui/load/loaded.tsx'
import { More, type Pages, usePages } from '../../../ui/load/paged.tsx'
import { Badge, TablePlace, To, When } from '../../../ui/parts.tsx'
import { attempt } from '../../../ui/toast.tsx'
import { explainScopes } from '../../access/explain-token.ts'
import { focusBeside } from '../../access/focus-beside.ts'
import { useConnectionNews } from './use-news.ts'

type Connection = OperatorConnectionsListItem

/** Of an app: what was connected to it. Of a business or an account: to which apps it is connected. */
type Of = { readonly app_id: string } | { readonly business_id: string } | { readonly account_id: string }

const states = [
  ['live', 'Connected'],
  ['ended', 'Ended'],
] as const

interface ConnectionsProps {
  readonly of: Of
  /** What stands there where nothing was ever connected. */
  readonly empty: ComponentChildren
}

/** The accounts that sign-ups connected to apps, the newest first, also those that are connected no more; the list follows what happens. */
export function Connections({ of, empty }: ConnectionsProps) {
  const state = states.find(([name]) => name === place.value.query.get('connections'))?.[0]
  const list = usePages(
    `connections ${JSON.stringify({ ...of, state })}`,
    (after) =>
      operatorConnectionsList(client, {
        ...of,
        limit: 50,
        ...(state !== undefined && { state }),
        ...(after !== undefined && { after }),
      }),
    ({ id }) => id,
  )
  useConnectionNews(list.reload, 'account_id' in of ? of.account_id : undefined)
  const load = list.load.value
  const isFilterShown = state !== undefined || (load.state === 'ready' && load.value.length > 0)
  return (
    <section class="block" aria-label="Connections">
      <div class="block-head">
        <h2>Connections</h2>
        {isFilterShown && (
          <select
            aria-label="State of the connections"
            value={state ?? ''}
            onChange={(event) => setQuery({ connections: event.currentTarget.value })}
          >
            <option value="">All states</option>
            {states.map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        )}
      </div>
      <Loaded
        of={list}
        what="the connections"
        isEmpty={(rows) => rows.length === 0}
        empty={state === undefined ? empty : <p class="soft">No connection is in this state.</p>}
      >
        {(rows) => <ConnectionTable rows={rows} list={list} of={of} />}
      </Loaded>
      <More of={list} what="connections" />
    </section>
  )
}

interface TableProps {
  readonly rows: readonly Connection[]
  readonly list: Pages<Connection>
  readonly of: Of
}

function ConnectionTable({ rows, list, of }: TableProps) {
  // Only the first page is read again: when one of a later page was ended here is noted.
  const ended = useSignal<ReadonlyMap<string, string>>(new Map())
  const end = async ({ id }: Connection, button: HTMLElement) => {
    await attempt(async () => {
      await operatorConnectionsEnd(client, id)
      ended.value = new Map([...ended.value, [id, new Date(serviceNow()).toISOString()]])
      focusBeside(button)
    }, 'The account is disconnected.')
    // Also where that failed: what the list shows may be old.
    await list.reload()
  }
  return (
    <TablePlace label="List of connections">
      <table class="stacked connections">
        <thead>
          <tr>
            <th scope="col">{nameFirstColumn(of)}</th>
            <th scope="col">State, since</th>
            <th scope="col">What the app may do</th>
            <th scope="col">Agreed to by</th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <ConnectionRow
              key={one.id}
              connection={{ ...one, ended_time: one.ended_time ?? ended.value.get(one.id) ?? null }}
              of={of}
              end={end}
            />
          ))}
        </tbody>
      </table>
    </TablePlace>
  )
}

function nameFirstColumn(of: Of): string {
  if ('app_id' in of) return 'Business, account, number'
  return 'account_id' in of ? 'App, number' : 'App, account, number'
}

interface RowProps {
  readonly connection: Connection
  readonly of: Of
  readonly end: (connection: Connection, button: HTMLElement) => Promise<void>
}

function ConnectionRow({ connection, of, end }: RowProps) {
  const { app_id, app_name, business_id, business_name, account_id, account_name, phone_number_id } = connection
  const { user, scopes, created_time, ended_time } = connection
  return (
    <tr>
      <td class="cut first">
        {'app_id' in of ? <Named id={business_id} name={business_name} /> : <Named id={app_id} name={app_name} />}
        {!('account_id' in of) && <Named id={account_id} name={account_name} isSecond />}
        {phone_number_id !== null && <Named id={phone_number_id} name={nameOf(phone_number_id)} isSecond />}
      </td>
      <td>
        <Badge tone={ended_time === null ? 'good' : 'plain'}>{ended_time === null ? 'Connected' : 'Ended'}</Badge>
        <span class="second">
          <When at={ended_time ?? created_time} />
        </span>
      </td>
      <td class="wrap rest" data-label="The app may">
        {explainScopes(scopes)}
      </td>
      <td class="cut rest" data-label="Agreed to by">
        <Named id={user.id} name={user.name} />
        <bdi class="second">{user.email}</bdi>
      </td>
      <td>{ended_time === null && <Disconnect connection={connection} end={end} />}</td>
    </tr>
  )
}

interface NamedProps {
  readonly id: string
  readonly name: string | null
  readonly isSecond?: boolean
}

function Named({ id, name, isSecond = false }: NamedProps) {
  return (
    <bdi {...(isSecond && { class: 'second' })}>
      <To href={`/resources/${id}`}>{name ?? id}</To>
    </bdi>
  )
}

function Disconnect({ connection, end }: Pick<RowProps, 'connection' | 'end'>) {
  const isEnding = useSignal(false)
  const ask = async (button: HTMLElement) => {
    if (isEnding.peek() || !(await confirmAction(writeQuestion(connection)))) return
    isEnding.value = true
    await end(connection, button)
    isEnding.value = false
  }
  return (
    <button
      type="button"
      class="small danger"
      disabled={isEnding.value}
      onClick={({ currentTarget }) => void ask(currentTarget)}
    >
      {isEnding.value ? 'Disconnecting…' : 'Disconnect'}
    </button>
  )
}

function writeQuestion({ app_id, app_name, account_id, account_name, business_id, business_name }: Connection) {
  return {
    title: 'Disconnect the account?',
    text: (
      <div class="form">
        <p>
          “<bdi>{account_name ?? account_id}</bdi>” of “<bdi>{business_name ?? business_id}</bdi>” is disconnected from
          “<bdi>{app_name ?? app_id}</bdi>”:
        </p>
        <ul class="consequences">
          <li>The tokens that the app got for it are refused from now on.</li>
          <li>The app no longer sees the account, unless its business has access for another reason.</li>
          <li>The app is notified by the event PARTNER_REMOVED, if it is subscribed to account_update.</li>
        </ul>
        <p>That cannot be undone; the business can connect itself again.</p>
      </div>
    ),
    action: 'Disconnect',
    isDangerous: true,
  }
}
