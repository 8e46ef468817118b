import { batch } from '@preact/signals'
import {
  APIError,
  type GatewayStreamEvent,
  gatewayOutboxRetrieve,
  gatewayUsersRetrieve,
} from '@switchboard/client/methods'
import type { FeedItem } from '../feed-items.ts'
import { client } from '../http.ts'
import { listenToPhones, watch } from '../live.ts'
import { type Message, readMessage } from '../messages.ts'
import type { User } from '../types.ts'
import type { ChatState } from './chat-state.ts'
import { findMessage, listChats, listMessages } from './gateway.ts'
import type { PhoneStore } from './phone-store.ts'
import { prependPage, putMessage, putStatus, refresh, type Status } from './reduce.ts'

const chatsPause = 200
/** Over the list lies an open chat, which has its messages from the stream: it shows only the count of the unread and the window. */
const coveredChatsPause = 1000
/** Less than two frames: nobody sees it. */
const eventsPause = 25
const typingMs = 25_000
/** With it the service refuses a number as a user that is a business's own. */
const statusOfNoUser = 422
/** What sends a code to a number. */
const codeSenders: ReadonlySet<string> = new Set([
  'phone_numbers.create',
  'phone_numbers.request_code',
  'sign_up.add_number',
  'sign_up.choose_number',
  'sign_up.send_code',
])
/** How many pages back a quoted message is looked for. */
const mostPages = 40

/** Fills the store of a phone: by what is read, and by what happens from then on. */
export class PhoneFeed {
  readonly #store: PhoneStore
  #stops: (() => void)[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #events: GatewayStreamEvent[] = []
  #eventTimer: ReturnType<typeof setTimeout> | undefined

  constructor(store: PhoneStore) {
    this.#store = store
  }

  start(): void {
    this.#stops = [
      listenToPhones(
        (event) => this.#collect(event),
        () => void this.read(),
      ),
      watch((item) => this.#onFeedItem(item)),
    ]
  }

  stop(): void {
    for (const stop of this.#stops) stop()
    clearTimeout(this.#timer)
    clearTimeout(this.#eventTimer)
  }

  /** Reads everything that the phone shows. */
  async read(): Promise<void> {
    const store = this.#store
    await store.attempt(async () => {
      store.user.value = await this.#findUser()
      store.isOfBusiness.value = store.user.value === undefined
      if (store.isOfBusiness.value) return
      await this.readChats()
      if (store.chat.value) await this.readChat(store.chat.value)
    })
    void this.#readSms()
  }

  /** Undefined: the number is a business's own. */
  async #findUser(): Promise<User | undefined> {
    try {
      return await gatewayUsersRetrieve(client, this.#store.wa_id)
    } catch (error) {
      if (error instanceof APIError && error.status === statusOfNoUser) return undefined
      throw error
    }
  }

  async readChats(): Promise<void> {
    this.#store.chats.value = await listChats(this.#store.wa_id)
    this.#store.areChatsRead.value = true
  }

  /** Reads the newest page of a chat. */
  async readChat(chat: ChatState): Promise<void> {
    const { messages, older } = await listMessages(this.#store.wa_id, chat.key)
    const next = refresh(chat.messages.value, messages, (id) => chat.unsent.value.has(id))
    chat.messages.value = next.messages
    if (!next.joins) chat.older.value = older
    if (chat.isLoaded.value) return
    chat.noteUnread(this.#store.wa_id)
    chat.isLoaded.value = true
  }

  async readOlder(chat: ChatState): Promise<void> {
    const after = chat.older.value
    if (after === undefined) return
    const { messages, older } = await listMessages(this.#store.wa_id, chat.key, { after })
    // Two readers may have asked for the same page.
    if (chat.older.value !== after) return
    chat.messages.value = prependPage(chat.messages.value, messages)
    chat.older.value = older
  }

  /** Reads older pages until a message is among them. */
  async readBackTo(chat: ChatState, id: string): Promise<boolean> {
    for (let pages = 0; pages < mostPages && !chat.byId.value.has(id); pages++) {
      if (chat.older.value === undefined) return false
      await this.readOlder(chat)
    }
    return chat.byId.value.has(id)
  }

  /** A message and its first statuses come together, and are drawn once. */
  #collect(event: GatewayStreamEvent): void {
    this.#events.push(event)
    this.#eventTimer ??= setTimeout(() => {
      this.#eventTimer = undefined
      const events = this.#events
      this.#events = []
      batch(() => {
        for (const one of events) this.#onEvent(one)
      })
    }, eventsPause)
  }

  #onEvent({ event, data }: GatewayStreamEvent): void {
    if (event === 'message') this.#onMessage(readMessage(data))
    else if (event === 'status') this.#onStatus(data as Status)
    else if (event === 'typing') this.#onTyping(data.phone_number_id, data.user_wa_id)
  }

  #onMessage(message: Message): void {
    const store = this.#store
    const { group_id } = message
    const isMine =
      message.user_wa_id === store.wa_id ||
      (group_id !== undefined && store.chats.value.some((chat) => chat.group_id === group_id))
    if (!isMine && group_id === undefined) return
    this.#readChatsSoon()
    const chat = store.openChatOf(message)
    if (!isMine || !chat) return
    chat.messages.value = putMessage(chat.messages.value, message)
    chat.setUnsent(message.id, undefined)
    if (message.direction === 'to_user') store.setTyping(message.phone_number_id, false)
  }

  #onStatus(status: Status): void {
    const store = this.#store
    if (status.user_wa_id === store.wa_id) this.#readChatsSoon()
    const chat = store.chat.value
    if (!chat) return
    chat.messages.value = putStatus(chat.messages.value, status, store.wa_id)
    if (status.status === 'failed') void this.#readAgain(chat, status.id)
  }

  /** Why a message failed is not in its status. */
  async #readAgain(chat: ChatState, id: string): Promise<void> {
    if (!chat.messages.value.some((message) => message.id === id)) return
    const message = await findMessage(id).catch(() => undefined)
    if (message) chat.messages.value = putMessage(chat.messages.value, message)
  }

  #onTyping(phone_number_id: string, user_wa_id: string): void {
    const store = this.#store
    const isBlocked = store.findChat({ phone_number_id })?.blocked === true
    if (user_wa_id !== store.wa_id || isBlocked || !store.isOnline) return
    store.setTyping(phone_number_id, true)
    setTimeout(() => store.setTyping(phone_number_id, false), typingMs)
  }

  /** Reads the chats now if they were to be read soon: somebody goes back to the list. */
  readChatsDue(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    void this.#store.attemptReading(() => this.readChats())
  }

  #readChatsSoon(): void {
    const pause = this.#store.chat.value ? coveredChatsPause : chatsPause
    this.#timer ??= setTimeout(() => this.readChatsDue(), pause)
  }

  /** Codes come after somebody has asked for one. */
  #onFeedItem({ type, data }: FeedItem): void {
    if (type === 'request' && codeSenders.has(data.operation)) void this.#readSms()
  }

  async #readSms(): Promise<void> {
    if (!/^\d{5,15}$/.test(this.#store.wa_id)) return
    const found = await gatewayOutboxRetrieve(client, { to: this.#store.wa_id }).catch(() => undefined)
    this.#store.sms.value = found?.data[0]
  }
}
