import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { explain } from '../../data/http.ts'
import { JsonView } from '../../ui/json/view.tsx'
import { Badge, Field, When } from '../../ui/parts.tsx'
import type { Fact } from './words.ts'

/** What is known of an object, in words; rows of one's own come first. */
export function Facts({ of, children }: { readonly of: readonly Fact[]; readonly children?: ComponentChildren }) {
  return (
    <dl class="fact-list">
      {children}
      {of.map(({ name, value, isTime }) => (
        <FactRow key={name} name={name}>
          {isTime ? <When at={value} /> : value}
        </FactRow>
      ))}
    </dl>
  )
}

export function FactRow({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <bdi>{children}</bdi>
      </dd>
    </div>
  )
}

const goodValues = new Set(['APPROVED', 'CONNECTED', 'VERIFIED', 'GREEN', 'ACTIVE'])
const badValues = new Set(['REJECTED', 'DISABLED', 'DISCONNECTED', 'RED', 'RESTRICTED', 'BANNED', 'FLAGGED'])

function toneOfStatus(status: string): string {
  return goodValues.has(status) ? 'good' : badValues.has(status) ? 'bad' : 'warn'
}

export function Status({ value, words }: { readonly value: string; readonly words: string }) {
  return <Badge tone={toneOfStatus(value)}>{words}</Badge>
}

export function AsJson({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <details class="card">
      <summary>As JSON</summary>
      <JsonView label={label} value={value} />
    </details>
  )
}

interface EditProps {
  readonly title: string
  /** What can be changed, as it is now. */
  readonly writable: object
  readonly save: (json: object) => Promise<void>
}

/** Changes an object by the API itself: the writable members, as JSON. */
export function Edit({ title, writable, save }: EditProps) {
  const given = JSON.stringify(writable, null, 2)
  const body = useSignal<string | undefined>(undefined)
  const outcome = useSignal<{ readonly tone: 'good' | 'bad'; readonly text: string } | undefined>(undefined)
  const text = body.value ?? given
  const send = async () => {
    try {
      await save(JSON.parse(text) as object)
      body.value = undefined
      outcome.value = { tone: 'good', text: 'Saved.' }
    } catch (error) {
      const isJson = !(error instanceof SyntaxError)
      outcome.value = { tone: 'bad', text: isJson ? explain(error) : `The body is not JSON: ${error.message}` }
    }
  }
  return (
    <details class="card">
      <summary>{title}</summary>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <Field label="What can be changed">
          <textarea
            class="mono"
            rows={Math.min(24, text.split('\n').length + 1)}
            spellcheck={false}
            value={text}
            onInput={(event) => {
              body.value = event.currentTarget.value
              outcome.value = undefined
            }}
          />
        </Field>
        <button type="submit" class="main">
          Save
        </button>
        {outcome.value && (
          <p class={outcome.value.tone} role="status">
            {outcome.value.text}
          </p>
        )}
      </form>
    </details>
  )
}
