import type { GatewayCallsRetrieveResponse, Switchboard } from '@switchboard/client'
import { CallSound, type CallSummary } from '../media/call-sound.ts'
import type { IceServers } from '../media/ice-servers.ts'
import type { Recording } from '../sound/recording.ts'
import type { SoundSource } from '../sound/sources.ts'
import { VoiceError } from '../voice-error.ts'
import { explain, isTooLate } from './explain.ts'
import type { EndedBy, OnVoiceEvent } from './voice-events.ts'

export interface UserCallOptions {
  /** With a token of the gateway. */
  readonly client: Switchboard
  readonly addresses: readonly string[]
  readonly iceServers: IceServers
  /** What the user says; undefined: what the user hears. */
  readonly source: SoundSource | undefined
  readonly recording?: Recording | undefined
  readonly loss?: number | undefined
  readonly onEvent: OnVoiceEvent
}

/** How a call of a user's phone went. */
export interface UserCallResult extends CallSummary {
  readonly call_id: string
  readonly by: EndedBy
  /** Whether the two could hear each other; otherwise why not. */
  readonly connected: boolean
  readonly problem?: string
}

/** How long media may take to connect, once the call was taken. */
const connectMs = 15_000
const checkMs = 250
/** How long a phone waits for the end of a call whose connection is gone: the business may just have hung up. */
const graceMs = 2000

/** A call at a user's phone without a browser, of either direction. */
export class UserCall {
  readonly #options: UserCallOptions
  readonly #sound: CallSound
  readonly #startedAt = performance.now()
  readonly #result: Promise<UserCallResult>
  /** Resolves once both sides can hear each other; never, when the call ends before. */
  readonly connected: Promise<void>
  #resolveResult = (_: UserCallResult): void => undefined
  #resolveConnected = (): void => undefined
  #id = ''
  #call: GatewayCallsRetrieveResponse | undefined
  #hasAnswer = false
  #acceptedAt: number | undefined
  #lostAt: number | undefined
  #by: EndedBy = 'business'
  #problem: string | undefined
  #isEnding = false
  #isOver = false
  #timer: NodeJS.Timeout | undefined
  /** What the events of the call set off, one after the other. */
  #work: Promise<void> = Promise.resolve()

  private constructor(options: UserCallOptions) {
    this.#options = options
    this.#result = new Promise((resolve) => {
      this.#resolveResult = resolve
    })
    this.connected = new Promise((resolve) => {
      this.#resolveConnected = resolve
    })
    this.#sound = new CallSound({
      ...options,
      onConnected: () => this.#onConnected(),
      onKey: (key) => options.onEvent({ event: 'dtmf', call_id: this.#id, key }),
      onLost: () => {
        this.#lostAt ??= performance.now()
      },
    })
  }

  /** Calls a number of a business. */
  static async start(
    options: UserCallOptions,
    { to, from, name }: { to: string; from: string; name?: string | undefined },
  ): Promise<UserCall> {
    const call = new UserCall(options)
    try {
      const session = { sdp_type: 'offer' as const, sdp: await call.#sound.offer() }
      const params = { phone_number_id: to, from, session, ...(name !== undefined && { name }) }
      const { call_id } = await options.client.gateway.calls.start(params)
      call.#begin(call_id, 'USER_INITIATED', from)
      return call
    } catch (error) {
      await call.#sound.close()
      throw error
    }
  }

  /** Takes the call of a business. */
  static async answer(options: UserCallOptions, call_id: string): Promise<UserCall> {
    const { calls } = options.client.gateway
    const call = new UserCall(options)
    try {
      const found = await calls.retrieve(call_id)
      if (found.sdp.business === undefined) {
        throw new VoiceError(`the business made the call ${call_id} without a description, so it has no sound`)
      }
      call.#hasAnswer = true
      const session = { sdp_type: 'answer' as const, sdp: await call.#sound.answer(found.sdp.business) }
      await calls.accept(call_id, { session })
      call.#begin(call_id, 'BUSINESS_INITIATED', found.user_wa_id)
      return call
    } catch (error) {
      await call.#sound.close()
      throw error
    }
  }

  get id(): string {
    return this.#id
  }

  /** Resolves with how it went, when it is over. */
  get result(): Promise<UserCallResult> {
    return this.#result
  }

  /** Something has happened to the call: it is read again. */
  refresh(): void {
    this.#work = this.#work.then(async () => {
      if (this.#isOver) return
      try {
        await this.#read()
      } catch (error) {
        this.#options.onEvent({ event: 'error', call_id: this.#id, message: explain(error) })
      }
    })
  }

  /** Presses keys; done when they are sent. */
  press(keys: string): Promise<void> {
    return this.#sound.press(keys)
  }

  /** The user ends the call. */
  async hangUp(by: EndedBy = 'user', reason?: 'lost' | 'no_media'): Promise<void> {
    if (this.#isOver || this.#isEnding) return
    this.#isEnding = true
    this.#by = by
    try {
      await this.#options.client.gateway.calls.terminate(this.#id, reason === undefined ? {} : { reason })
    } catch (error) {
      if (isTooLate(error)) {
        this.#by = 'business'
        // It was the business's end that took the connection away.
        if (this.#lostAt !== undefined) this.#problem = undefined
      } else this.#options.onEvent({ event: 'error', call_id: this.#id, message: explain(error) })
    }
    await this.#over()
  }

  #begin(id: string, direction: 'USER_INITIATED' | 'BUSINESS_INITIATED', user_wa_id: string): void {
    this.#id = id
    this.#options.onEvent({ event: 'call', call_id: id, direction, user_wa_id })
    this.#timer = setInterval(() => void this.#check(), checkMs)
    this.refresh()
  }

  async #read(): Promise<void> {
    const call = await this.#options.client.gateway.calls.retrieve(this.#id)
    this.#call = call
    const isOver = call.state === 'ended'
    if (call.sdp.business !== undefined && !this.#hasAnswer && !isOver) {
      this.#hasAnswer = true
      try {
        await this.#sound.takeAnswer(call.sdp.business)
      } catch (error) {
        this.#problem = `the description of the business cannot be used (${explain(error)})`
        return this.hangUp('lost', 'lost')
      }
    }
    // Of a call that was taken and ended at once, only the end may be seen.
    const wasTaken = call.state === 'accepted' || call.ending === 'completed'
    if (wasTaken && this.#acceptedAt === undefined) {
      this.#acceptedAt = performance.now()
      this.#sound.speak()
      if (this.#sound.isConnected) this.#resolveConnected()
    }
    // Where this side is ending it, that says by whom, and why.
    if (!isOver || this.#isEnding) return
    if (this.#acceptedAt === undefined) this.#problem ??= endings[call.ending ?? 'failed']
    await this.#over()
  }

  #onConnected(): void {
    const ms = Math.round(performance.now() - this.#startedAt)
    this.#options.onEvent({ event: 'connected', call_id: this.#id, ms })
    if (this.#acceptedAt !== undefined) this.#resolveConnected()
  }

  /** What a phone ends a call for by itself. */
  async #check(): Promise<void> {
    const now = performance.now()
    if (this.#lostAt !== undefined && now - this.#lostAt > graceMs) {
      this.#problem = this.#sound.isConnected
        ? 'the connection to the business was lost'
        : 'no connection to the business came about'
      return this.hangUp('lost', 'lost')
    }
    if (this.#acceptedAt === undefined) return
    if (!this.#sound.isConnected && now - this.#acceptedAt > connectMs) {
      this.#problem = `the business took the call, and no connection came about within ${connectMs / 1000} s`
      return this.hangUp('lost', 'lost')
    }
    const seconds = this.#call?.media_timeout
    if (seconds !== undefined && this.#sound.silentSince(this.#acceptedAt) > seconds * 1000) {
      this.#problem = `no sound came from the business for ${seconds} s`
      return this.hangUp('lost', 'no_media')
    }
  }

  async #over(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#timer)
    const connected = this.#sound.isConnected && this.#acceptedAt !== undefined
    const summary = await this.#sound.close()
    const problem = this.#problem ?? (connected ? undefined : 'the call ended before it was connected')
    this.#options.onEvent({ event: 'ended', call_id: this.#id, by: this.#by, ...summary })
    this.#resolveResult({
      ...summary,
      call_id: this.#id,
      by: this.#by,
      connected,
      ...(problem !== undefined && { problem }),
    })
  }
}

const endings = {
  completed: 'the call ended before it was connected',
  rejected: 'the business declined the call',
  failed: 'the call ended before it was answered',
  timed_out: 'the business did not answer in time',
}
