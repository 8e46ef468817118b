import { signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { arePhonesShown, Phone } from '../../data/phones.ts'
import { place, setQuery } from '../../router.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Heading, IconButton } from '../../ui/parts.tsx'
import { BusinessPanel } from './business.tsx'
import { PhoneView } from './phone-view.tsx'

/** Whose phones are shown when the address names none: the user of the demo world, and another. */
const firstPhones = ['16505551234', '16505550123']

const phones = signal<ReadonlyMap<string, Phone>>(new Map())

/** The numbers in the address, so that a link opens the same phones. */
function wanted(): string[] {
  const named = place.value.query.get('phones')
  return named === null ? firstPhones : named.split(',').filter((one) => /^\d{1,20}$/.test(one))
}

/** Starts the phones that the address names, and stops the others. */
function followAddress(ids: readonly string[]): void {
  const next = new Map<string, Phone>()
  for (const id of ids) {
    const phone = phones.peek().get(id) ?? new Phone(id)
    if (!phones.peek().has(id)) phone.start()
    next.set(id, phone)
  }
  for (const [id, phone] of phones.peek()) if (!next.has(id)) phone.stop()
  phones.value = next
}

export function PhonePage() {
  const isAdding = useSignal(false)
  const ids = wanted()
  const key = ids.join(',')
  // Before anything is painted, so that nothing moves.
  useLayoutEffect(() => followAddress(key === '' ? [] : key.split(',')), [key])
  useEffect(() => {
    arePhonesShown.value = true
    for (const phone of phones.peek().values()) phone.look()
    return () => {
      arePhonesShown.value = false
    }
  }, [])
  const remove = (id: string) => setQuery({ phones: ids.filter((one) => one !== id).join(',') || '-' })
  return (
    <div class="desk">
      <Heading class="unseen">Phones</Heading>
      <BusinessPanel phones={[...phones.value.values()]} />
      <section class="phones" aria-label="The users' phones">
        {[...phones.value].map(([id, phone]) => (
          <PhoneView key={id} phone={phone} onRemove={() => remove(id)} />
        ))}
        <div class="add-phone">
          <IconButton
            icon="plus"
            label="Add a phone"
            onClick={() => {
              isAdding.value = true
            }}
          />
        </div>
      </section>
      {isAdding.value && (
        <AddPhone
          onAdd={(id) => setQuery({ phones: [...new Set([...ids, id])].join(',') })}
          onClose={() => {
            isAdding.value = false
          }}
        />
      )}
    </div>
  )
}

function AddPhone({ onAdd, onClose }: { readonly onAdd: (id: string) => void; readonly onClose: () => void }) {
  const number = useSignal('')
  const name = useSignal('')
  const digits = number.value.replaceAll(/\D/g, '')
  return (
    <Dialog title="Add a phone" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (digits === '') return
          const phone = new Phone(digits)
          const named = name.value.trim()
          void (named === '' ? Promise.resolve() : phone.set({ name: named })).then(() => {
            onAdd(digits)
            onClose()
          })
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
