import { useSignal } from '@preact/signals'
import { apps } from '../../data/directory.ts'
import type { RequestData } from '../../data/feed-data.ts'
import { type Answer, explain, type Method, sendWritten } from '../../data/http.ts'
import { JsonView } from '../../ui/json/view.tsx'
import { Field, prettify, To } from '../../ui/parts.tsx'

/** The same request once more, with changes, as one of the apps. */
export function SendAgain({ data }: { readonly data: RequestData }) {
  const target = useSignal(data.target ?? '')
  const body = useSignal(prettify(data.exchange?.request_body))
  const app = useSignal(data.app_id ?? apps.value[0]?.id ?? '')
  const answer = useSignal<Answer | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  if (data.door !== 'business' || target.value === '') return null
  const method = data.method as Method
  const send = async () => {
    problem.value = undefined
    answer.value = undefined
    try {
      const json = body.value.trim() === '' ? undefined : JSON.parse(body.value)
      answer.value = await sendWritten(method, target.value, app.value, json)
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
            <JsonView label={`Response ${answer.value.status}`} value={answer.value.body} />
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
