import { useSignal } from '@preact/signals'
import { operatorDeliveriesReplay, operatorDeliveriesRetrieve, operatorWhy } from '@switchboard/client/methods'
import type { ComponentChildren } from 'preact'
import './deliveries.css'
import { nameOf } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import type { FullDelivery } from '../../data/types.ts'
import { BodyView, TextView } from '../../ui/json/view.tsx'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { Exact } from '../../ui/moments.tsx'
import { Badge, Empty, Head, To } from '../../ui/parts.tsx'
import { Sentence } from '../../ui/sentence.tsx'
import { attempt } from '../../ui/toast.tsx'
import { aboutWhat } from '../live/describe.ts'
import { toneOfState } from '../live/tones.ts'
import { Attempts } from './attempts.tsx'
import { userOf } from './filter.ts'
import { useFollow } from './follow.ts'

/** One webhook: what became of it and why, what is sent, and every attempt. */
export function DeliveryPage({ id }: { readonly id: string }) {
  const read = useLoaded(id, () => operatorDeliveriesRetrieve(client, id))
  const why = useLoaded(id, () => operatorWhy(client, id))
  const reload = () => {
    void read.reload()
    void why.reload()
  }
  useFollow(reload)
  const missing = (
    <Empty title="This webhook does not exist">
      <p>It may have been deleted, or belong to somebody whom this session may not see.</p>
      <p>
        <To href="/deliveries">All webhooks</To>
      </p>
    </Empty>
  )
  return (
    <div class="page page-delivery">
      <Loaded of={read} what={`webhook ${id}`} missing={missing}>
        {(delivery) => (
          <>
            <Head title={`Webhook ${id}`}>
              <Badge tone={delivery.failing ? 'bad' : toneOfState(delivery.state)}>
                {delivery.failing ? 'failing' : delivery.state}
              </Badge>
            </Head>
            <Loaded of={why} what="what became of it">
              {({ sentence }) => (
                <p class={`verdict ${delivery.failing ? 'bad' : toneOfState(delivery.state)}`} role="status">
                  <Sentence text={sentence} />
                </p>
              )}
            </Loaded>
            <Facts delivery={delivery} />
            <SendAgain delivery={delivery} reload={reload} />
            <Payload delivery={delivery} />
            <Attempts tries={delivery.tries} payload={delivery.payload} />
          </>
        )}
      </Loaded>
    </div>
  )
}

function Facts({ delivery }: { readonly delivery: FullDelivery }) {
  const { field, app_id, phone_number_id, conversation, trace, event_id } = delivery
  const user = userOf(conversation)
  return (
    <dl class="facts-list">
      <Fact name="About">{aboutWhat(delivery)}</Fact>
      <Fact name="Field">{field}</Fact>
      <Fact name="App">
        <To href={`/resources/${app_id}`}>{nameOf(app_id)}</To>
      </Fact>
      <Fact name="Callback">
        <span class="mono">{delivery.callback_url}</span>
      </Fact>
      {phone_number_id !== null && (
        <Fact name="Number">
          <To href={`/resources/${phone_number_id}`}>{nameOf(phone_number_id)}</To>
        </Fact>
      )}
      {user !== undefined && (
        <Fact name="User">
          <To href={`/?phones=${user}`}>{`+${user}`}</To>
        </Fact>
      )}
      {trace !== null && (
        <Fact name="Trace">
          <To href={`/traces/${trace}`} class="mono">
            {trace}
          </To>
        </Fact>
      )}
      <Fact name="Event">
        {trace === null ? event_id : <To href={`/traces/${trace}?event=${event_id}`}>{event_id}</To>}
      </Fact>
      <Fact name="Created">
        <Exact at={delivery.created_time} />
      </Fact>
      {delivery.finished_time !== null && (
        <Fact name={delivery.state === 'delivered' ? 'Delivered' : 'Ended'}>
          <Exact at={delivery.finished_time} />
        </Fact>
      )}
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
    </div>
  )
}

function SendAgain({ delivery, reload }: { readonly delivery: FullDelivery; readonly reload: () => void }) {
  const to = useSignal('')
  const send = () =>
    attempt(async () => {
      await operatorDeliveriesReplay(client, { ids: [delivery.id], ...(to.value && { to: to.value }) })
      reload()
    }, 'The webhook is queued to be sent again.')
  return (
    <form
      class="card inline-form"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <label class="field">
        <span>Send again to</span>
        <input
          type="url"
          value={to.value}
          placeholder="The callback that the app has now"
          onInput={(event) => {
            to.value = event.currentTarget.value
          }}
        />
      </label>
      <button type="submit" class="main">
        Send again
      </button>
    </form>
  )
}

function Payload({ delivery: { payload, state, tries } }: { readonly delivery: FullDelivery }) {
  if (payload === null) return <p class="soft">The content of this webhook is no longer kept.</p>
  return (
    <section class="block" aria-label="Payload">
      <BodyView label={namePayload(state, tries.length > 0)} text={payload} />
      <details>
        <summary>The exact bytes</summary>
        <TextView label="Exact bytes of a post of this webhook alone" text={payload} />
      </details>
    </section>
  )
}

function namePayload(state: FullDelivery['state'], isAttempted: boolean): string {
  if (isAttempted) return 'What is sent'
  return state === 'waiting' ? 'What will be sent' : 'What would have been sent'
}
