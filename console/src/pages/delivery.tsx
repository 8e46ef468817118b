import { useSignal } from '@preact/signals'
import { operatorReadDelivery, operatorReplayDeliveries } from '@switchboard/client/methods'
import { nameOf } from '../data/directory.ts'
import { client } from '../data/http.ts'
import type { FullDelivery, Try } from '../data/types.ts'
import { findObstacle } from '../data/why.ts'
import { loadedValue, problemOf, useLoaded } from '../ui/loaded.tsx'
import { Badge, Code, Empty, Head, prettify, To, When } from '../ui/parts.tsx'
import { attempt } from '../ui/toast.tsx'
import { useFollow } from './deliveries.tsx'
import { toneOfState } from './live-line.tsx'

/** One webhook, with the exact bytes of every attempt. */
export function DeliveryPage({ id }: { readonly id: string }) {
  const read = useLoaded(id, () => operatorReadDelivery(client, id))
  const { reload } = read
  const problem = problemOf(read)
  const to = useSignal('')
  useFollow(() => void reload())
  const delivery = loadedValue(read)
  if (problem && !delivery) {
    return (
      <div class="page">
        <Empty title="This webhook does not exist">
          <p>{problem}</p>
          <p>
            <To href="/deliveries">All webhooks</To>
          </p>
        </Empty>
      </div>
    )
  }
  if (!delivery) return <p class="wait">Loading…</p>
  const replay = () =>
    attempt(async () => {
      await operatorReplayDeliveries(client, { ids: [id], ...(to.value && { to: to.value }) })
      await reload()
    }, 'The webhook is sent again.')
  return (
    <div class="page">
      <Head title={`Webhook ${id}`} lead={explain(delivery)}>
        <Badge tone={toneOfState(delivery.state)}>{delivery.state}</Badge>
      </Head>
      <dl class="facts-list">
        <div>
          <dt>Field</dt>
          <dd>{delivery.field}</dd>
        </div>
        <div>
          <dt>App</dt>
          <dd>{nameOf(delivery.app_id)}</dd>
        </div>
        <div>
          <dt>Number</dt>
          <dd>{nameOf(delivery.phone_number_id) || '–'}</dd>
        </div>
        <div>
          <dt>Conversation</dt>
          <dd class="mono">{delivery.conversation}</dd>
        </div>
        <div>
          <dt>Raised</dt>
          <dd>
            <When at={delivery.created_time} />
          </dd>
        </div>
        <div>
          <dt>Next attempt</dt>
          <dd>
            <When at={delivery.next_time} />
          </dd>
        </div>
      </dl>
      <form
        class="card inline-form"
        onSubmit={(event) => {
          event.preventDefault()
          void replay()
        }}
      >
        <label class="field">
          <span>Send again to</span>
          <input
            type="url"
            value={to.value}
            placeholder={delivery.callback_url}
            onInput={(event) => {
              to.value = event.currentTarget.value
            }}
          />
        </label>
        <button type="submit" class="main">
          Send again
        </button>
      </form>
      {delivery.tries.length === 0 ? (
        <NotTried delivery={delivery} />
      ) : (
        <ol class="tries">
          {delivery.tries.toReversed().map((one) => (
            <TryView key={one.number} one={one} />
          ))}
        </ol>
      )}
    </div>
  )
}

function NotTried({ delivery }: { readonly delivery: FullDelivery }) {
  const found = loadedValue(useLoaded(delivery.id, () => findObstacle(delivery.app_id, delivery.lane_id)))
  return (
    <Empty title="Not attempted yet">
      {found ? (
        <p>
          {'It waits for '}
          <To href={`/deliveries/${found.delivery_id}`}>{`webhook ${found.delivery_id}`}</To>
          {`, which its subscriber does not take: ${found.problem}.`}
        </p>
      ) : (
        <p>It waits for earlier webhooks of its conversation, or its subscriber is paused.</p>
      )}
    </Empty>
  )
}

/** Why it has not come, in one sentence. */
function explain({ state, tries, next_time }: FullDelivery): string {
  const problem = tries.at(-1)?.problem
  switch (state) {
    case 'delivered':
      return `The subscriber accepted it at attempt ${tries.length}.`
    case 'failed':
      return `Failed after ${tries.length} tries: ${problem ?? 'none succeeded'}.`
    case 'withdrawn':
      return 'Withdrawn: the app lost its access or its link before it was sent.'
    default:
      return tries.length === 0
        ? 'Not attempted yet.'
        : `The last attempt failed: ${problem ?? 'no response'}.${next_time ? ' It is retried automatically.' : ''}`
  }
}

function TryView({ one }: { readonly one: Try }) {
  const { number, duration, problem, request, response } = one
  return (
    <li class="card">
      <header class="try-head">
        <h2>{`Attempt ${number}`}</h2>
        <Badge tone={problem ? 'bad' : 'good'}>{response ? response.status : 'no response'}</Badge>
        <span class="soft">{`${duration} ms`}</span>
        <span class="soft grow">
          <When at={one.time} />
        </span>
      </header>
      {problem && <p class="bad">{problem}</p>}
      <div class="two">
        <Code label={`Headers to ${request.url ?? 'an unknown address'}`} text={writeHeaders(request.headers)} />
        <Code label="Response headers" text={response ? writeHeaders(response.headers) : 'No response.'} />
      </div>
      <div class="two">
        <Code label="Body, the exact bytes that are signed" text={request.body ?? 'No longer kept.'} />
        <Code label="Response body" text={response ? response.body || 'Empty' : 'No response.'} />
      </div>
      {request.body && (
        <details>
          <summary>The body, formatted</summary>
          <Code label="Body" text={prettify(request.body)} />
        </details>
      )}
    </li>
  )
}

function writeHeaders(headers: Try['request']['headers']): string {
  if (!headers) return 'Not kept.'
  return Object.entries(headers)
    .flatMap(([name, values]) => (typeof values === 'string' ? [values] : values).map((value) => `${name}: ${value}`))
    .join('\n')
}
