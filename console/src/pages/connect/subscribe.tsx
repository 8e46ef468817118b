import { type Signal, useSignal } from '@preact/signals'
import { operatorLanesList } from '@switchboard/client/methods'
import { client, explain } from '../../data/http.ts'
import type { Node } from '../../data/types.ts'
import { fieldWords } from '../../data/webhook-fields.ts'
import { confirmAction } from '../../ui/dialog.tsx'
import { Loaded, type Loading, useLoaded } from '../../ui/load/loaded.tsx'
import { Field, To } from '../../ui/parts.tsx'
import { type Connection, connectApp, type LinkableAccount } from './connection.ts'
import { receiverUrl } from './snippets.ts'
import { compareSubscriptions, describeChange, describeLeftBehind, losesEvents } from './subscription-change.ts'

/** What an app begins with. */
const newFields: readonly string[] = ['messages', 'calls']

interface SubscribeProps {
  readonly app: Node
  readonly verifyToken: Signal<string>
  readonly connection: Loading<Connection>
}

export function Subscribe({ app, verifyToken, connection }: SubscribeProps) {
  return (
    <li class="card">
      <h2>Subscribe it</h2>
      <Loaded of={connection} what="the subscription">
        {(now) => <Form app={app} verifyToken={verifyToken} now={now} reload={connection.reload} />}
      </Loaded>
    </li>
  )
}

interface FormProps {
  readonly app: Node
  readonly verifyToken: Signal<string>
  readonly now: Connection
  readonly reload: () => Promise<void>
}

interface Outcome {
  readonly tone: 'good' | 'bad'
  readonly text: string
}

/** It begins with what the app has, and says what it will change before it does. */
function Form({ app, verifyToken, now, reload }: FormProps) {
  const { current, accounts, hasMoreAccounts } = now
  const isNew = !('fields' in current)
  const url = useSignal(isNew ? receiverUrl : current.callback_url)
  const fields = useSignal<readonly string[]>(isNew ? newFields : current.fields)
  const linked = useSignal<readonly string[]>(
    isNew && current.accounts.length === 0 ? accounts.map(({ id }) => id) : current.accounts,
  )
  const outcome = useSignal<Outcome | undefined>(undefined)
  const isSending = useSignal(false)
  const former = useSignal<string | undefined>(undefined)
  const wanted = { callback_url: url.value, fields: fields.value, accounts: linked.value }
  const change = compareSubscriptions(current, wanted)
  const nameOf = (account: string) => accounts.find(({ id }) => id === account)?.name ?? account
  const sentences = describeChange(change, nameOf)
  const subscribe = async () => {
    const isAgreed =
      !losesEvents(change) ||
      (await confirmAction({
        title: 'Change the subscription?',
        text: <Sentences all={sentences} />,
        action: 'Verify and subscribe',
        isDangerous: true,
      }))
    if (!isAgreed) return
    isSending.value = true
    outcome.value = undefined
    try {
      await connectApp(app.id, { ...wanted, verify_token: verifyToken.value }, change)
      outcome.value = { tone: 'good', text: 'The receiver returned the challenge. The app is subscribed.' }
      former.value = change.urlBefore ?? former.value
      await reload()
    } catch (error) {
      outcome.value = { tone: 'bad', text: explain(error) }
    } finally {
      isSending.value = false
    }
  }
  const known = [...new Set([...Object.keys(fieldWords), ...fields.value])]
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void subscribe()
      }}
    >
      <Field label="Callback URL">
        <input
          type="url"
          required
          value={url.value}
          onInput={(event) => {
            url.value = event.currentTarget.value
          }}
        />
      </Field>
      {url.value !== receiverUrl && (
        <button
          type="button"
          class="small"
          onClick={() => {
            url.value = receiverUrl
          }}
        >
          {`Use the receiver of step 2: ${receiverUrl}`}
        </button>
      )}
      <fieldset>
        <legend>Fields</legend>
        <div class="field-checks">
          {known.map((field) => (
            <label class="check" key={field}>
              <input type="checkbox" checked={fields.value.includes(field)} onChange={() => toggle(fields, field)} />
              <span>
                <code>{field}</code>
                <small class="soft">{(fieldWords as Readonly<Record<string, string>>)[field] ?? ''}</small>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <Accounts all={accounts} linked={linked} hasMore={hasMoreAccounts} />
      <div class="change" role="status">
        {sentences.length > 0 ? (
          <Sentences all={sentences} />
        ) : (
          <p class="soft">This is what the app has now: only the callback is verified again.</p>
        )}
      </div>
      <button type="submit" class="main" disabled={isSending.value || fields.value.length === 0}>
        {isSending.value ? 'Verifying…' : 'Verify and subscribe'}
      </button>
      {outcome.value && (
        <p class={outcome.value.tone} role="status">
          {outcome.value.text}
        </p>
      )}
      {former.value !== undefined && <LeftBehind key={former.value} app={app.id} url={former.value} />}
    </form>
  )
}

/** What waits at the callback that the app had before: it is attempted there until somebody sends it to the new one. */
function LeftBehind({ app, url }: { readonly app: string; readonly url: string }) {
  const { load } = useLoaded(url, () => operatorLanesList(client, { app_id: app, waiting: true, limit: 1000 }))
  const { value } = load
  if (value.state === 'loading') return null
  if (value.state === 'failed') return <p class="bad">{`What waits at ${url} could not be read: ${value.problem}`}</p>
  const lane = value.value.data.find(({ callback_url, subscribed }) => callback_url === url && !subscribed)
  if (!lane) return null
  return (
    <p role="status">
      {`${describeLeftBehind(lane.waiting, url)} `}
      <To href={`/deliveries?app=${encodeURIComponent(app)}`}>Send them to the new one on the page Deliveries</To>
    </p>
  )
}

function toggle(chosen: Signal<readonly string[]>, one: string): void {
  const { value } = chosen
  chosen.value = value.includes(one) ? value.filter((other) => other !== one) : [...value, one]
}

function Sentences({ all }: { readonly all: readonly string[] }) {
  return (
    <ul class="plain-list">
      {all.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  )
}

interface AccountsProps {
  readonly all: readonly LinkableAccount[]
  readonly linked: Signal<readonly string[]>
  readonly hasMore: boolean
}

function Accounts({ all, linked, hasMore }: AccountsProps) {
  if (all.length === 0) return <p class="soft">The business of this app has no account, so that there are no events.</p>
  return (
    <fieldset>
      <legend>Accounts whose events it gets</legend>
      <div class="field-checks">
        {all.map(({ id, name, override }) => (
          <label class="check" key={id}>
            <input type="checkbox" checked={linked.value.includes(id)} onChange={() => toggle(linked, id)} />
            <span>
              <bdi>{name}</bdi>
              {override !== undefined && <small class="soft">{`at ${override}`}</small>}
            </span>
          </label>
        ))}
      </div>
      {hasMore && (
        <small class="soft">{`The first ${all.length} accounts of its business; the links of others stay as they are.`}</small>
      )}
    </fieldset>
  )
}
