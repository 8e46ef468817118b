import { useSignal } from '@preact/signals'
import { operatorReadTrace } from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import { apps, takeToken } from '../data/directory.ts'
import type { RequestData } from '../data/feed-data.ts'
import { type FeedItem, type ItemOf, isOf, readFeedItem } from '../data/feed-items.ts'
import { type Answer, base, client, explain, type Method, sendWritten } from '../data/http.ts'
import { watch } from '../data/live.ts'
import { findObstacle } from '../data/why.ts'
import { loadedValue, problemOf, useLoaded } from '../ui/loaded.tsx'
import { Badge, Code, Empty, Field, Head, prettify, Time, To } from '../ui/parts.tsx'
import { writeClientCall } from './client-call.ts'
import { describe, nameType } from './live-line.tsx'

/** All that one request set off, in time. */
export function TracePage({ trace }: { readonly trace: string }) {
  const read = useLoaded(trace, async () => (await operatorReadTrace(client, trace)).data.map(readFeedItem))
  const { reload } = read
  const problem = problemOf(read)
  useEffect(
    () =>
      watch((one) => {
        if (one.trace === trace) void reload()
      }),
    [trace, reload],
  )
  const all = loadedValue(read) ?? []
  // The message or call of an event is sent as well: the same once more.
  const shown = all.filter(({ type }) => type !== 'message' && type !== 'call')
  // A request is noted when it is answered, and comes before all that it set off.
  const steps = [...shown.filter(({ type }) => type === 'request'), ...shown.filter(({ type }) => type !== 'request')]
  const [first] = steps
  const request = steps.find(isOf('request'))
  const start = first ? Date.parse(first.time) : 0
  return (
    <div class="page">
      <Head title="Trace" lead="All that one request set off, in order.">
        <code class="trace-id">{trace}</code>
      </Head>
      {problem && (
        <Empty title="This trace is unknown">
          <p>{problem}</p>
          <p>
            <To href="/live">Back to Live</To>
          </p>
        </Empty>
      )}
      {steps.length > 0 && <Verdict steps={steps} />}
      <ol class="steps">
        {steps.map((step) => (
          <Step key={step.id} step={step} after={Date.parse(step.time) - start} />
        ))}
      </ol>
      {request && <SendAgain request={request} />}
    </div>
  )
}

/** Why a webhook has not come, in one sentence. */
function Verdict({ steps }: { readonly steps: readonly FeedItem[] }) {
  const verdict = judge(steps)
  const waiting = steps.filter(isOf('delivery')).findLast(({ data }) => data.state === 'waiting')
  const app = verdict.waits && waiting ? waiting.data.app_id : ''
  const obstacle = useLoaded(`${app} ${steps.length}`, async () => (app === '' ? undefined : findObstacle(app)))
  const found = app === '' ? undefined : loadedValue(obstacle)
  return (
    <div class={`verdict ${found ? 'bad' : verdict.tone}`} role="status">
      <p>{verdict.text}</p>
      {found && (
        <p>
          {`${waiting?.data.callback_url} does not accept it: ${found.problem}. `}
          <To href={`/deliveries/${found.delivery_id}`}>{`Webhook ${found.delivery_id}`}</To>
          {` had ${found.tries} ${found.tries === 1 ? 'attempt' : 'attempts'}.`}
        </p>
      )}
    </div>
  )
}

function judge(steps: readonly FeedItem[]): { tone: string; text: string; waits?: boolean } {
  const error = steps.find(isOf('request'))?.data.error
  if (error) return { tone: 'bad', text: `The request was refused: ${error.message}` }
  const events = steps.filter(isOf('event'))
  if (events.length === 0) return { tone: 'plain', text: 'The request raised no event, so there is no webhook.' }
  const last = new Map(steps.filter(isOf('delivery')).map((step) => [step.data.delivery_id, step]))
  if (last.size === 0) {
    const fields = [...new Set(events.map(({ data }) => data.field))].join(', ')
    return {
      tone: 'warn',
      text: `No webhook was sent: no app is both linked to the account and subscribed to ${fields}. See Connect your app.`,
    }
  }
  const states = [...last.values()].map(({ data }) => data.state)
  const tries = steps.filter(isOf('try'))
  const problem = tries.findLast(({ data }) => data.problem)?.data.problem
  if (states.includes('failed'))
    return { tone: 'bad', text: `A webhook was given up: ${problem ?? 'the subscriber did not accept it'}.` }
  if (states.includes('waiting')) {
    if (tries.length === 0)
      return { tone: 'warn', text: 'The webhook has not been attempted yet: it waits for its subscriber.', waits: true }
    const url = tries.at(-1)?.data.callback_url
    return { tone: 'bad', text: `${url} does not accept it: ${problem ?? 'no response'}. It is retried automatically.` }
  }
  return {
    tone: 'good',
    text: `Everything went through: ${last.size} ${last.size === 1 ? 'webhook was' : 'webhooks were'} delivered.`,
  }
}

function Step({ step, after }: { readonly step: FeedItem; readonly after: number }) {
  const { text, result, tone } = describe(step)
  const delivery = step.type === 'delivery' || step.type === 'try' ? step.data.delivery_id : undefined
  return (
    <li class={`step ${tone}`}>
      <details open={step.type === 'request'}>
        <summary>
          <span class={`type ${step.type}`}>{nameType(step.type)}</span>
          <span class="what">{text}</span>
          <span class="soft took">{after > 0 ? `+${after} ms` : <Time at={step.time} />}</span>
          <Badge tone={tone}>{result}</Badge>
        </summary>
        <div class="step-body">
          {step.type === 'request' ? (
            <Bodies data={step.data} />
          ) : (
            <Code label={nameType(step.type)} text={JSON.stringify(bodyOf(step), null, 2)} />
          )}
          {delivery !== undefined && (
            <p>
              <To href={`/deliveries/${delivery}`}>The exact bytes of this webhook</To>
            </p>
          )}
        </div>
      </details>
    </li>
  )
}

/** What is shown of it: of an event what subscribers get, as far as it is kept. */
function bodyOf({ type, data }: FeedItem): unknown {
  if (type !== 'event') return data
  const { event_id, field, value } = data
  return value ?? { event_id, field }
}

function Bodies({ data }: { readonly data: RequestData }) {
  const { exchange } = data
  if (!exchange) return <p class="soft">Headers and bodies are kept only in a sandbox.</p>
  const sent = prettify(exchange.request_body)
  const got = prettify(exchange.response_body)
  const sdk = writeSdk(data)
  return (
    <>
      <div class="two">
        <Code label="Sent" text={sent || 'No body'} />
        <Code label="Response" text={got || 'No body is kept'} />
      </div>
      <div class="two">
        <Code label="As curl" text={writeCurl(data)} />
        {sdk !== undefined && <Code label="By @switchboard/client" text={sdk} />}
      </div>
    </>
  )
}

function urlOf({ target = '' }: RequestData): string {
  return `${location.origin}${base}${target}`
}

function writeCurl(data: RequestData): string {
  const { request_body: body, request_headers } = data.exchange ?? {}
  const type = request_headers?.['content-type']
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return [
    `curl -X ${data.method} -H "Authorization: Bearer $TOKEN"`,
    ...(body ? [`-H ${quote(`Content-Type: ${type ?? 'application/json'}`)}`, `-d ${quote(body)}`] : []),
    quote(urlOf(data)),
  ].join(' \\\n  ')
}

/** The same through the client of the service; undefined for what it has no method for. */
function writeSdk({ door, operation, target = '', exchange }: RequestData): string | undefined {
  if (door !== 'business' || !exchange) return undefined
  const { request_headers: headers, request_body: body } = exchange
  return writeClientCall({ operation, target, headers, body }, location.origin + base)
}

/** The same request once more, with changes, as one of the apps. */
function SendAgain({ request }: { readonly request: ItemOf<'request'> }) {
  const { data } = request
  const target = useSignal(data.target ?? '')
  const body = useSignal(prettify(data.exchange?.request_body ?? null))
  const app = useSignal(data.app_id ?? apps.value[0]?.id ?? '')
  const answer = useSignal<Answer | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  if (data.door !== 'business' || target.value === '') return null
  const method = data.method as Method
  const send = async () => {
    problem.value = undefined
    answer.value = undefined
    try {
      const token = await takeToken(app.value)
      const json = body.value.trim() === '' ? undefined : JSON.parse(body.value)
      answer.value = await sendWritten(method, target.value, token, json)
    } catch (error) {
      problem.value = error instanceof SyntaxError ? `The body is not JSON: ${error.message}` : explain(error)
    }
  }
  return (
    <details class="card again">
      <summary>Edit and send again</summary>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <Field label="As the app">
          <select
            value={app.value}
            onChange={(event) => {
              app.value = event.currentTarget.value
            }}
          >
            {apps.value.map(({ id, name }) => (
              <option key={id} value={id}>
                {name ?? id}
              </option>
            ))}
          </select>
        </Field>
        <Field label={method}>
          <input
            class="mono"
            value={target.value}
            onInput={(event) => {
              target.value = event.currentTarget.value
            }}
          />
        </Field>
        {method !== 'GET' && (
          <Field label="Body">
            <textarea
              class="mono"
              rows={Math.min(18, body.value.split('\n').length + 1)}
              value={body.value}
              onInput={(event) => {
                body.value = event.currentTarget.value
              }}
            />
          </Field>
        )}
        <button type="submit" class="main">
          Send
        </button>
        {problem && (
          <p class="bad" role="alert">
            {problem.value}
          </p>
        )}
        {answer.value && (
          <>
            <Code label={`Response ${answer.value.status}`} text={JSON.stringify(answer.value.body, null, 2)} />
            {answer.value.trace && (
              <p>
                <To href={`/traces/${answer.value.trace}`}>Show the trace</To>
              </p>
            )}
          </>
        )}
      </form>
    </details>
  )
}
