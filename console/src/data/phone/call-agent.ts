import {
  APIError,
  type CallSession,
  type GatewayCallsListItem,
  type GatewayStreamEvent,
  gatewayCallsAccept,
  gatewayCallsList,
  gatewayCallsReject,
  gatewayCallsRetrieve,
  gatewayCallsRing,
  gatewayCallsStart,
  gatewayCallsTerminate,
} from '@switchboard/client/methods'
import { client, explain } from '../http.ts'
import { listenToPhones } from '../live.ts'
import type { ChatKey } from './chat-key.ts'
import type { PhoneStore } from './phone-store.ts'
import { isDraft, isOpen, replaces, type ShownCall } from './shown-call.ts'

const shownCalls = 20

/** Rings, and does what a user does with a call. */
export class CallAgent {
  readonly #store: PhoneStore
  #stop: (() => void) | undefined
  /** The call that it has said to ring for, which is said once. */
  #rung: string | undefined

  constructor(store: PhoneStore) {
    this.#store = store
  }

  start(): void {
    this.#stop = listenToPhones(
      (event) => this.#onEvent(event),
      () => void this.readAll(),
    )
  }

  stop(): void {
    this.#stop?.()
  }

  /** Reads the last calls, and the one that is under way. */
  async readAll(): Promise<void> {
    await this.#list()
    const { calls, call } = this.#store
    const open = isOpen(call.value?.call) ? call.value?.call.id : undefined
    const found = calls.value.find(({ id, state }) => (open === undefined ? state !== 'ended' : id === open))
    if (found) await this.#onCall(found)
    else if (open !== undefined) await this.read(open)
  }

  /** Shows the call that the user is making, before the service has heard of it. */
  draft({ phone_number_id }: ChatKey): void {
    const call = { id: undefined, phone_number_id, direction: 'USER_INITIATED', state: 'initiated', sdp: {} } as const
    // What stood in the way of something else is not about this call.
    this.#store.problem.value = undefined
    this.#store.call.value = { call, since: Date.now() }
  }

  /** Gives up the call that the user is making, before the service has heard of it. */
  giveUp(): void {
    this.#changeDraft({ state: 'ended', ending: 'failed' })
  }

  /** Calls a number; by the button of a message, if it was pressed. Returns the id of the call. */
  async make({ phone_number_id }: ChatKey, session: CallSession, message_id?: string): Promise<string> {
    const from = this.#store.wa_id
    const params = { phone_number_id, from, session, ...(message_id !== undefined && { message_id }) }
    const { call_id } = await gatewayCallsStart(client, params)
    this.#changeDraft({ id: call_id })
    return call_id
  }

  /** Whether the user has taken the call that is shown: with this description, also when the response was lost. */
  async accept(session: CallSession | undefined): Promise<boolean> {
    const isDone = await this.#act((id) => gatewayCallsAccept(client, id, { session }))
    const { state, sdp } = this.#store.call.value?.call ?? {}
    return isDone || (session !== undefined && state === 'accepted' && sdp?.user === session.sdp)
  }

  async decline(): Promise<void> {
    await this.#act((id) => gatewayCallsReject(client, id))
  }

  /** Ends the call that is shown; with a reason when the phone does so by itself. */
  async end(reason?: 'no_media' | 'lost'): Promise<void> {
    await this.#act((id) => gatewayCallsTerminate(client, id, { reason }))
  }

  /** Takes a call that is over from the screen; another one that has waited meanwhile is shown. */
  close(): void {
    this.#store.call.value = undefined
    void this.readAll()
  }

  /** Reads a call anew, with what both sides have said about their media. */
  async read(id: string): Promise<void> {
    try {
      const call = await gatewayCallsRetrieve(client, id)
      if (call.user_wa_id === this.#store.wa_id) this.#show(call)
    } catch (error) {
      const { call, problem } = this.#store
      const isGone = error instanceof APIError && error.status === 404 && call.value?.call.id === id
      // The store was reset: no button of the call would do anything any more.
      if (isGone) call.value = undefined
      else problem.value = explain(error)
    }
  }

  #show(call: ShownCall): void {
    const { call: shown, problem } = this.#store
    const before = shown.value
    if (!replaces(before?.call, call)) return
    // What stood in the way of something else is not about this call.
    if (before?.call.id !== call.id) problem.value = undefined
    const isSame = before !== undefined && before.call.id === call.id && before.call.state === call.state
    shown.value = { call, since: isSame ? before.since : Date.now() }
  }

  /** What was refused because the call has moved on meanwhile needs no words: the phone shows where it is. */
  async #act(send: (id: string) => Promise<unknown>): Promise<boolean> {
    const store = this.#store
    const { id, state } = store.call.value?.call ?? {}
    if (id === undefined) return false
    const refusal = await send(id).then(() => undefined, explain)
    if (refusal === undefined) store.problem.value = undefined
    await this.read(id)
    if (refusal !== undefined && store.call.value?.call.state === state) store.problem.value = refusal
    return refusal === undefined
  }

  #changeDraft(changes: Partial<ShownCall>): void {
    const { call: shown } = this.#store
    const { call } = shown.value ?? {}
    if (call && isDraft(call)) shown.value = { call: { ...call, ...changes }, since: Date.now() }
  }

  #onEvent({ event, data }: GatewayStreamEvent): void {
    if (event !== 'call' || data.user_wa_id !== this.#store.wa_id) return
    if (data.state === 'ended') void this.#list()
    void this.#onCall(data)
  }

  async #onCall(listed: GatewayCallsListItem): Promise<void> {
    const store = this.#store
    const before = store.call.value?.call
    if (listed.state === 'ended') {
      // Nothing is new but the ending: the microphone need not wait for another request.
      if (before?.id === listed.id) this.#show({ ...before, ...listed })
      return
    }
    await this.read(listed.id)
    const call = store.call.value?.call
    if (call?.id !== listed.id || call.direction !== 'BUSINESS_INITIATED' || call.state !== 'initiated') return
    if (this.#rung === call.id || !store.isOnline || !store.user.value?.reachable) return
    this.#rung = call.id
    await this.#act((id) => gatewayCallsRing(client, id))
  }

  async #list(): Promise<void> {
    const query = { user_wa_id: this.#store.wa_id, limit: shownCalls }
    const found = await gatewayCallsList(client, query).catch(() => undefined)
    if (found) this.#store.calls.value = found.data
  }
}
