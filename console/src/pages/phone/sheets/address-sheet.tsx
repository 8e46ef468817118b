import type { AddressRequest } from '../../../data/message-parts.ts'
import type { Message } from '../../../data/messages.ts'
import { Field } from '../../../ui/parts.tsx'
import { fieldsOf, writeAddress } from './address-fields.ts'
import { Sheet } from './sheet.tsx'

interface Props {
  readonly message: Message
  readonly onSend: (data: object) => void
  readonly onClose: () => void
}

/** The form of an address that a business asks for, with the addresses that it knows and what it did not accept. */
export function AddressSheet({ message, onSend, onClose }: Props) {
  const choices = message.content.type === 'question' ? message.content.question.choices : undefined
  if (choices?.type !== 'address') return null
  const { country, saved } = choices.request
  return (
    <Sheet title="Your address" onClose={onClose}>
      {saved.length > 0 && (
        <section aria-label="Saved addresses">
          <h5>Saved addresses</h5>
          {saved.map(({ id, value }) => (
            <button type="button" key={id} class="sheet-row" onClick={() => onSend({ saved_address_id: id })}>
              <b dir="auto">{value['name'] ?? id}</b>
              <small dir="auto">{writeAddress(country, value)}</small>
            </button>
          ))}
          <h5>Another address</h5>
        </section>
      )}
      <AddressForm request={choices.request} onSend={(values) => onSend({ values })} />
    </Sheet>
  )
}

interface FormProps {
  readonly request: AddressRequest
  readonly onSend: (values: object) => void
}

function AddressForm({ request: { country, values, errors }, onSend }: FormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const given = [...new FormData(event.currentTarget)].map(([name, text]) => [name, String(text).trim()])
        onSend(Object.fromEntries(given.filter(([, text]) => text !== '')))
      }}
    >
      {fieldsOf(country).map(({ name, label, kind }) => {
        const error = errors[name]
        return (
          <div key={name} class={error === undefined ? '' : 'refused'}>
            <Field label={label} {...(error !== undefined && { hint: error })}>
              <input
                name={name}
                defaultValue={values[name] ?? ''}
                dir="auto"
                maxLength={256}
                required={name === 'name'}
                {...(error !== undefined && { 'aria-invalid': true })}
                {...(kind === 'tel' && { inputMode: 'tel', pattern: String.raw`\+?[0-9 \(\)\-]{4,30}` })}
                {...(kind === 'digits' && { inputMode: 'numeric', pattern: '[0-9]{6}', title: '6 digits' })}
              />
            </Field>
          </div>
        )
      })}
      <button type="submit" class="main">
        Send address
      </button>
    </form>
  )
}
