import { effect, type ReadonlySignal, signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { Phone } from '../../data/phone/phone.ts'
import { isPhonePageOpen } from '../../data/phone/read-marks.ts'
import { place, setQuery } from '../../router.ts'
import { Heading, IconButton } from '../../ui/parts.tsx'
import { AddPhone } from './add-phone.tsx'
import { findKey, readChats, readPhones, writeChats } from './address.ts'
import { BusinessPanel } from './business/panel.tsx'
import { leaveCall } from './call/calls-here.ts'
import { PhoneView } from './phone-view.tsx'
import './page.css'

/** The phones whose chat is still to be opened, because their chats are not known yet. */
const opening = signal<ReadonlySet<string>>(new Set())
const phones = signal<ReadonlyMap<string, Phone>>(new Map())

/** Starts the phones that the address names, and stops the others. */
function followAddress(ids: readonly string[]): void {
  const open = readChats(place.peek().query)
  const next = new Map<string, Phone>()
  for (const id of ids) next.set(id, phones.peek().get(id) ?? startPhone(id, open.get(id)))
  for (const [id, phone] of phones.peek()) {
    if (next.has(id)) continue
    leaveCall(phone)
    phone.stop()
  }
  phones.value = next
}

/** Starts a phone, and opens the chat that the address names as soon as its chats are known. */
function startPhone(id: string, wanted: string | undefined): Phone {
  const phone = new Phone(id)
  phone.start()
  if (wanted !== undefined) void openWanted(phone, wanted)
  return phone
}

async function openWanted(phone: Phone, wanted: string): Promise<void> {
  opening.value = new Set(opening.peek()).add(phone.wa_id)
  await whenTrue(phone.store.areChatsRead)
  if (!phone.store.chat.peek()) void phone.openChat(findKey(phone.store.chats.peek(), wanted))
  opening.value = new Set([...opening.peek()].filter((id) => id !== phone.wa_id))
}

function whenTrue(is: ReadonlySignal<boolean>): Promise<void> {
  return new Promise((resolve) => {
    const stop = is.subscribe((value) => {
      if (!value) return
      resolve()
      queueMicrotask(() => stop())
    })
  })
}

/** Keeps the open chats in the address, once the chats that it named are open. */
function keepChats(): void {
  const all = [...phones.value.values()]
  if (all.some(({ wa_id }) => opening.value.has(wa_id))) return
  const chats = writeChats(all.map(({ wa_id, store }) => [wa_id, store.chat.value?.key]))
  if ((place.peek().query.get('chats') ?? '') !== chats) setQuery({ chats })
}

export function PhonePage() {
  const isAdding = useSignal(false)
  const ids = readPhones(place.value.query)
  const key = ids.join(',')
  // Before anything is painted, so that nothing moves.
  useLayoutEffect(() => followAddress(key === '' ? [] : key.split(',')), [key])
  useEffect(() => {
    isPhonePageOpen.value = true
    const stop = effect(keepChats)
    return () => {
      stop()
      isPhonePageOpen.value = false
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
