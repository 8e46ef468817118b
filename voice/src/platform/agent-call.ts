import type { Switchboard } from '@switchboard/client'
import type { CallSound } from '../media/call-sound.ts'
import { explain, isTooLate } from './explain.ts'
import type { EndedBy, OnVoiceEvent } from './voice-events.ts'

/** How long an agent waits for the event of an end when the connection is gone: the user may just have hung up. */
const graceMs = 3000

/** How long an agent stays in a call that was taken and has no connection. */
const connectMs = 15_000

/** What a call knows of its agent. */
export interface AgentSide {
  readonly client: Switchboard
  readonly number: string
  readonly onEvent: OnVoiceEvent
}

/** One call of a voice agent, of either direction. */
export class AgentCall {
  readonly id: string
  /** Resolves when the call is over. */
  readonly ended: Promise<void>
  readonly #agent: AgentSide
  readonly #sound: CallSound
  #timer: NodeJS.Timeout | undefined
  #connecting: NodeJS.Timeout | undefined
  #by: EndedBy = 'user'
  #isAccepted = false
  #hasAnswer = false
  #isEnding = false
  #isOver = false
  #resolveEnded = (): void => undefined

  constructor(agent: AgentSide, id: string, sound: CallSound) {
    this.#agent = agent
    this.id = id
    this.#sound = sound
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
  }

  /** Whether this side has hung up, or the call is over. */
  get isEnding(): boolean {
    return this.#isEnding || this.#isOver
  }

  get isAccepted(): boolean {
    return this.#isAccepted
  }

  /** Takes the call of a user: its media first, then the call itself, with the same description. */
  async take(offer: string): Promise<void> {
    const { client, number } = this.#agent
    const session = { sdp_type: 'answer' as const, sdp: await this.#sound.answer(offer) }
    if (this.isEnding) return
    await client.calls.preAccept(number, { call_id: this.id, session })
    if (this.isEnding) return
    await client.calls.accept(number, { call_id: this.id, session })
    this.accepted()
  }

  /** The call was taken: from now on the agent may be heard. */
  accepted(): void {
    this.#isAccepted = true
    if (this.#isOver) return
    this.#sound.speak()
    this.#connecting ??= setTimeout(() => this.#giveUp(), connectMs)
  }

  #giveUp(): void {
    if (this.#sound.isConnected || this.isEnding) return
    const message = `no connection to the phone within ${connectMs / 1000} s`
    this.#agent.onEvent({ event: 'error', call_id: this.id, message })
    void this.hangUp('lost')
  }

  async takeAnswer(sdp: string): Promise<void> {
    if (this.#isOver || this.#hasAnswer) return
    this.#hasAnswer = true
    await this.#sound.takeAnswer(sdp)
  }

  /** The connection is gone. If the call still goes on, it is ended. */
  lost(): void {
    this.#timer ??= setTimeout(() => void this.hangUp('lost'), graceMs)
  }

  /** Ends the call. It is over when the platform says so; at once where that refuses. */
  async hangUp(by: EndedBy): Promise<void> {
    if (this.#isOver || this.#isEnding) return
    this.#isEnding = true
    this.#by = by
    const { client, number, onEvent } = this.#agent
    try {
      await client.calls.terminate(number, { call_id: this.id })
    } catch (error) {
      if (isTooLate(error)) this.#by = 'user'
      else onEvent({ event: 'error', call_id: this.id, message: explain(error) })
      await this.over()
    }
  }

  /** Declines a call that could not be taken; nothing where the user has hung up meanwhile. */
  async decline(): Promise<void> {
    if (this.#isOver) return
    this.#by = 'business'
    const { client, number } = this.#agent
    try {
      await client.calls.reject(number, { call_id: this.id })
    } catch (error) {
      if (!isTooLate(error)) throw error
      this.#by = 'user'
    } finally {
      await this.over()
    }
  }

  /** The platform says that the call is over, and was taken before: that event may have been lost. */
  async completed(): Promise<void> {
    this.#isAccepted = true
    await this.over()
  }

  /** The platform says that the call is over. */
  async over(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    clearTimeout(this.#connecting)
    this.#agent.onEvent({ event: 'ended', call_id: this.id, by: this.#by, ...(await this.#sound.close()) })
    this.#resolveEnded()
  }
}
