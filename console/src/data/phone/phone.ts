import { type GatewayMessage, gatewayChatsUpdate, gatewayUsersUpdate } from '@switchboard/client/methods'
import { product } from '../directory.ts'
import { client, explain } from '../http.ts'
import { serviceNow } from '../live.ts'
import { type Message, readMessage } from '../messages.ts'
import type { User } from '../types.ts'
import { CallAgent } from './call-agent.ts'
import type { WrittenContent } from './chat.ts'
import { type ChatKey, toKey } from './chat-key.ts'
import { ChatState } from './chat-state.ts'
import { drawMessageId } from './draw-message-id.ts'
import { actOnMessage, type MessageAction, writeMessage } from './gateway.ts'
import { PhoneFeed } from './phone-feed.ts'
import { PhoneStore } from './phone-store.ts'
import { startReading } from './read-marks.ts'
import { putMessage } from './reduce.ts'

/** One user's phone: its state, what fills it, and what its user does. */
export class Phone {
  readonly wa_id: string
  readonly store: PhoneStore
  readonly feed: PhoneFeed
  readonly calls: CallAgent
  #stopReading: (() => void) | undefined

  constructor(wa_id: string) {
    this.wa_id = wa_id
    this.store = new PhoneStore(wa_id)
    this.feed = new PhoneFeed(this.store)
    this.calls = new CallAgent(this.store)
  }

  start(): void {
    this.feed.start()
    this.calls.start()
    this.#stopReading = startReading(this.store)
  }

  stop(): void {
    this.feed.stop()
    this.calls.stop()
    this.#stopReading?.()
  }

  async openChat(key: ChatKey | undefined): Promise<void> {
    const chat = key && new ChatState(toKey(key), this.wa_id)
    this.store.chat.value = chat
    if (chat) await this.store.attempt(() => this.feed.readChat(chat))
    else this.feed.readChatsDue()
  }

  async act(message: Message, action: MessageAction, more: object = {}): Promise<void> {
    await this.store.attempt(() => actOnMessage(this.wa_id, message, action, more))
  }

  /** Writes into a chat: it stands there at once, and is marked when it could not be sent. */
  async write(key: ChatKey, content: WrittenContent, id = drawMessageId(product())): Promise<void> {
    const chat = this.store.openChatOf(key)
    if (chat) {
      chat.messages.value = putMessage(chat.messages.value, this.#draft(key, content, id))
      chat.setUnsent(id, { content, problem: undefined })
    }
    try {
      await writeMessage(this.wa_id, key, id, content)
      chat?.setUnsent(id, undefined)
    } catch (error) {
      if (chat) chat.setUnsent(id, { content, problem: explain(error) })
      else this.store.problem.value = explain(error)
    }
  }

  /** Sends again what could not be sent; with its id, so that it arrives once. */
  async retry(message: Message): Promise<void> {
    const unsent = this.store.openChatOf(message)?.unsent.value.get(message.id)
    if (unsent) await this.write(message, unsent.content, message.id)
  }

  /** Forgets a message that could not be sent. */
  discard({ id }: Message): void {
    const chat = this.store.chat.value
    if (!chat) return
    chat.messages.value = chat.messages.value.filter((message) => message.id !== id)
    chat.setUnsent(id, undefined)
  }

  async set(changes: Partial<Omit<User, 'wa_id'>>): Promise<void> {
    await this.store.attempt(async () => {
      await gatewayUsersUpdate(client, this.wa_id, changes)
      await this.feed.read()
    })
  }

  async setChat(key: ChatKey, changes: { blocked?: boolean; marketing?: 'stop' | 'resume' }): Promise<void> {
    await this.store.attempt(async () => {
      await gatewayChatsUpdate(client, this.wa_id, key.phone_number_id, changes)
      await this.feed.readChats()
    })
  }

  #draft(key: ChatKey, content: WrittenContent, id: string): Message {
    const draft = {
      ...content,
      ...toKey(key),
      id,
      direction: 'to_business',
      user_wa_id: this.wa_id,
      from: this.wa_id,
      timestamp: String(Math.floor(serviceNow() / 1000)),
      state: 'accepted',
      states: [],
    }
    return readMessage(draft as unknown as GatewayMessage)
  }
}
