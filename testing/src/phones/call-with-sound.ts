import type { Switchboard } from '@switchboard/client'
import type { Abandoned } from '../waits/mailbox.ts'
import { readDuration } from './duration.ts'

/** A call with sound. One of `audio`, `record`, `dtmf`, `for` and `loss` is given: a call without any of them has no sound. */
export interface SoundCallRequest {
  /** The id of the phone number that is called; the world's first when left out. */
  readonly to?: string | undefined
  /** What the user says: the path of a file, Ogg Opus or WAV (PCM, 16 bit), which is played round and round. Silence when left out. */
  readonly audio?: string | undefined
  /** Where what the user hears is written, as Ogg Opus. */
  readonly record?: string | undefined
  /** Keys that the user presses, half a second after the connection: `'42#'`. */
  readonly dtmf?: string | undefined
  /** How long the user stays, from the connection on: `'5s'`, or milliseconds. The length of `audio`, or 5 s, when left out. */
  readonly for?: string | number | undefined
  /** The share of the user's packets that is lost, in percent. */
  readonly loss?: number | undefined
  /** The addresses of this machine that the call uses: 127.0.0.1 when the server is on it, otherwise all of them. */
  readonly addresses?: readonly string[] | undefined
}

/** How a call with sound went. */
export interface SoundCallResult {
  readonly call_id: string
  /** Who ended it; `lost` when its connection was lost. */
  readonly by: 'user' | 'business' | 'lost'
  readonly connected: boolean
  /** What went wrong after the connection. */
  readonly problem?: string
  readonly sent: { readonly packets: number }
  /** `hz` is the loudest frequency of the loudest second, null for silence; `level` is how loud that second is, in dBFS. */
  readonly heard: {
    readonly packets: number
    readonly lost: number
    readonly hz: number | null
    readonly level: number
  }
}

export interface SoundCallContext {
  readonly client: Switchboard
  /** The address of the server. */
  readonly url: string
  readonly from: string
}

interface OpenCall {
  readonly stop: () => void
  readonly abandoned: Abandoned
}

/** The calls with sound that a phone has under way. */
export class SoundCalls {
  #open: OpenCall[] = []

  /** Calls a number, and resolves when the call is over. */
  async call(context: SoundCallContext, to: string, request: SoundCallRequest): Promise<SoundCallResult> {
    const { client, url, from } = context
    const { audio, record, dtmf, loss, addresses = isLoopback(url) ? ['127.0.0.1'] : undefined } = request
    if ([audio, record, dtmf, loss, request.for].every((one) => one === undefined)) {
      throw new Error("a call with sound has one of audio, record, dtmf, for and loss, such as { for: '5s' }")
    }
    const durationMs = request.for === undefined ? undefined : readDuration('for', request.for)
    const { stack = '' } = new Error('wait')
    const what = `the call of ${from} to ${to}`
    let stop = () => {}
    const stopped = new Promise<void>((resolve) => {
      stop = resolve
    })
    const open = { stop, abandoned: { text: `${what} was not over when the test ended.`, stack } }
    this.#open.push(open)
    try {
      const { callWithSound } = await loadVoice()
      const sound = { audio, record, dtmf, loss, durationMs, addresses, stopped }
      const result = await callWithSound(client, { with: { to, from }, ...sound })
      if (!result.connected) throw new Error(`${what} was not connected: ${result.problem}`)
      return result
    } finally {
      this.#open = this.#open.filter((one) => one !== open)
    }
  }

  /** The user hangs up; gives what was under way. */
  abandon(): Abandoned[] {
    const calls = this.#open
    this.#open = []
    for (const { stop } of calls) stop()
    return calls.map(({ abandoned }) => abandoned)
  }
}

function isLoopback(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname)
}

async function loadVoice() {
  try {
    return await import('@switchboard/voice')
  } catch (error) {
    // By `import`, by `require`, and in Jest, whose own loader says so in words alone.
    if (!(error instanceof Error) || !/^Cannot find (?:package|module) '@switchboard\/voice'/.test(error.message)) {
      throw error
    }
    throw new Error(
      'calls with sound need the package @switchboard/voice, which is not installed:\n\n  npm i -D @switchboard/voice\n',
      {
        cause: error,
      },
    )
  }
}
