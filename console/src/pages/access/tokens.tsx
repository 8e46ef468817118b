import { useSignal } from '@preact/signals'
import { type OperatorTokensListItem, operatorTokensList, operatorTokensRevoke } from '@switchboard/client/methods'
import { apps, nameOf } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import { place, setQuery } from '../../router.ts'
import { confirmAction } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/load/loaded.tsx'
import { More, usePages } from '../../ui/load/paged.tsx'
import { Badge, Empty, TablePlace, To, When } from '../../ui/parts.tsx'
import { attempt } from '../../ui/toast.tsx'
import { CreateToken } from './create-token.tsx'
import { explainToken, nameState } from './explain-token.ts'
import { focusBeside } from './focus-beside.ts'

const states = ['good', 'expired', 'revoked'] as const

/** Revokes a token after a question. */
async function endToken(
  { id, name, connection_id }: Pick<OperatorTokensListItem, 'id' | 'name' | 'connection_id'>,
  button: HTMLElement,
  reload: () => Promise<void>,
): Promise<void> {
  const isAgreed = await confirmAction({
    title: 'Revoke the token?',
    text: `“${name ?? id}” is refused from now on. That cannot be undone.${connection_id === undefined ? '' : ' The connection that it was given for stays.'}`,
    action: 'Revoke',
    isDangerous: true,
  })
  if (!isAgreed) return
  await attempt(async () => {
    await operatorTokensRevoke(client, id)
    focusBeside(button)
    await reload()
  }, 'The token is revoked.')
}

export function TokenList() {
  const { query } = place.value
  const state = states.find((one) => one === query.get('state'))
  const app_id = query.get('app') ?? ''
  const q = query.get('q')?.trim() ?? ''
  const isCreating = useSignal(false)
  const list = usePages(
    `tokens ${state} ${app_id} ${q}`,
    (after) =>
      operatorTokensList(client, {
        limit: 50,
        ...(state !== undefined && { state }),
        ...(app_id !== '' && { app_id }),
        ...(q !== '' && { q }),
        ...(after !== undefined && { after }),
      }),
    ({ id }) => id,
  )
  const load = list.load.value
  const shown = load.state === 'ready' ? load.value.filter(isNoSession).length : 0
  return (
    <section class="block" aria-label="Tokens">
      <search class="filters">
        <input
          type="search"
          data-search=""
          aria-label="Search"
          placeholder="Name, id, app or creator"
          value={query.get('q') ?? ''}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <select
          aria-label="State"
          value={state ?? ''}
          onChange={(event) => setQuery({ state: event.currentTarget.value })}
        >
          <option value="">All states</option>
          {states.map((one) => (
            <option key={one} value={one}>
              {nameState(one)}
            </option>
          ))}
        </select>
        <select
          aria-label="App"
          dir="auto"
          value={app_id}
          onChange={(event) => setQuery({ app: event.currentTarget.value })}
        >
          <option value="">All apps</option>
          {apps.value.map(({ id, name }) => (
            <option key={id} value={id}>
              {name ?? id}
            </option>
          ))}
        </select>
        <button
          type="button"
          class="main"
          onClick={() => {
            isCreating.value = true
          }}
        >
          Create a token
        </button>
      </search>
      <Loaded
        of={list}
        what="the tokens"
        isEmpty={(rows) => !rows.some(isNoSession)}
        empty={
          <Empty title={state === undefined && app_id === '' && q === '' ? 'No token yet' : 'No token matches'}>
            <p>A token lets a program use the API in the name of an app.</p>
          </Empty>
        }
      >
        {(rows) => <TokenTable rows={rows.filter(isNoSession)} reload={list.reload} />}
      </Loaded>
      <More of={list} what="tokens" shown={shown} />
      <p class="soft">
        Not in this list: each app's own token, its ID and its{' '}
        {app_id === '' ? 'secret' : <To href={`/resources/${app_id}`}>secret</To>} joined by <code>|</code>. A new
        secret replaces it.
      </p>
      {isCreating.value && (
        <CreateToken
          onCreated={() => void list.reload()}
          onClose={() => {
            isCreating.value = false
          }}
        />
      )}
    </section>
  )
}

function isNoSession({ session_name }: OperatorTokensListItem): boolean {
  return session_name === undefined
}

interface TokenTableProps {
  readonly rows: readonly OperatorTokensListItem[]
  readonly reload: () => Promise<void>
}

function TokenTable({ rows, reload }: TokenTableProps) {
  return (
    <TablePlace label="List of tokens">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State, until</th>
            <th scope="col">App, and what it can do</th>
            <th scope="col">Created</th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((token) => (
            <TokenRow key={token.id} token={token} reload={reload} />
          ))}
        </tbody>
      </table>
    </TablePlace>
  )
}

/** Of a token that an app got by a sign-up: to whom it belongs, and what ends it. */
function GivenFor({ token: { app_id, user, connection_id } }: { readonly token: OperatorTokensListItem }) {
  if (user === undefined && connection_id === undefined) return null
  return (
    <span class="second">
      {user !== undefined && (
        <>
          Belongs to{' '}
          <bdi>
            <To href={`/resources/${user.id}`}>{user.name}</To>
          </bdi>
          {connection_id !== undefined && ', '}
        </>
      )}
      {connection_id !== undefined && (
        <>
          {user === undefined ? 'Ends' : 'ends'} with its{' '}
          {app_id === null ? 'connection' : <To href={`/resources/${app_id}`}>connection</To>}
        </>
      )}
    </span>
  )
}

/** When it ended, or will: a phone shows no heading above it. */
function TokenEnd({ token: { state, expires_time, revoked_time } }: { readonly token: OperatorTokensListItem }) {
  const time = revoked_time ?? expires_time
  if (time === null) return <>Never expires</>
  return (
    <>
      {state === 'good' && 'until '}
      <When at={time} />
    </>
  )
}

function TokenRow({ token, reload }: { readonly token: OperatorTokensListItem; readonly reload: () => Promise<void> }) {
  const { id, app_id, state, created_time, created_by, last_used_time } = token
  const name = token.name ?? id
  return (
    <tr>
      <td class="wrap first">
        <div class="name">
          <bdi>{name}</bdi>
          {token.name !== null && <small class="soft mono">{id}</small>}
          <To href={`/access?view=audit&actor=${id}`} title="What was done with it">
            Audit log
          </To>
        </div>
      </td>
      <td>
        <Badge tone={state === 'good' ? 'good' : 'plain'}>{nameState(state)}</Badge>
        <span class="second">
          <TokenEnd token={token} />
        </span>
      </td>
      <td class="wrap">
        {app_id && (
          <bdi>
            <To href={`/resources/${app_id}`}>{nameOf(app_id)}</To>
          </bdi>
        )}
        <span class="second">{explainToken(token, nameOf)}</span>
        <GivenFor token={token} />
      </td>
      <td data-label="Created">
        <When at={created_time} />
        {created_by !== null && (
          <span class="second">
            by <bdi>{created_by}</bdi>
          </span>
        )}
      </td>
      <td data-label="Last used">
        {last_used_time === null ? <span class="soft">Not yet</span> : <When at={last_used_time} />}
      </td>
      <td>
        {state === 'good' && (
          <button
            type="button"
            class="small danger"
            onClick={({ currentTarget }) => void endToken(token, currentTarget, reload)}
          >
            Revoke
          </button>
        )}
      </td>
    </tr>
  )
}
