import { type Signal, useSignal } from '@preact/signals'
import {
  gatewayWriteMessage,
  operatorExportWorld,
  operatorRotateAppSecret,
  webhooksLinkApp,
  webhooksListSubscriptions,
  webhooksSubscribe,
} from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import { accounts, apps, businessClient, nameOf, numbers, product } from '../data/directory.ts'
import type { ItemOf } from '../data/feed-items.ts'
import { base, client, explain } from '../data/http.ts'
import { service, watch } from '../data/live.ts'
import { place, setQuery } from '../router.ts'
import { useLatest } from '../ui/hooks.ts'
import { loadedValue, useLoaded } from '../ui/loaded.tsx'
import { Badge, Code, CopyButton, Field, PageHead, To } from '../ui/parts.tsx'
import { attempt } from '../ui/toast.tsx'
import { describe } from './live-line.tsx'
import { receiverPort, snippets } from './snippets.ts'

const fields = [
  'messages',
  'calls',
  'message_template_status_update',
  'group_lifecycle_update',
  'group_participants_update',
  'account_update',
  'phone_number_quality_update',
  'user_preferences',
] as const

/** From nothing to the first event received: one page, in order. */
export function ConnectPage() {
  const app = place.value.query.get('app') ?? apps.value[0]?.id ?? ''
  const verifyToken = useSignal(drawToken())
  return (
    <div class="page">
      <PageHead of="connect">
        <select aria-label="App" value={app} onChange={(event) => setQuery({ app: event.currentTarget.value })}>
          {apps.value.map(({ id, name }) => (
            <option key={id} value={id}>
              {name ?? id}
            </option>
          ))}
        </select>
      </PageHead>
      {app !== '' && <Guide key={app} app={app} verifyToken={verifyToken} />}
      <section class="card">
        <h2>Without a subscription</h2>
        <p>Forwards every event to your app as it happens, and prints the response:</p>
        <Code
          label="In a terminal"
          text={`./switchboard listen --forward-to http://127.0.0.1:${receiverPort}/ --since 10m`}
        />
      </section>
    </div>
  )
}

/** The steps for one app; those of another one begin without its secret. */
function Guide({ app, verifyToken }: { readonly app: string; readonly verifyToken: Signal<string> }) {
  const secret = useSignal<string | undefined>(undefined)
  return (
    <ol class="guide">
      <Secrets app={app} secret={secret} verifyToken={verifyToken.value} />
      <Receiver secret={secret.value} verifyToken={verifyToken.value} />
      <Subscribe app={app} verifyToken={verifyToken} />
      <FirstEvent app={app} />
    </ol>
  )
}

function drawToken(): string {
  return [...crypto.getRandomValues(new Uint8Array(9))]
    .map((byte) => byte.toString(36))
    .join('')
    .slice(0, 14)
}

interface Writable {
  value: string | undefined
}

function Secrets({
  app,
  secret,
  verifyToken,
}: {
  readonly app: string
  readonly secret: Writable
  readonly verifyToken: string
}) {
  const show = useLatest(() =>
    attempt(async () => {
      // The export is the one place that holds the secrets of apps.
      const exported = await operatorExportWorld(client, { headers: { accept: 'application/json' } })
      const world = (await exported.json()) as { apps?: { id: string; secret?: string }[] }
      secret.value = world.apps?.find(({ id }) => id === app)?.secret
    }),
  )
  const isSandbox = service.value?.sandbox === true
  useEffect(() => {
    if (isSandbox) void show()
  }, [isSandbox, show])
  const renew = () =>
    attempt(async () => {
      const made = await operatorRotateAppSecret(client, app, {})
      secret.value = made.secret
    }, 'The app has a new secret. The old secret stays valid for a day.')
  return (
    <li class="card">
      <h2>Two secrets</h2>
      <p>
        The app secret signs every webhook, so that your app knows that it comes from here. The verify token shows that
        a receiver is yours when it is subscribed.
      </p>
      <dl class="secrets">
        <div>
          <dt>App secret</dt>
          <dd>
            {secret.value === undefined ? (
              <>
                <button type="button" class="small" onClick={() => void show()}>
                  Show
                </button>
                <button type="button" class="small" onClick={() => void renew()}>
                  Make a new one
                </button>
              </>
            ) : (
              <>
                <code>{secret.value}</code>
                <CopyButton text={secret.value} />
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Verify token</dt>
          <dd>
            <code>{verifyToken}</code>
            <CopyButton text={verifyToken} />
          </dd>
        </div>
      </dl>
    </li>
  )
}

function Receiver({ secret, verifyToken }: { readonly secret: string | undefined; readonly verifyToken: string }) {
  const chosen = useSignal(0)
  const snippet = snippets[chosen.value] ?? snippets[0]
  if (!snippet) return null
  return (
    <li class="card">
      <h2>A receiver</h2>
      <fieldset class="tabs" aria-label="Language">
        {snippets.map(({ name }, index) => (
          <button
            type="button"
            key={name}
            aria-pressed={index === chosen.value}
            onClick={() => {
              chosen.value = index
            }}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <Code label={`Save as ${snippet.file}`} text={snippet.text} />
      <Code
        label="Start it"
        text={`APP_SECRET='${secret ?? 'the app secret'}' VERIFY_TOKEN='${verifyToken}' ${snippet.command}`}
      />
    </li>
  )
}

function Subscribe({ app, verifyToken }: { readonly app: string; readonly verifyToken: { value: string } }) {
  const url = useSignal(`http://127.0.0.1:${receiverPort}/`)
  const chosen = useSignal<ReadonlySet<string>>(new Set(['messages', 'calls']))
  const outcome = useSignal<{ tone: 'good' | 'bad'; text: string } | undefined>(undefined)
  const list = useLoaded(app, async () => webhooksListSubscriptions(await businessClient(app), app))
  const own = accounts.value.filter(
    ({ business_id }) => business_id === apps.value.find(({ id }) => id === app)?.business_id,
  )
  const verify = async () => {
    outcome.value = undefined
    try {
      const business = await businessClient(app)
      await webhooksSubscribe(business, app, {
        object: `${product()}_business_account`,
        callback_url: url.value,
        verify_token: verifyToken.value,
        fields: [...chosen.value],
      })
      for (const { id } of own) await webhooksLinkApp(business, id)
      outcome.value = {
        tone: 'good',
        text: 'The receiver returned the challenge. The app is subscribed, and linked to its accounts.',
      }
      await list.reload()
    } catch (error) {
      outcome.value = { tone: 'bad', text: explain(error) }
    }
  }
  const toggle = (field: string) => {
    const next = new Set(chosen.value)
    if (!next.delete(field)) next.add(field)
    chosen.value = next
  }
  const [current] = loadedValue(list)?.data ?? []
  return (
    <li class="card">
      <h2>Subscribe it</h2>
      {current && (
        <p class="row">
          Now: <code>{current.callback_url}</code>{' '}
          {current.fields.map((field) => (
            <Badge tone="plain" key={field}>
              {field}
            </Badge>
          ))}
        </p>
      )}
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void verify()
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
        <fieldset>
          <legend>Fields</legend>
          <div class="checks">
            {fields.map((field) => (
              <label class="check" key={field}>
                <input type="checkbox" checked={chosen.value.has(field)} onChange={() => toggle(field)} />
                {field}
              </label>
            ))}
          </div>
        </fieldset>
        <button type="submit" class="main">
          Verify and subscribe
        </button>
        {outcome.value && (
          <p class={outcome.value.tone} role="status">
            {outcome.value.text}
          </p>
        )}
      </form>
      <p class="soft">
        {own.length === 0
          ? 'The business of this app has no account.'
          : `It is linked to ${own.map(({ id, name }) => name ?? id).join(', ')}.`}
      </p>
    </li>
  )
}

function FirstEvent({ app }: { readonly app: string }) {
  const lines = useSignal<readonly ItemOf<'try' | 'delivery'>[]>([])
  const number = useSignal<string | undefined>(undefined)
  useEffect(
    () =>
      watch((one) => {
        if ((one.type === 'try' || one.type === 'delivery') && one.data.app_id === app) {
          lines.value = [one, ...lines.value].slice(0, 6)
        }
      }),
    [app, lines],
  )
  const chosen = number.value ?? numbers.value[0]?.id ?? ''
  const write = () =>
    attempt(() =>
      gatewayWriteMessage(client, {
        phone_number_id: chosen,
        from: '16505551234',
        type: 'text',
        text: { body: 'Hello, app' },
      }),
    )
  return (
    <li class="card">
      <h2>The first event</h2>
      <div class="row">
        <Field label="A user writes to">
          <select
            value={chosen}
            onChange={(event) => {
              number.value = event.currentTarget.value
            }}
          >
            {numbers.value.map(({ id, display_phone_number, verified_name }) => (
              <option key={id} value={id}>{`${display_phone_number} ${verified_name}`}</option>
            ))}
          </select>
        </Field>
        <button type="button" class="main" onClick={() => void write()}>
          Let a user write
        </button>
      </div>
      {lines.value.length > 0 && (
        <ol class="plain-list" aria-live="polite">
          {lines.value.map((one) => {
            const { text, result, tone } = describe(one)
            return (
              <li key={one.id}>
                <Badge tone={tone}>{result}</Badge> <To href={`/deliveries/${one.data.delivery_id}`}>{text}</To>
              </li>
            )
          })}
        </ol>
      )}
      <p class="soft">
        {`What ${nameOf(app)} gets appears here; `}
        <a href={`${base}/docs#receiver`}>the reference</a> says what is in it.
      </p>
    </li>
  )
}
