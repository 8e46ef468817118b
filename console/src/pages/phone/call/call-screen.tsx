import { useSignal } from '@preact/signals'
import { gatewayCallsStart } from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import { nameNumber } from '../../../data/directory.ts'
import { client } from '../../../data/http.ts'
import type { ChatKey } from '../../../data/phone/chat-key.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import type { PhoneCall } from '../../../data/phone/phone-store.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Icon } from '../../../ui/icons.tsx'
import { Code } from '../../../ui/parts.tsx'
import { writeLength } from '../../../ui/times.ts'
import { Avatar } from '../avatar.tsx'
import { type CallMedia, openCallMedia } from './call-media.ts'
import { CallSound } from './call-sound.tsx'
import './call.css'

/** The media of the call that a phone has. */
const medias = new WeakMap<Phone, CallMedia>()

function mediaOf(phone: Phone): CallMedia {
  const media = medias.get(phone) ?? openCallMedia()
  medias.set(phone, media)
  return media
}

function closeMedia(phone: Phone): void {
  medias.get(phone)?.close()
  medias.delete(phone)
}

/** Lets the user of a phone call a business; with a message whose button was pressed, if it was. */
export async function startCall(phone: Phone, key: ChatKey, message_id?: string): Promise<void> {
  await phone.store.attempt(async () => {
    const session = await mediaOf(phone).offer()
    const { phone_number_id } = key
    const params = { phone_number_id, from: phone.wa_id, session, ...(message_id !== undefined && { message_id }) }
    const { call_id } = await gatewayCallsStart(client, params)
    await phone.calls.read(call_id)
  })
}

const words: Readonly<Record<string, string>> = {
  completed: 'Call ended',
  rejected: 'Declined',
  failed: 'Call ended before it was answered',
  timed_out: 'Nobody answered',
}

/** A call over the whole screen of a phone: it rings, is taken or declined, and ends. */
export function CallScreen({ phone, shown }: { readonly phone: Phone; readonly shown: PhoneCall }) {
  const { call, since } = shown
  const showsSessions = useSignal(false)
  const seconds = useSignal(0)
  const isOn = call.state === 'accepted'
  useEffect(() => {
    if (!isOn) return undefined
    const timer = setInterval(() => {
      seconds.value = Math.floor((Date.now() - since) / 1000)
    }, 500)
    return () => clearInterval(timer)
  }, [isOn, since, seconds])
  const isOver = call.state === 'ended'
  useEffect(() => {
    if (isOver) closeMedia(phone)
  }, [isOver, phone])
  const name = nameNumber(call.phone_number_id)
  const isIncoming = call.direction === 'BUSINESS_INITIATED'
  const rings = isIncoming && (call.state === 'initiated' || call.state === 'ringing')
  return (
    <section class={`call-screen ${rings ? 'rings' : ''}`} aria-label={`Call with ${name}`}>
      <Avatar name={name} />
      <h3 dir="auto">{name}</h3>
      <p role="status">
        {isOver && (words[call.ending ?? ''] ?? 'Call ended')}
        {isOn && writeLength(seconds.value)}
        {!isOver && !isOn && (isIncoming ? 'is calling…' : call.state === 'ringing' ? 'rings…' : 'calling…')}
      </p>
      {isOn && <CallSound media={mediaOf(phone)} />}
      <div class="call-tools">
        {rings && (
          <>
            <button type="button" class="decline" onClick={() => void phone.calls.act('reject')}>
              <Icon name="hangup" />
              Decline
            </button>
            <button type="button" class="accept" onClick={() => void accept(phone, shown)}>
              <Icon name="calls" />
              Accept
            </button>
          </>
        )}
        {!isOver && !rings && (
          <button type="button" class="decline" onClick={() => void phone.calls.act('terminate')}>
            <Icon name="hangup" />
            End
          </button>
        )}
        {isOver && (
          <button
            type="button"
            onClick={() => {
              phone.store.call.value = undefined
            }}
          >
            <Icon name="close" />
            Close
          </button>
        )}
      </div>
      <button
        type="button"
        class="small"
        onClick={() => {
          showsSessions.value = true
        }}
      >
        Both descriptions
      </button>
      {showsSessions.value && (
        <Dialog
          wide
          title="Session descriptions of both sides"
          onClose={() => {
            showsSessions.value = false
          }}
        >
          <div class="two">
            <Code label="Business" text={call.sdp.business ?? 'Nothing yet'} />
            <Code label="Phone" text={call.sdp.user ?? 'Nothing yet'} />
          </div>
        </Dialog>
      )}
    </section>
  )
}

async function accept(phone: Phone, { call }: PhoneCall): Promise<void> {
  await phone.store.attempt(async () => {
    const session = await mediaOf(phone).answer(call.sdp.business)
    await phone.calls.act('accept', session)
  })
}
