import { useSignal } from '@preact/signals'
import { type MessagesSendParams, mediaUpload, messagesSend } from '@switchboard/client/methods'
import { apps, businessClient, clientForAccount, findAppForAccount, product } from '../../../data/directory.ts'
import { explain } from '../../../data/http.ts'
import { serviceNow } from '../../../data/live.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import type { PhoneNumber } from '../../../data/types.ts'
import { Field } from '../../../ui/parts.tsx'
import { writeDigits } from '../summarize.ts'
import { AsCurl } from './as-curl.tsx'
import { type Draft, emptyDraft, type Kind, kinds, toContent } from './draft.ts'
import { DraftFields } from './draft-fields.tsx'
import { SentMessages } from './sent-messages.tsx'

/** Writes as a business: to anybody, by any of its apps. */
export function Composer({ number, phones }: { readonly number: PhoneNumber; readonly phones: readonly Phone[] }) {
  const draft = useSignal<Draft>(emptyDraft)
  const typed = useSignal<string | undefined>(undefined)
  const chosen = useSignal<string | undefined>(undefined)
  const app = chosen.value ?? findAppForAccount(number.account_id)
  const isSending = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const written = typed.value ?? (phones[0] ? writeDigits(phones[0].wa_id) : '')
  const to = written.replaceAll(/\D/g, '')
  const content = toContent(draft.value, '', serviceNow())
  const change = (changes: Partial<Draft>) => {
    draft.value = { ...draft.value, ...changes }
    problem.value = undefined
  }
  const send = async () => {
    const { file, kind } = draft.value
    isSending.value = true
    problem.value = undefined
    try {
      const client = app === undefined ? await clientForAccount(number.account_id) : businessClient(app)
      const uploaded = kind === 'media' && file ? await mediaUpload(client, number.id, { file }) : undefined
      const sent = toContent(draft.value, uploaded?.id, serviceNow())
      await messagesSend(client, number.id, { to, ...sent } as MessagesSendParams)
      draft.value = { ...draft.value, text: '', file: undefined, link: '' }
    } catch (error) {
      problem.value = explain(error)
    }
    isSending.value = false
  }
  return (
    <form
      class="write-business"
      onSubmit={(event) => {
        event.preventDefault()
        if (content !== undefined && to !== '') void send()
      }}
    >
      <div class="row">
        <Field label="To">
          <input
            class="to"
            list={`to-${number.id}`}
            inputMode="tel"
            required
            value={written}
            onFocus={(event) => event.currentTarget.select()}
            onInput={(event) => {
              typed.value = event.currentTarget.value
            }}
          />
        </Field>
        <datalist id={`to-${number.id}`}>
          {phones.map(({ wa_id, store }) => (
            <option key={wa_id} value={writeDigits(wa_id)}>
              {store.user.value?.name}
            </option>
          ))}
        </datalist>
        <Field label="Type">
          <select value={draft.value.kind} onChange={(event) => change({ kind: event.currentTarget.value as Kind })}>
            {Object.entries(kinds).map(([kind, name]) => (
              <option key={kind} value={kind}>
                {name}
              </option>
            ))}
          </select>
        </Field>
        {apps.value.length > 1 && (
          <Field label="App">
            <select
              value={app ?? ''}
              onChange={(event) => {
                chosen.value = event.currentTarget.value
              }}
            >
              {app === undefined && <option value="">Choose one</option>}
              {apps.value.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name ?? id}
                </option>
              ))}
            </select>
          </Field>
        )}
      </div>
      <DraftFields draft={draft.value} account={number.account_id} onChange={change} />
      <div class="row send-row">
        <button type="submit" class="main" disabled={isSending.value || content === undefined || to === ''}>
          {isSending.value ? 'Sending…' : 'Send'}
        </button>
        {problem.value !== undefined && (
          <p class="bad grow" role="alert">
            {problem.value}
          </p>
        )}
      </div>
      <AsCurl number={number} json={{ messaging_product: product(), to, ...(content ?? { type: draft.value.kind }) }} />
      <SentMessages key={`${number.id} ${to}`} number={number.id} to={to} />
    </form>
  )
}
