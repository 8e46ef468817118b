import { type Signal, signal } from '@preact/signals'
import {
  type GatewayActOnCallParams,
  type GatewayActOnMessageParams,
  type GatewayStreamEvent,
  type GatewayWriteMessageParams,
  gatewayActOnCall,
  gatewayActOnMessage,
  gatewayListCalls,
  gatewayListChats,
  gatewayListMessages,
  gatewayReadCall,
  gatewayReadMessage,
  gatewayReadOutbox,
  gatewayReadUser,
  gatewaySetChat,
  gatewaySetUser,
  gatewayWriteMessage,
} from '@switchboard/client/methods'
import { client, explain } from './http.ts'
import { listenToPhones, watch } from './live.ts'
import type { Call, Chat, FeedItem, List, ListedCall, Message, User } from './types.ts'

const pageOfMessages = 50
const shownCalls = 20

/** Whether somebody can look at the phones: what nobody sees is not read. */
export const arePhonesShown = signal(false)

/** Which chat: with a number, or a group of one. */
export interface ChatKey {
  readonly phone_number_id: string
  readonly group_id?: string
}

export function keyOf({ phone_number_id, group_id }: ChatKey): string {
  return group_id === undefined ? phone_number_id : `group ${group_id}`
}

export interface Sms {
  readonly to: string
  readonly kind: string
  readonly code: string
  readonly sent_at: string
}

/** A call as the phone shows it. */
export interface PhoneCall {
  readonly call: Call
  readonly since: number
}

interface Typing {
  readonly phone_number_id: string
  readonly user_wa_id: string
  readonly until: string
}

/** What a message holds depends on its type. */
function asMessage(read: object): Message {
  return read as Message
}

/** One user's phone. */
export class Phone {
  readonly wa_id: string
  readonly user: Signal<User | undefined> = signal(undefined)
  readonly chats: Signal<readonly Chat[]> = signal([])
  /** The open chat; undefined: the list of chats. */
  readonly open: Signal<ChatKey | undefined> = signal(undefined)
  /** Of the open chat, the oldest first. */
  readonly messages: Signal<readonly Message[]> = signal([])
  readonly older: Signal<string | undefined> = signal(undefined)
  readonly typing: Signal<ReadonlyMap<string, number>> = signal(new Map())
  readonly call: Signal<PhoneCall | undefined> = signal(undefined)
  /** The last calls, the newest first. */
  readonly calls: Signal<readonly ListedCall[]> = signal([])
  readonly sms: Signal<Sms | undefined> = signal(undefined)
  readonly problem: Signal<string | undefined> = signal(undefined)
  #stops: (() => void)[] = []
  #reading: ReturnType<typeof setTimeout> | undefined
  /** The call that it has said to ring for, which is said once. */
  #rung: string | undefined

  constructor(wa_id: string) {
    this.wa_id = wa_id
  }

  start(): void {
    this.#stops = [
      listenToPhones(
        (event) => this.#onEvent(event),
        () => void this.read(),
      ),
      watch((one) => this.#onFeedItem(one)),
    ]
    void this.read()
  }

  stop(): void {
    for (const stop of this.#stops) stop()
    clearTimeout(this.#reading)
  }

  /** Reads everything that it shows. */
  async read(): Promise<void> {
    await this.attempt(async () => {
      this.user.value = await gatewayReadUser(client, this.wa_id)
      await this.readChats()
      if (this.open.value) await this.#readMessages(this.open.value)
    })
    void this.#readSms()
    void this.#readCalls()
  }

  async readChats(): Promise<void> {
    const { data } = await gatewayListChats(client, this.wa_id, { limit: 50 })
    this.chats.value = data as readonly Chat[]
  }

  chatOf(key: ChatKey): Chat | undefined {
    return this.chats.value.find((chat) => keyOf(chat) === keyOf(key))
  }

  async openChat(key: ChatKey | undefined): Promise<void> {
    this.open.value = key
    this.messages.value = []
    this.older.value = undefined
    if (key) await this.attempt(() => this.#readMessages(key))
  }

  async #readMessages(key: ChatKey): Promise<void> {
    const list = await this.#listMessages(key)
    if (this.open.value !== key) return
    this.messages.value = list.data.toReversed()
    this.older.value = list.data.length < pageOfMessages ? undefined : list.paging?.cursors?.after
    this.#markRead()
  }

  async readOlder(): Promise<void> {
    const key = this.open.value
    const after = this.older.value
    if (!key || after === undefined) return
    await this.attempt(async () => {
      const list = await this.#listMessages(key, after)
      if (this.open.value !== key) return
      this.messages.value = [...list.data.toReversed(), ...this.messages.value]
      this.older.value = list.data.length < pageOfMessages ? undefined : list.paging?.cursors?.after
    })
  }

  async #listMessages({ phone_number_id, group_id }: ChatKey, after?: string): Promise<List<Message>> {
    const where = group_id === undefined ? { phone_number_id } : { group_id }
    const page = await gatewayListMessages(client, this.wa_id, { ...where, limit: pageOfMessages, after })
    return { data: page.data.map(asMessage), paging: page.paging }
  }

  /** Whoever looks at a chat has read it, as on a real phone. */
  #markRead(): void {
    if (!arePhonesShown.value) return
    const last = this.messages.value.findLast(
      ({ direction, state, type }) =>
        direction === 'to_user' && type !== 'reaction' && (state === 'delivered' || state === 'sent'),
    )
    if (!last || document.hidden || this.user.value?.presence !== 'online') return
    for (const message of this.messages.value) {
      if (message.direction === 'to_user' && message.type !== 'reaction' && message.state === 'delivered') {
        void this.act(message, 'read')
      }
    }
  }

  /** Somebody looks at it again. */
  look(): void {
    this.#markRead()
  }

  async act(message: Message, action: GatewayActOnMessageParams['action'], more: object = {}): Promise<void> {
    const who = message.group_id === undefined ? {} : { user_wa_id: this.wa_id }
    await this.attempt(() => gatewayActOnMessage(client, message.id, { action, ...who, ...more }))
  }

  /** Writes into a chat. */
  async write(key: ChatKey, content: Readonly<Record<string, unknown>>): Promise<boolean> {
    const where = key.group_id === undefined ? { phone_number_id: key.phone_number_id } : { group_id: key.group_id }
    return this.attempt(() =>
      gatewayWriteMessage(client, { ...where, from: this.wa_id, ...content } as GatewayWriteMessageParams),
    )
  }

  async set(changes: Partial<Omit<User, 'wa_id'>>): Promise<void> {
    await this.attempt(async () => {
      await gatewaySetUser(client, this.wa_id, changes)
      await this.read()
    })
  }

  async setChat(key: ChatKey, changes: { blocked?: boolean; marketing?: 'stop' | 'resume' }): Promise<void> {
    await this.attempt(async () => {
      await gatewaySetChat(client, this.wa_id, key.phone_number_id, changes)
      await this.readChats()
    })
  }

  async actOnCall(
    action: 'accept' | 'reject' | 'terminate' | 'ringing',
    session?: GatewayActOnCallParams['session'],
  ): Promise<void> {
    const { value } = this.call
    if (!value) return
    await this.attempt(() => gatewayActOnCall(client, value.call.id, { action, ...(session && { session }) }))
    await this.readCall(value.call.id)
  }

  async readCall(id: string): Promise<void> {
    await this.attempt(async () => {
      const call = await gatewayReadCall(client, id)
      if (call.user_wa_id !== this.wa_id) return
      const before = this.call.value
      if (call.state === 'ended') void this.#listCalls()
      // Whoever closed it has seen that it ended.
      if (call.state === 'ended' && before?.call.id !== id) return
      const isSame = before?.call.id === id && before.call.state === call.state
      this.call.value = { call, since: isSame ? before.since : Date.now() }
    })
  }

  /** Does something, and says what stood in the way. */
  async attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      this.problem.value = undefined
      return true
    } catch (error) {
      this.problem.value = explain(error)
      return false
    }
  }

  #onEvent({ event, data }: GatewayStreamEvent): void {
    if (event === 'message') this.#onMessage(asMessage(data))
    else if (event === 'status') this.#onStatus(data)
    else if (event === 'typing') this.#onTyping(data)
  }

  #onMessage(message: Message): void {
    const isMine =
      message.user_wa_id === this.wa_id ||
      (message.group_id !== undefined && this.chats.value.some((chat) => chat.group_id === message.group_id))
    if (!isMine && message.group_id === undefined) return
    this.#readChatsSoon()
    if (!isMine || !this.open.value || keyOf(this.open.value) !== keyOf(message)) return
    const known = this.messages.value.findIndex(({ id }) => id === message.id)
    this.messages.value = known < 0 ? [...this.messages.value, message] : this.messages.value.with(known, message)
    if (message.direction === 'to_user') this.#forgetTyping(message)
    this.#markRead()
  }

  #onStatus({
    id,
    status,
    timestamp,
    user_wa_id,
  }: {
    id: string
    status?: string
    timestamp: string
    user_wa_id?: string
  }): void {
    const index = this.messages.value.findIndex((one) => one.id === id)
    const found = this.messages.value[index]
    if (user_wa_id === this.wa_id) this.#readChatsSoon()
    if (!found || status === undefined) return
    const states = [...found.states, { status, timestamp, ...(user_wa_id !== undefined && { user_wa_id }) }]
    const isMine = found.group_id === undefined || user_wa_id === undefined || user_wa_id === this.wa_id
    this.messages.value = this.messages.value.with(index, { ...found, states, ...(isMine && { state: status }) })
    if (status === 'delivered') this.#markRead()
    if (status === 'failed') void this.#readAgain(id)
  }

  /** Why a message failed is not in its status. */
  async #readAgain(id: string): Promise<void> {
    const read = await gatewayReadMessage(client, id).catch(() => undefined)
    const index = this.messages.value.findIndex((one) => one.id === id)
    if (read && index >= 0) this.messages.value = this.messages.value.with(index, asMessage(read))
  }

  #onTyping({ phone_number_id, user_wa_id, until }: Typing): void {
    if (user_wa_id !== this.wa_id) return
    const seconds = Number(until)
    this.typing.value = new Map(this.typing.value).set(phone_number_id, seconds)
    setTimeout(() => this.#forgetTyping({ phone_number_id }), 25_000)
  }

  #forgetTyping({ phone_number_id }: { phone_number_id: string }): void {
    if (!this.typing.value.has(phone_number_id)) return
    const left = new Map(this.typing.value)
    left.delete(phone_number_id)
    this.typing.value = left
  }

  #readChatsSoon(): void {
    this.#reading ??= setTimeout(() => {
      this.#reading = undefined
      void this.attempt(() => this.readChats())
    }, 60)
  }

  /** Calls are shown to operators alone, and codes come after somebody has asked for one. */
  #onFeedItem({ type, data }: FeedItem): void {
    if (type === 'request' && String(data['operation']).endsWith('request_code')) void this.#readSms()
    if (type === 'request' && data['operation'] === 'calls.act' && data['status'] === 200) void this.#readCalls()
    if (type !== 'event' || data['field'] !== 'calls') return
    const { calls = [], statuses = [] } = (data['value'] ?? {}) as Record<string, { id?: string }[]>
    for (const { id } of [...calls, ...statuses]) if (id !== undefined) void this.#onCall(id)
  }

  async #listCalls(): Promise<void> {
    const query = { user_wa_id: this.wa_id, limit: shownCalls }
    const found = await gatewayListCalls(client, query).catch(() => undefined)
    if (found) this.calls.value = found.data
  }

  async #readCalls(): Promise<void> {
    await this.#listCalls()
    const [last] = this.calls.value
    if (last && (last.state !== 'ended' || last.id === this.call.value?.call.id)) await this.#onCall(last.id)
  }

  async #onCall(id: string): Promise<void> {
    const call = await gatewayReadCall(client, id).catch(() => undefined)
    if (!call || call.user_wa_id !== this.wa_id) return
    await this.readCall(id)
    const rings = call.direction === 'BUSINESS_INITIATED' && call.state === 'initiated'
    if (!rings || this.#rung === id || this.user.value?.presence !== 'online' || !this.user.value.reachable) return
    this.#rung = id
    await this.actOnCall('ringing')
  }

  async #readSms(): Promise<void> {
    if (!/^\d{5,15}$/.test(this.wa_id)) return
    const found = await gatewayReadOutbox(client, { to: this.wa_id }).catch(() => undefined)
    this.sms.value = found?.data[0]
  }
}
