import { effect, type Signal, signal, untracked } from '@preact/signals'
import type { CallSession } from '@switchboard/client/methods'
import { session } from '../../../data/http.ts'
import type { ChatKey } from '../../../data/phone/chat-key.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { isDraft, isOpen, type ShownCall } from '../../../data/phone/shown-call.ts'
import { pageStreams } from '../../../data/stream.ts'
import { CallMedia } from './call-media.ts'

/** A call that was made or taken on this page: its sound is here. */
interface CallHere {
  readonly media: CallMedia
  /** Undefined until the service has given it one. */
  readonly id: Signal<string | undefined>
  readonly stop: () => void
}

const callsHere = new WeakMap<Phone, Signal<CallHere | undefined>>()

function hereOf(phone: Phone): Signal<CallHere | undefined> {
  const here = callsHere.get(phone) ?? signal(undefined)
  callsHere.set(phone, here)
  return here
}

/** The media of the call that a phone shows; undefined when it has none on this page. */
export function findMedia(phone: Phone, call: ShownCall): CallMedia | undefined {
  const here = hereOf(phone).value
  return here?.id.value === call.id ? here?.media : undefined
}

/** Whether this page had the sound of a call, before it was loaded again. */
export function wasHere(phone: Phone, call: ShownCall): boolean {
  return call.id !== undefined && sessionStorage.getItem(noteOf(phone)) === call.id
}

function noteOf({ wa_id }: Phone): string {
  return `switchboard-call-${wa_id}`
}

/** Lets the user of a phone call a business; by the button of a message, if it was pressed. */
export async function startCall(phone: Phone, key: ChatKey, message_id?: string): Promise<void> {
  const { store, calls } = phone
  if (isOpen(store.call.value?.call)) return
  calls.draft(key)
  const here = openHere(phone)
  const { media } = here
  const isMade = await store.attempt(async () => {
    const session = await unlessOver(media, media.offer())
    if (!session) return
    const id = await calls.make(key, session, message_id)
    here.id.value = id
    noteHere(phone, id)
    await calls.read(id)
    // The phone was removed meanwhile.
    if (media.isClosed && isOpen(store.call.value?.call)) await calls.end()
  })
  if (isMade) return
  leave(phone, here)
  calls.close()
}

/** Takes the call that rings. Without the microphone it is not taken, and goes on ringing. */
export async function acceptCall(phone: Phone, { id, sdp }: ShownCall): Promise<void> {
  if (id === undefined) return
  // What stood in the way before is asked for again.
  phone.store.problem.value = undefined
  const here = findSuspended(phone, id) ?? openHere(phone)
  const { media } = here
  here.id.value = id
  let session: CallSession | undefined
  const canAnswer = await phone.store.attempt(async () => {
    session = await unlessOver(media, media.answer(sdp.business))
  })
  if (media.isClosed) return
  if (canAnswer && (await phone.calls.accept(session))) noteHere(phone, id)
  else if (!media.suspend()) leave(phone, here)
}

/** What was begun with a call that could not be taken. */
function findSuspended(phone: Phone, id: string): CallHere | undefined {
  const here = hereOf(phone).peek()
  return here?.id.peek() === id && here.media.canResume ? here : undefined
}

/** A service that has not responded by then does not keep the microphone open. */
const endMilliseconds = 1000

/**
 * Ends the call; with a reason when the phone does so by itself. The microphone and the connection are closed after the response,
 * whatever it is: a business whose connection ends first cannot know who has hung up.
 */
export async function endCall(phone: Phone, reason?: 'no_media' | 'lost'): Promise<void> {
  const here = hereOf(phone).peek()
  if (isDraft(phone.store.call.peek()?.call)) phone.calls.giveUp()
  else await Promise.race([phone.calls.end(reason), new Promise((resolve) => setTimeout(resolve, endMilliseconds))])
  here?.stop()
}

/** What fails because the call is over needs no words. */
async function unlessOver<T>(media: CallMedia, work: Promise<T>): Promise<T | undefined> {
  try {
    const result = await work
    return media.isClosed ? undefined : result
  } catch (error) {
    if (media.isClosed) return undefined
    throw error
  }
}

/** Gives back the microphone, and closes the connection, if the phone has them. */
export function leaveCall(phone: Phone): void {
  const here = hereOf(phone).peek()
  if (here) leave(phone, here)
}

function leave(phone: Phone, here: CallHere): void {
  here.stop()
  const current = hereOf(phone)
  if (current.peek() === here) current.value = undefined
}

function noteHere(phone: Phone, id: string): void {
  sessionStorage.setItem(noteOf(phone), id)
}

function openHere(phone: Phone): CallHere {
  leaveCall(phone)
  const media = new CallMedia()
  const id = signal<string | undefined>(undefined)
  const stops: (() => void)[] = []
  const stop = () => {
    media.close()
    for (const one of stops.splice(0)) one()
  }
  const here = { media, id, stop }
  stops.push(
    // Nobody waits for a hang-up until the page is looked at again.
    pageStreams.hold(),
    effect(() => {
      const call = phone.store.call.value?.call
      if (call !== undefined && call.id !== id.value) return
      untracked(() => (isOpen(call) ? follow(media, call) : stop()))
    }),
    effect(() => {
      const reason = media.reasonToEnd.value
      if (reason) untracked(() => void endCall(phone, reason))
    }),
    // Without a session nobody hears of a hang-up, and nobody can end the call.
    effect(() => {
      if (session.value?.signed_in === false) untracked(() => leave(phone, here))
    }),
  )
  hereOf(phone).value = here
  return here
}

/** Does with the media what has become of the call. */
function follow(media: CallMedia, { direction, state, sdp, media_timeout }: ShownCall): void {
  if (direction === 'USER_INITIATED' && sdp.business !== undefined) void media.takeAnswer(sdp.business)
  if (state === 'accepted') media.accept(media_timeout)
}
