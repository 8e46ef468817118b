import { useSignal } from '@preact/signals'
import { Phone } from '../../data/phone/phone.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/parts.tsx'

interface Props {
  readonly onAdd: (id: string) => void
  readonly onClose: () => void
}

export function AddPhone({ onAdd, onClose }: Props) {
  const number = useSignal('')
  const name = useSignal('')
  const digits = number.value.replaceAll(/\D/g, '')
  const add = async () => {
    const named = name.value.trim()
    if (named !== '') await new Phone(digits).set({ name: named })
    onAdd(digits)
    onClose()
  }
  return (
    <Dialog title="Add a phone" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (digits !== '') void add()
        }}
      >
        <Field label="Number" hint="With the country code. The phone of a business number shows its SMS.">
          <input
            inputMode="tel"
            required
            value={number.value}
            placeholder="+1 650 555 0199"
            onInput={(event) => {
              number.value = event.currentTarget.value
            }}
          />
        </Field>
        <Field label="Name" hint="Optional.">
          <input
            value={name.value}
            maxLength={256}
            dir="auto"
            onInput={(event) => {
              name.value = event.currentTarget.value
            }}
          />
        </Field>
        <button type="submit" class="main">
          Add the phone
        </button>
      </form>
    </Dialog>
  )
}
