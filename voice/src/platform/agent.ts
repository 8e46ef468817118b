import type { Switchboard } from '@switchboard/client'
import { CallSound } from '../media/call-sound.ts'
import type { IceServers } from '../media/ice-servers.ts'
import { chooseAddresses } from '../media/machine-addresses.ts'
import { checkRecordable, Recording } from '../sound/recording.ts'
import type { SoundSource } from '../sound/sources.ts'
import { AgentCall } from './agent-call.ts'
import { CallbackServer, type CallEvent, findOwnAddress } from './callback-server.ts'
import { explain, isTooLate } from './explain.ts'
import { nameRecording } from './recording-name.ts'
import type { OnVoiceEvent } from './voice-events.ts'

export interface AgentOptions {
  /** With a token of the business. */
  readonly client: Switchboard
  /** The address of the server. */
  readonly url: string
  /** The Phone-Number-ID whose calls it takes. */
  readonly number: string
  /** What the agent does, for its first event. */
  readonly mode: string
  /** What it says in a call; undefined: what it hears. */
  readonly makeSource: () => SoundSource | undefined
  /** Where what it hears is written. */
  readonly record?: string | undefined
  readonly addresses?: readonly string[] | undefined
  readonly iceServers?: IceServers | undefined
  /** The port of its callback; a free one when left out. */
  readonly port?: number | undefined
  /** Whether it takes calls of users. */
  readonly takesCalls: boolean
  readonly onEvent: OnVoiceEvent
}

/** How long an agent that ends waits for the ends of its calls and for their events, and then for its callback: whoever stops it waits for 2 s. */
const mostWaitForEndsMs = 700
const mostRestoreMs = 500

/** Of how many calls an agent knows that they are over. */
const mostOverCalls = 1000

/** A business's voice agent: it takes the calls of one number, and speaks in them. */
export class Agent {
  readonly #options: AgentOptions
  readonly #addresses: readonly string[]
  readonly #callbacks: CallbackServer
  readonly #calls = new Map<string, AgentCall>()
  /** Calls that are over: their events may come again, and in any order. */
  readonly #over = new Set<string>()
  #recordings = 0
  /** A call that is being made, whose id is not known yet. */
  #dialing: Promise<unknown> = Promise.resolve()
  #isClosing = false
  /** Resolves when the callback was given back by an agent that ends. */
  #restored: Promise<void> | undefined
  /** The address of its callback, once it listens. */
  #url = ''
  /** Events that came before the agent was ready, which is what it says first. */
  #early: CallEvent[] | undefined = []

  private constructor(options: AgentOptions, host: string) {
    this.#options = options
    this.#addresses = chooseAddresses(options.addresses)
    this.#callbacks = new CallbackServer(host, (event) => {
      if (this.#early) this.#early.push(event)
      else this.#handle(event)
    })
  }

  /** Takes the place of the callback of the number, until it is closed. */
  static async open(options: AgentOptions): Promise<Agent> {
    if (options.record !== undefined) checkRecordable(options.record)
    const { number, mode, port = 0, url: serverUrl } = options
    const host = await findOwnAddress(serverUrl)
    const client = await inVocabularyOfServer(options.client, number)
    const agent = new Agent({ ...options, client }, host)
    const url = await agent.#callbacks.listen(port)
    agent.#url = url
    try {
      await client.phoneNumbers.update(number, {
        webhook_configuration: {
          override_callback_uri: url,
          verify_token: agent.#callbacks.verifyToken,
          temporary: true,
        },
      })
    } catch (error) {
      await agent.#callbacks.close()
      throw error
    }
    options.onEvent({ event: 'ready', number, mode })
    const early = agent.#early ?? []
    agent.#early = undefined
    for (const event of early) agent.#handle(event)
    return agent
  }

  /** Calls a user; done when the platform has taken the call. */
  async call(user_wa_id: string): Promise<AgentCall> {
    const { client, number, onEvent } = this.#options
    const early: { call?: AgentCall } = {}
    const sound = this.#openSound(() => early.call)
    const dial = async (): Promise<AgentCall> => {
      const session = { sdp_type: 'offer' as const, sdp: await sound.offer() }
      const { calls } = await client.calls.connect(number, { to: user_wa_id, session })
      const id = calls[0]?.id ?? ''
      const call = new AgentCall(this.#options, id, sound)
      early.call = call
      this.#calls.set(id, call)
      onEvent({ event: 'call', call_id: id, direction: 'BUSINESS_INITIATED', user_wa_id })
      return call
    }
    const dialing = dial()
    this.#dialing = dialing.catch(() => undefined)
    try {
      return await dialing
    } catch (error) {
      await sound.close()
      throw error
    }
  }

  /** Ends all calls, and gives the callback back. */
  async close(): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    const waited = pause(mostWaitForEndsMs)
    const hungUp = this.#hangUp(waited)
    // The events of the ends are stored for this agent by now: they come whoever has the callback.
    this.#restored = hungUp.then(() => this.#restore())
    const calls = await hungUp
    await this.#restored
    await Promise.race([Promise.all(calls.map((call) => call.ended)), waited])
    await Promise.all(calls.map((call) => call.over()))
    await this.#callbacks.close()
  }

  /** Ends the calls that go on, and returns them. */
  async #hangUp(waited: Promise<void>): Promise<readonly AgentCall[]> {
    await Promise.race([this.#dialing, waited])
    const calls = [...this.#calls.values()]
    await Promise.race([Promise.all(calls.map((call) => call.hangUp('business'))), waited])
    return calls
  }

  async #restore(): Promise<void> {
    const { client, number, onEvent } = this.#options
    const late = pause(mostRestoreMs).then(() => {
      throw new Error('the server did not answer in time')
    })
    try {
      await Promise.race([restoreCallback(client, number, this.#url), late])
    } catch (error) {
      onEvent({
        event: 'error',
        message: `the callback of ${number} is still that of this agent, because ${explain(error)}: put it back by agent --restore --number ${number}`,
      })
    }
  }

  #handle(event: CallEvent): void {
    this.#onCallEvent(event).catch((error) => {
      this.#options.onEvent({ event: 'error', call_id: event.id, message: explain(error) })
    })
  }

  async #onCallEvent(event: CallEvent): Promise<void> {
    await this.#dialing
    const call = this.#calls.get(event.id)
    if (event.event === 'terminate') this.#forget(event.id)
    if (call) return this.#continue(call, event)
    if (this.#over.has(event.id)) return
    const isNew = event.event === 'connect' && event.direction === 'USER_INITIATED'
    if (isNew && event.sdp !== undefined && this.#options.takesCalls && !this.#isClosing)
      await this.#take(event, event.sdp)
  }

  async #continue(call: AgentCall, event: CallEvent): Promise<void> {
    if (event.event === 'terminate') {
      // To measure what was heard keeps the process busy: whoever stops an agent waits for its callback.
      await this.#restored
      return event.status === 'COMPLETED' ? call.completed() : call.over()
    }
    try {
      // The offer of a user may come twice; what the phone of a user answers is taken once.
      if (event.event === 'connect' && event.direction === 'BUSINESS_INITIATED' && event.sdp !== undefined)
        await call.takeAnswer(event.sdp)
    } catch (error) {
      this.#options.onEvent({ event: 'error', call_id: call.id, message: explain(error) })
      await call.hangUp('lost')
    }
    if (event.status === 'ACCEPTED') call.accepted()
  }

  #forget(id: string): void {
    this.#calls.delete(id)
    this.#over.add(id)
    for (const oldest of this.#over) {
      if (this.#over.size <= mostOverCalls) break
      this.#over.delete(oldest)
    }
  }

  async #take({ id, from }: CallEvent, offer: string): Promise<void> {
    const { client, number, onEvent } = this.#options
    onEvent({ event: 'call', call_id: id, direction: 'USER_INITIATED', user_wa_id: from })
    let sound: CallSound
    try {
      sound = this.#openSound(() => this.#calls.get(id))
    } catch (error) {
      // Such as a recording whose folder is gone: the user is not left waiting.
      onEvent({ event: 'error', call_id: id, message: explain(error) })
      this.#forget(id)
      await client.calls.reject(number, { call_id: id })
      return
    }
    const call = new AgentCall(this.#options, id, sound)
    this.#calls.set(id, call)
    try {
      await call.take(offer)
    } catch (error) {
      // Where one of the two has hung up meanwhile, nothing went wrong.
      if (call.isEnding) return
      if (!isTooLate(error)) onEvent({ event: 'error', call_id: id, message: explain(error) })
      this.#forget(id)
      await call.decline().catch((refused) => onEvent({ event: 'error', call_id: id, message: explain(refused) }))
    }
  }

  #openRecording(path: string, callOf: () => AgentCall | undefined): Recording {
    return new Recording(nameRecording(path, ++this.#recordings), (message) => {
      const call = callOf()
      this.#options.onEvent({ event: 'error', ...(call && { call_id: call.id }), message })
    })
  }

  #openSound(callOf: () => AgentCall | undefined): CallSound {
    const { record, iceServers = [], makeSource, onEvent } = this.#options
    const startedAt = performance.now()
    return new CallSound({
      addresses: this.#addresses,
      iceServers,
      source: makeSource(),
      recording: record === undefined ? undefined : this.#openRecording(record, callOf),
      onConnected: () => {
        const ms = Math.round(performance.now() - startedAt)
        onEvent({ event: 'connected', call_id: callOf()?.id ?? '', ms })
      },
      onKey: (key) => onEvent({ event: 'dtmf', call_id: callOf()?.id ?? '', key }),
      onLost: () => callOf()?.lost(),
    })
  }
}

/** Gives the callback of a number back, from an agent that runs or was killed; with a URL only where it is still there. */
export async function restoreCallback(client: Switchboard, number: string, only_if?: string): Promise<void> {
  const webhook_configuration = {
    override_callback_uri: '',
    temporary: true,
    ...(only_if !== undefined && { only_if }),
  }
  await client.phoneNumbers.update(number, { webhook_configuration })
}

/** A client whose requests have the names that the server takes, whichever its operator has chosen. */
async function inVocabularyOfServer(client: Switchboard, number: string): Promise<Switchboard> {
  // Whoever may change a number's callback may read this record, which every number has, and which tells the vocabulary.
  const { data } = await client.compliance.retrieve(number, { fields: 'messaging_product' })
  return client.withOptions({ vocabulary: data[0]?.messaging_product ?? client.vocabulary })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
