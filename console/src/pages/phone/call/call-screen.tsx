import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { nameNumber } from '../../../data/directory.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import type { PhoneCall } from '../../../data/phone/phone-store.ts'
import { isOpen, type ShownCall } from '../../../data/phone/shown-call.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Icon } from '../../../ui/icons.tsx'
import { Code } from '../../../ui/parts.tsx'
import { writeLength } from '../../../ui/times.ts'
import { Avatar } from '../avatar.tsx'
import { CallAudio, CallSound } from './call-sound.tsx'
import { acceptCall, endCall, findMedia, wasHere } from './calls-here.ts'
import './call.css'

const words: Readonly<Record<string, string>> = {
  completed: 'Call ended',
  rejected: 'Declined',
  failed: 'Call ended before it was answered',
  timed_out: 'Nobody answered',
}

/** A call over the whole screen of a phone: it rings, is taken or declined, and ends. */
export function CallScreen({ phone, shown }: { readonly phone: Phone; readonly shown: PhoneCall }) {
  const { call } = shown
  const media = findMedia(phone, call)
  const name = nameNumber(call.phone_number_id)
  const isAccepted = call.state === 'accepted'
  const isAsking = media?.isAsking.value === true
  const problem = media?.problem.value ?? phone.store.problem.value
  const section = useRef<HTMLElement>(null)
  const stateBefore = useRef(call.state)
  // The button that was pressed has gone with the state in which it could be.
  useLayoutEffect(() => {
    const isChanged = call.state !== stateBefore.current
    stateBefore.current = call.state
    if (isChanged && document.activeElement === document.body) section.current?.focus({ preventScroll: true })
  }, [call.state])
  return (
    <section
      class={`call-screen ${rings(call) ? 'rings' : ''}`}
      aria-label={`Call with ${name}`}
      tabIndex={-1}
      ref={section}
    >
      <Avatar name={name} />
      <h3 dir="auto" title={name}>
        {name}
      </h3>
      <p role="status">{isAccepted ? <Length since={shown.since} /> : isAsking ? asking : describe(call)}</p>
      {problem !== undefined && (
        <p class="call-problem" role="alert">
          {problem}
        </p>
      )}
      {media ? <CallAudio media={media} /> : hasSoundElsewhere(call) && <Elsewhere phone={phone} call={call} />}
      {isAccepted && media?.hasSound.value && <CallSound media={media} />}
      <Choices phone={phone} call={call} isBusy={media !== undefined && !media.isSuspended.value} isAsking={isAsking} />
      <Descriptions call={call} />
    </section>
  )
}

const asking = 'waiting for the microphone…'

function rings({ direction, state }: ShownCall): boolean {
  return direction === 'BUSINESS_INITIATED' && (state === 'initiated' || state === 'ringing')
}

function describe({ state, ending, direction }: ShownCall): string {
  if (state === 'ended') return words[ending ?? ''] ?? 'Call ended'
  if (direction === 'BUSINESS_INITIATED') return 'is calling…'
  return state === 'ringing' ? 'rings…' : 'calling…'
}

/** Whether the call has sound by now, or will have: one that rings may still be taken here. */
function hasSoundElsewhere(call: ShownCall): boolean {
  return isOpen(call) && !rings(call)
}

function Elsewhere({ phone, call }: { readonly phone: Phone; readonly call: ShownCall }) {
  const verb = call.direction === 'USER_INITIATED' ? 'made' : 'taken'
  return (
    <p class="call-hint">
      {wasHere(phone, call)
        ? 'The sound of this call is gone: it ended with the page that had it. End the call, and make a new one.'
        : `This call was ${verb} elsewhere, and its sound is there.`}
    </p>
  )
}

function Length({ since }: { readonly since: number }) {
  const seconds = useSignal(0)
  useEffect(() => {
    const timer = setInterval(() => {
      seconds.value = Math.floor((Date.now() - since) / 1000)
    }, 500)
    return () => clearInterval(timer)
  }, [since, seconds])
  // Not read aloud every second, although it stands in a status.
  return <span role="timer">{writeLength(seconds.value)}</span>
}

interface ChoicesProps {
  readonly phone: Phone
  readonly call: ShownCall
  /** Whether it is being taken already. */
  readonly isBusy: boolean
  /** Whether the browser is asking for the microphone. */
  readonly isAsking: boolean
}

function Choices({ phone, call, isBusy, isAsking }: ChoicesProps) {
  // With a key each, so that no button becomes another one under the finger that has pressed it.
  if (!isOpen(call)) {
    return (
      <div class="call-tools" key="over">
        <button type="button" onClick={() => phone.calls.close()}>
          <Icon name="close" />
          Close
        </button>
      </div>
    )
  }
  if (!rings(call)) {
    // A call that is on its way to the service has no id to end it by; it has one a moment later.
    const isOnItsWay = call.id === undefined && isBusy && !isAsking
    return (
      <div class="call-tools" key="goes-on">
        <button type="button" class="decline" disabled={isOnItsWay} onClick={() => void endCall(phone)}>
          <Icon name="hangup" />
          End
        </button>
      </div>
    )
  }
  return (
    <div class="call-tools" key="rings">
      <button type="button" class="decline" onClick={() => void phone.calls.decline()}>
        <Icon name="hangup" />
        Decline
      </button>
      <button type="button" class="accept" disabled={isBusy} onClick={() => void acceptCall(phone, call)}>
        <Icon name="calls" />
        Accept
      </button>
    </div>
  )
}

function Descriptions({ call: { sdp } }: { readonly call: ShownCall }) {
  const isOpened = useSignal(false)
  return (
    <>
      <button
        type="button"
        class="small"
        onClick={() => {
          isOpened.value = true
        }}
      >
        Both descriptions
      </button>
      {isOpened.value && (
        <Dialog
          wide
          title="Session descriptions of both sides"
          onClose={() => {
            isOpened.value = false
          }}
        >
          <div class="two">
            <Code label="Business" text={sdp.business ?? 'Nothing yet'} />
            <Code label="Phone" text={sdp.user ?? 'Nothing yet'} />
          </div>
        </Dialog>
      )}
    </>
  )
}
