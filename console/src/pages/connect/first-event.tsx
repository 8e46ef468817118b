import { useSignal } from '@preact/signals'
import { gatewayMessagesWrite } from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import { isDirectoryRead, numbers } from '../../data/directory.ts'
import { base, client } from '../../data/http.ts'
import { watch } from '../../data/live.ts'
import type { FeedItem, Node } from '../../data/types.ts'
import { Loaded, type Loading } from '../../ui/load/loaded.tsx'
import { Badge, Field, To } from '../../ui/parts.tsx'
import { attempt } from '../../ui/toast.tsx'
import { describeItem, linkOf } from '../live/described.ts'
import type { Connection } from './connection.ts'

interface FirstEventProps {
  readonly app: Node
  readonly connection: Loading<Connection>
}

export function FirstEvent({ app, connection }: FirstEventProps) {
  return (
    <li class="card">
      <h2>The first event</h2>
      <Loaded of={connection} what="the links">
        {({ current }) => <Write accounts={current.accounts} />}
      </Loaded>
      <Received app={app.id} />
      <p class="soft">
        What <bdi>{app.name ?? app.id}</bdi> gets appears here; <a href={`${base}/docs#receiver`}>the reference</a> says
        what is in it.
      </p>
    </li>
  )
}

/** A user writes to a number whose events the app gets. */
function Write({ accounts }: { readonly accounts: readonly string[] }) {
  const number = useSignal<string | undefined>(undefined)
  const own = numbers.value.filter(({ account_id }) => accounts.includes(account_id))
  const chosen = number.value ?? own[0]?.id
  if (chosen === undefined) {
    if (!isDirectoryRead.value) return <p class="soft">Loading the phone numbers…</p>
    return <p class="soft">No account that the app is linked to has a phone number. Link one in step 3.</p>
  }
  const write = () =>
    attempt(() =>
      gatewayMessagesWrite(client, {
        phone_number_id: chosen,
        from: '16505551234',
        type: 'text',
        text: { body: 'Hello, app' },
      }),
    )
  return (
    <div class="row">
      <Field label="A user writes to">
        <select
          value={chosen}
          onChange={(event) => {
            number.value = event.currentTarget.value
          }}
        >
          {own.map(({ id, display_phone_number, verified_name }) => (
            <option key={id} value={id}>{`${display_phone_number} ${verified_name}`}</option>
          ))}
        </select>
      </Field>
      <button type="button" class="main" onClick={() => void write()}>
        Let a user write
      </button>
    </div>
  )
}

function Received({ app }: { readonly app: string }) {
  const lines = useSignal<readonly FeedItem[]>([])
  useEffect(
    () =>
      watch((one) => {
        if ((one.type === 'try' || one.type === 'delivery') && one.data['app_id'] === app) {
          lines.value = [one, ...lines.value].slice(0, 6)
        }
      }),
    [app, lines],
  )
  if (lines.value.length === 0) return null
  return (
    <ol class="plain-list" aria-live="polite">
      {lines.value.map((one) => {
        const { text, result, tone } = describeItem(one)
        return (
          <li key={one.id}>
            <Badge tone={tone}>{result}</Badge> <To href={linkOf(one) ?? '/deliveries'}>{text}</To>
          </li>
        )
      })}
    </ol>
  )
}
