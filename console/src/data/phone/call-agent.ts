import {
  type CallSession,
  gatewayCallsAccept,
  gatewayCallsList,
  gatewayCallsReject,
  gatewayCallsRetrieve,
  gatewayCallsRing,
  gatewayCallsTerminate,
} from '@switchboard/client/methods'
import type { FeedItem } from '../feed-items.ts'
import { client } from '../http.ts'
import { watch } from '../live.ts'
import type { PhoneStore } from './phone-store.ts'

const shownCalls = 20

/** What a phone does with a call, besides accepting it. */
const actions = {
  ringing: gatewayCallsRing,
  reject: gatewayCallsReject,
  terminate: gatewayCallsTerminate,
}

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
    this.#stop = watch((item) => this.#onFeedItem(item))
  }

  stop(): void {
    this.#stop?.()
  }

  /** Reads the last calls, and the one that is under way. */
  async readAll(): Promise<void> {
    await this.#list()
    const [last] = this.#store.calls.value
    if (last && (last.state !== 'ended' || last.id === this.#store.call.value?.call.id)) await this.#onCall(last.id)
  }

  async read(id: string): Promise<void> {
    const store = this.#store
    await store.attempt(async () => {
      const call = await gatewayCallsRetrieve(client, id)
      if (call.user_wa_id !== store.wa_id) return
      const before = store.call.value
      if (call.state === 'ended') void this.#list()
      // Whoever closed it has seen that it ended.
      if (call.state === 'ended' && before?.call.id !== id) return
      const isSame = before?.call.id === id && before.call.state === call.state
      store.call.value = { call, since: isSame ? before.since : Date.now() }
    })
  }

  async act(action: keyof typeof actions | 'accept', session?: CallSession): Promise<void> {
    const { value } = this.#store.call
    if (!value) return
    const { id } = value.call
    await this.#store.attempt(() =>
      action === 'accept' ? gatewayCallsAccept(client, id, { session }) : actions[action](client, id),
    )
    await this.read(value.call.id)
  }

  /** Calls are shown to operators alone. */
  #onFeedItem({ type, data }: FeedItem): void {
    if (type === 'request' && data.operation === 'calls.act' && data.status === 200) void this.readAll()
    if (type !== 'event' || data.field !== 'calls') return
    for (const { id } of [...data.calls, ...data.statuses]) if (id !== undefined) void this.#onCall(id)
  }

  async #list(): Promise<void> {
    const query = { user_wa_id: this.#store.wa_id, limit: shownCalls }
    const found = await gatewayCallsList(client, query).catch(() => undefined)
    if (found) this.#store.calls.value = found.data
  }

  async #onCall(id: string): Promise<void> {
    const store = this.#store
    const call = await gatewayCallsRetrieve(client, id).catch(() => undefined)
    if (!call || call.user_wa_id !== store.wa_id) return
    await this.read(id)
    const rings = call.direction === 'BUSINESS_INITIATED' && call.state === 'initiated'
    if (!rings || this.#rung === id || !store.isOnline || !store.user.value?.reachable) return
    this.#rung = id
    await this.act('ringing')
  }
}
