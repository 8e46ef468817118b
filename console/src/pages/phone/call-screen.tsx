import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { numbers } from '../../data/directory.ts'
import { ask } from '../../data/http.ts'
import type { ChatKey, Phone, PhoneCall } from '../../data/phones.ts'
import { Icon } from '../../ui/icons.tsx'
import { Code, Dialog } from '../../ui/parts.tsx'
import { writeLength } from './compose.tsx'
import { Avatar } from './phone-view.tsx'
import { describeSession } from './session.ts'

/** Lets the user of a phone call a business. */
export async function startCall(phone: Phone, key: ChatKey): Promise<void> {
  await phone.attempt(async () => {
    const { call_id } = await ask<{ call_id: string }>('POST', '/gateway/calls', {
      json: { phone_number_id: key.phone_number_id, from: phone.wa_id, session: describeSession('offer') },
    })
    await phone.readCall(call_id)
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
  const isMuted = useSignal(false)
  const showsKeys = useSignal(false)
  const keys = useSignal('')
  const seconds = useSignal(0)
  const isOn = call.state === 'accepted'
  useEffect(() => {
    if (!isOn) return undefined
    const timer = setInterval(() => {
      seconds.value = Math.floor((Date.now() - since) / 1000)
    }, 500)
    return () => clearInterval(timer)
  }, [isOn, since, seconds])
  const number = numbers.value.find(({ id }) => id === call.phone_number_id)
  const name = number?.verified_name || number?.display_phone_number || call.phone_number_id
  const isIncoming = call.direction === 'BUSINESS_INITIATED'
  const isOver = call.state === 'ended'
  const rings = isIncoming && (call.state === 'initiated' || call.state === 'ringing')
  return (
    <div class={`call ${rings ? 'rings' : ''}`} role="group" aria-label={`Call with ${name}`}>
      <Avatar name={name} />
      <h3>{name}</h3>
      <p role="status">
        {isOver && (words[call.ending ?? ''] ?? 'Call ended')}
        {isOn && writeLength(seconds.value)}
        {!isOver && !isOn && (isIncoming ? 'is calling…' : call.state === 'ringing' ? 'rings…' : 'calling…')}
      </p>
      {showsKeys.value && isOn && (
        <div class="keypad" role="group" aria-label="Keypad">
          <output>{keys.value}</output>
          {[...'123456789*0#'].map((key) => (
            <button
              type="button"
              key={key}
              onClick={() => {
                keys.value += key
              }}
            >
              {key}
            </button>
          ))}
        </div>
      )}
      <div class="call-tools">
        {rings && (
          <>
            <button type="button" class="decline" onClick={() => void phone.actOnCall('reject')}>
              <Icon name="hangup" />
              Decline
            </button>
            <button type="button" class="accept" onClick={() => void phone.actOnCall('accept', answerTo(shown))}>
              <Icon name="calls" />
              Accept
            </button>
          </>
        )}
        {isOn && (
          <>
            <button
              type="button"
              aria-pressed={isMuted.value}
              onClick={() => {
                isMuted.value = !isMuted.value
              }}
            >
              <Icon name="mic" />
              {isMuted.value ? 'Muted' : 'Mute'}
            </button>
            <button
              type="button"
              aria-pressed={showsKeys.value}
              onClick={() => {
                showsKeys.value = !showsKeys.value
              }}
            >
              <Icon name="keys" />
              Keypad
            </button>
          </>
        )}
        {!isOver && !rings && (
          <button type="button" class="decline" onClick={() => void phone.actOnCall('terminate')}>
            <Icon name="hangup" />
            End
          </button>
        )}
        {isOver && (
          <button
            type="button"
            onClick={() => {
              phone.call.value = undefined
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
    </div>
  )
}

/** An answer, where the business has offered something. */
function answerTo({ call }: PhoneCall): object | undefined {
  return call.sdp.business === undefined ? undefined : describeSession('answer')
}
