import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Switchboard } from '@switchboard/client'
import type { IceServers } from '../media/ice-servers.ts'
import { isKey } from '../media/keys.ts'
import { chooseAddresses } from '../media/machine-addresses.ts'
import { Recording } from '../sound/recording.ts'
import { sampleRate } from '../sound/samples.ts'
import { readSoundFile } from '../sound/sound-file.ts'
import { makeSilence, playRound } from '../sound/sources.ts'
import { VoiceError } from '../voice-error.ts'
import { UserCall, type UserCallResult } from './user-call.ts'
import type { OnVoiceEvent } from './voice-events.ts'

/** What a user does in a call. */
export interface CallRequest {
  /** A call to a number of a business, or the call of a business that the user takes. */
  readonly with:
    | { readonly to: string; readonly from: string; readonly name?: string | undefined }
    | { readonly answer: string }
  /** A sound file, played round and round; silence when left out. */
  readonly audio?: string | undefined
  /** Where what is heard is written, as Ogg Opus. */
  readonly record?: string | undefined
  /** Keys to press, half a second after the connection. */
  readonly dtmf?: string | undefined
  /** The share of the packets that is left out, in percent. */
  readonly loss?: number | undefined
  /** How long the user stays, from the connection on, in milliseconds; the length of the sound file, or 5 s, when left out. */
  readonly durationMs?: number | undefined
  readonly addresses?: readonly string[] | undefined
  readonly iceServers?: IceServers | undefined
  /** Resolves when the user is to hang up at once. */
  readonly stopped?: Promise<void> | undefined
}

const usualMs = 5000
const beforeKeysMs = 500

/** Makes or takes a call as a user's phone without a browser, and resolves when it is over. */
export async function callWithSound(
  client: Switchboard,
  request: CallRequest,
  onEvent: OnVoiceEvent = () => undefined,
): Promise<UserCallResult> {
  const { audio, record, dtmf = '', loss = 0 } = request
  checkRequest(dtmf, loss)
  if (audio !== undefined && record !== undefined && resolve(audio) === resolve(record)) {
    throw new VoiceError(`${record} is what is played: record to another file`)
  }
  const addresses = chooseAddresses(request.addresses)
  const sound = audio === undefined ? undefined : await readSoundFile(audio)
  const durationMs = request.durationMs ?? (sound ? (sound.length / sampleRate) * 1000 : usualMs)
  // Before the call begins, so that none of its changes is missed.
  const stream = client.gateway.stream('from' in request.with ? { user_wa_id: request.with.from } : {})
  try {
    await stream.opened
    const options = {
      client,
      addresses,
      iceServers: request.iceServers ?? [],
      source: sound ? playRound(sound) : makeSilence(),
      recording:
        record === undefined ? undefined : new Recording(record, (message) => onEvent({ event: 'error', message })),
      loss,
      onEvent,
    }
    const call =
      'answer' in request.with
        ? await UserCall.answer(options, request.with.answer)
        : await UserCall.start(options, request.with)
    // Without the stream a call ends by its own checks; that the server refused the stream is reported in the end.
    const following = follow(stream, call)
    following.catch(() => undefined)
    void request.stopped?.then(() => call.hangUp())
    const isConnected = await Promise.race([call.connected.then(() => true), call.result.then(() => false)])
    if (isConnected) await stay(call, dtmf, durationMs)
    const result = await call.result
    stream.close()
    await following
    return result
  } finally {
    stream.close()
  }
}

function checkRequest(dtmf: string, loss: number): void {
  const wrong = [...dtmf].find((key) => !isKey(key))
  if (wrong !== undefined) throw new VoiceError(`${wrong} is no key of a phone: there are 0 to 9, *, # and A to D`)
  if (!(loss >= 0 && loss <= 100))
    throw new VoiceError(`a loss of ${loss} is no share: give a percentage from 0 to 100`)
}

/** Has the call read again at each of its changes, and whenever some may have been missed. */
async function follow(stream: ReturnType<Switchboard['gateway']['stream']>, call: UserCall): Promise<void> {
  for await (const { event, data } of stream) {
    if (event === 'reset' || (event === 'call' && data.id === call.id)) call.refresh()
  }
}

/** The longest that a timer can be: 24 days. */
const longestTimerMs = 2 ** 31 - 1

/** Says what there is to say, and hangs up; nothing is waited for when the call is over. */
async function stay(call: UserCall, dtmf: string, durationMs: number): Promise<void> {
  const over = new AbortController()
  void call.result.then(() => over.abort())
  const wait = (ms: number) =>
    pause(Math.min(Math.max(0, ms), longestTimerMs), undefined, { signal: over.signal }).catch(() => undefined)
  const began = performance.now()
  if (dtmf !== '') {
    await wait(beforeKeysMs)
    await call.press(dtmf)
  }
  await wait(began + durationMs - performance.now())
  await call.hangUp()
}
