import { useSignal } from '@preact/signals'
import { messagesSend } from '@switchboard/client/methods'
import { clientForAccount, digitsOf, isDirectoryRead, numbers, product, version } from '../../data/directory.ts'
import type { FeedItem } from '../../data/feed-items.ts'
import { base } from '../../data/http.ts'
import { feedItems, service } from '../../data/live.ts'
import type { Phone } from '../../data/phones.ts'
import { Code, Empty, Field, Outline, To } from '../../ui/parts.tsx'
import { attempt } from '../../ui/toast.tsx'
import { LiveLine } from '../live/brief-line.tsx'
import { isOwn } from '../live/filter.ts'
import { writeDigits } from './summarize.ts'

const shownLines = 60

/** What the business sees: its number, a way to write, and what that sets off. */
export function BusinessPanel({ phones }: { readonly phones: readonly Phone[] }) {
  const chosen = useSignal<string | undefined>(undefined)
  const number = numbers.value.find(({ id }) => id === chosen.value) ?? findFirst()
  const lines = takeLast(feedItems.value)
  return (
    <section class="business" aria-label="The business">
      <header class="panel-head">
        <h2>{number?.verified_name || 'The business'}</h2>
        {!isDirectoryRead.value && <Outline kind="select" />}
        {numbers.value.length > 1 && (
          <select
            aria-label="Number of the business"
            value={number?.id ?? ''}
            onChange={(event) => {
              chosen.value = event.currentTarget.value
            }}
          >
            {numbers.value.map(({ id, display_phone_number, verified_name, registered }) => (
              <option key={id} value={id}>
                {`${display_phone_number} ${verified_name}${registered ? '' : ', not registered'}`}
              </option>
            ))}
          </select>
        )}
      </header>
      {number && <WriteAsBusiness key={number.id} number={number} phones={phones} />}
      {!isDirectoryRead.value && <Outline kind="form" />}
      <header class="panel-head lines-head">
        <h3>Activity</h3>
        <To href="/live" class="soft">
          Show all
        </To>
      </header>
      <div class="mini-live">
        {lines.length === 0 ? (
          <Empty title="Nothing yet">
            <p>Send a message from here, from a phone, or from a terminal.</p>
          </Empty>
        ) : (
          <ol>
            {lines.map((one) => (
              <LiveLine key={one.id} item={one} />
            ))}
          </ol>
        )}
      </div>
      <footer class="panel-foot soft">
        {service.value && (
          <>
            {`${service.value.counts['account'] ?? 0} accounts, ${service.value.counts['phone_number'] ?? 0} numbers · `}
            <a href={`${base}/openapi.json`}>OpenAPI</a> · <a href={`${base}/metrics`}>Metrics</a> ·{' '}
            <a href={`${base}/readyz`}>Ready</a>
          </>
        )}
      </footer>
    </section>
  )
}

/** A number that can send, if there is one. */
function findFirst(): Number | undefined {
  return numbers.value.find(({ registered }) => registered) ?? numbers.value[0]
}

/** The newest that are shown, the newest first. */
function takeLast(all: readonly FeedItem[]): FeedItem[] {
  const lines: FeedItem[] = []
  for (let index = all.length - 1; index >= 0 && lines.length < shownLines; index--) {
    const one = all[index]
    if (one && isShown(one)) lines.push(one)
  }
  return lines
}

/** Without what the console itself asks, and what phones show anyway. */
function isShown(one: FeedItem): boolean {
  return !isOwn(one) && one.type !== 'phone' && one.type !== 'timer'
}

type Number = (typeof numbers.value)[number]

function WriteAsBusiness({ number, phones }: { readonly number: Number; readonly phones: readonly Phone[] }) {
  const to = useSignal<string | undefined>(undefined)
  const body = useSignal('')
  const isSending = useSignal(false)
  const user = to.value ?? phones[0]?.wa_id ?? ''
  const json = {
    messaging_product: product(),
    to: user,
    type: 'text',
    text: { body: body.value || 'Your ferns are here.' },
  }
  const path = `/${version()}/${number.id}/messages`
  const send = async () => {
    isSending.value = true
    const isSent = await attempt(async () => {
      const business = await clientForAccount(number.account_id)
      await messagesSend(business, number.id, { ...json, type: 'text' })
    })
    isSending.value = false
    if (isSent) body.value = ''
  }
  return (
    <form
      class="write-business"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <div class="row">
        <Field label="To">
          <select
            value={user}
            onChange={(event) => {
              to.value = event.currentTarget.value
            }}
          >
            {phones.map(({ wa_id, user: known }) => (
              <option key={wa_id} value={wa_id}>
                {known.value?.name ? `${known.value.name}, ${writeDigits(wa_id)}` : writeDigits(wa_id)}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Message from the business">
          <input
            value={body.value}
            placeholder="Your ferns are here."
            onInput={(event) => {
              body.value = event.currentTarget.value
            }}
          />
        </Field>
        <button type="submit" class="main" disabled={isSending.value || user === ''}>
          Send
        </button>
      </div>
      <details class="as-curl">
        <summary>Send from a terminal</summary>
        <Code
          label={`From ${writeDigits(digitsOf(number))}`}
          text={`curl -H 'Authorization: Bearer demo-token' -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(json).replaceAll("'", "'\\''")}' \\\n  '${location.origin}${base}${path}'`}
        />
      </details>
    </form>
  )
}
