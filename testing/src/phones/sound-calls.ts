import type { Switchboard } from '@switchboard/client'
import type { Abandoned } from '../waits/mailbox.ts'
import { readDuration } from './duration.ts'
import type { SoundCallRequest, SoundCallResult } from './sound-call.ts'
import type { callWithSound } from './voice-package.ts'

interface SoundCallContext {
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
      const makeCall = await loadVoice()
      const sound = { audio, record, dtmf, loss, durationMs, addresses, stopped }
      const result = await makeCall(client, { with: { to, from }, ...sound })
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

async function loadVoice(): Promise<typeof callWithSound> {
  try {
    return (await import('@switchboard/voice')).callWithSound
  } catch (error) {
    // By `import`, by `require`, and in Jest, whose errors are of another realm and have no class of this one.
    if (!/^Cannot find (?:package|module) '@switchboard\/voice'/.test((error as Error).message)) throw error
    const why = 'calls with sound need the package @switchboard/voice, which is not installed'
    throw new Error(`${why}:\n\n  npm i -D @switchboard/voice\n`, { cause: error })
  }
}
