import type { GatewayCallsListItem, Switchboard } from '@switchboard/client'
import type { IceServers } from '../media/ice-servers.ts'
import { chooseAddresses } from '../media/machine-addresses.ts'
import { explain, isTooLate } from './explain.ts'
import { UserCall, type UserCallResult } from './user-call.ts'
import type { OnVoiceEvent } from './voice-events.ts'

export interface EdgeOptions {
  /** With a token of the gateway. */
  readonly client: Switchboard
  readonly addresses?: readonly string[] | undefined
  readonly iceServers?: IceServers | undefined
  readonly onEvent: OnVoiceEvent
}

/** What an edge has done so far. */
export interface EdgeCounts {
  readonly taken: number
  readonly open: number
  readonly lost: number
  readonly packetsSent: number
  readonly packetsHeard: number
  readonly packetsMissing: number
}

/** How long another phone may take to ring. */
const ringMs = 1000
/** When calls are read again that could not be read. */
const retryMs = 2000
/** Calls that were made while nobody listened. */
const mostMissed = 100

/**
 * Plays the phones of all users that no phone is open for: takes every business's call to a user who is online and can be reached, and
 * says back what it hears.
 */
export class Edge {
  readonly #options: EdgeOptions
  readonly #addresses: readonly string[]
  readonly #stream: ReturnType<Switchboard['gateway']['stream']>
  readonly #calls = new Map<string, UserCall>()
  readonly #waiting = new Map<string, NodeJS.Timeout>()
  readonly #following: Promise<void>
  #isListening = false
  #isClosing = false
  #retry: NodeJS.Timeout | undefined
  #taken = 0
  #lost = 0
  #packets = { sent: 0, heard: 0, missing: 0 }

  private constructor(options: EdgeOptions) {
    this.#options = options
    this.#addresses = chooseAddresses(options.addresses)
    this.#stream = options.client.gateway.stream(
      {},
      {
        onConnection: (isOpen) => {
          this.#isListening = isOpen
        },
      },
    )
    this.#following = this.#follow()
    // Whoever waits for `refused` gets it.
    this.#following.catch(() => undefined)
  }

  /** Listens for calls; refused where the server does not take the token. */
  static async open(options: EdgeOptions): Promise<Edge> {
    const edge = new Edge(options)
    try {
      await edge.#stream.opened
    } catch (error) {
      edge.#stream.close()
      await edge.#following.catch(() => undefined)
      throw error
    }
    await edge.#catchUp()
    return edge
  }

  /** Whether it hears of calls. */
  get isListening(): boolean {
    return this.#isListening
  }

  /** Rejects when the server refuses the edge for good. */
  get refused(): Promise<void> {
    return this.#following
  }

  get counts(): EdgeCounts {
    const { sent, heard, missing } = this.#packets
    const open = this.#calls.size
    return {
      taken: this.#taken,
      open,
      lost: this.#lost,
      packetsSent: sent,
      packetsHeard: heard,
      packetsMissing: missing,
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#stream.close()
    clearTimeout(this.#retry)
    for (const timer of this.#waiting.values()) clearTimeout(timer)
    await Promise.all([...this.#calls.values()].map((call) => call.hangUp()))
    await this.#following.catch(() => undefined)
  }

  async #follow(): Promise<void> {
    for await (const { event, data } of this.#stream) {
      if (event === 'reset') void this.#catchUp()
      if (event !== 'call') continue
      this.#calls.get(data.id)?.refresh()
      this.#note(data)
    }
  }

  /** Reads what happened while nobody listened, as soon as the server can say it: one that has just started may not be able to yet. */
  async #catchUp(): Promise<void> {
    try {
      await this.#readMissed()
    } catch (error) {
      this.#options.onEvent({ event: 'error', message: `the calls cannot be read: ${explain(error)}` })
      if (!this.#isClosing) this.#retry = setTimeout(() => void this.#catchUp(), retryMs)
    }
  }

  async #readMissed(): Promise<void> {
    const page = await this.#options.client.gateway.calls.list({ limit: mostMissed })
    for (const call of page.data) this.#note(call)
    for (const call of this.#calls.values()) call.refresh()
  }

  /** A call that rings nowhere is taken after a second; one that goes on elsewhere is left alone. */
  #note({ id, direction, state }: GatewayCallsListItem): void {
    if (direction !== 'BUSINESS_INITIATED') return
    if (state === 'initiated' && !this.#waiting.has(id) && !this.#calls.has(id)) {
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        void this.#consider(id)
      }, ringMs)
      this.#waiting.set(id, timer)
    } else if (state !== 'initiated') {
      clearTimeout(this.#waiting.get(id))
      this.#waiting.delete(id)
    }
  }

  async #consider(id: string): Promise<void> {
    const { gateway } = this.#options.client
    try {
      const { state, user_wa_id, sdp } = await gateway.calls.retrieve(id)
      if (state !== 'initiated' || sdp.business === undefined) return
      const { presence, reachable } = await gateway.users.retrieve(user_wa_id)
      if (presence !== 'online' || !reachable) return
      if (this.#isClosing) return
      await gateway.calls.ring(id)
      await this.#take(id)
    } catch (error) {
      // Another phone was quicker, or the business has hung up.
      if (!isTooLate(error)) this.#options.onEvent({ event: 'error', call_id: id, message: explain(error) })
    }
  }

  async #take(id: string): Promise<void> {
    const { client, iceServers = [], onEvent } = this.#options
    const options = { client, addresses: this.#addresses, iceServers, source: undefined, onEvent }
    const call = await UserCall.answer(options, id)
    this.#taken += 1
    this.#calls.set(id, call)
    void call.result.then((result) => this.#count(id, result))
    // It was taken while the edge was ending all others.
    if (this.#isClosing) await call.hangUp()
  }

  #count(id: string, { by, sent, heard }: UserCallResult): void {
    this.#calls.delete(id)
    if (by === 'lost') this.#lost += 1
    this.#packets = {
      sent: this.#packets.sent + sent.packets,
      heard: this.#packets.heard + heard.packets,
      missing: this.#packets.missing + heard.lost,
    }
  }
}
