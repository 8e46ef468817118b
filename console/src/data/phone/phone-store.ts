import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { explain } from '../http.ts'
import type { ListedCall, User } from '../types.ts'
import { listArrived } from './arrival.ts'
import type { Chat } from './chat.ts'
import { type ChatKey, keyOf } from './chat-key.ts'
import type { ChatState } from './chat-state.ts'
import type { ShownCall } from './shown-call.ts'

interface Sms {
  readonly to: string
  readonly kind: string
  readonly code: string
  readonly sent_at: string
}

/** The call of a phone, and since when it has been in its state. */
export interface PhoneCall {
  readonly call: ShownCall
  readonly since: number
}

/** The state of one user's phone; others fill it. */
export class PhoneStore {
  readonly wa_id: string
  readonly user: Signal<User | undefined> = signal(undefined)
  /** As the service lists them, each with the last message that has arrived. */
  readonly chats: Signal<readonly Chat[]> = signal([])
  /** Whether they are known: before that, none is no news. */
  readonly areChatsRead: Signal<boolean> = signal(false)
  /** Whether it is the phone of a business's own number, which gets codes and no messages. */
  readonly isOfBusiness: Signal<boolean> = signal(false)
  readonly listed: ReadonlySignal<readonly Chat[]> = computed(() => listArrived(this.chats.value))
  /** The open chat; undefined: the list of chats. */
  readonly chat: Signal<ChatState | undefined> = signal(undefined)
  /** The numbers that are typing. */
  readonly typing: Signal<ReadonlySet<string>> = signal(new Set())
  readonly call: Signal<PhoneCall | undefined> = signal(undefined)
  /** The last calls, the newest first. */
  readonly calls: Signal<readonly ListedCall[]> = signal([])
  readonly sms: Signal<Sms | undefined> = signal(undefined)
  readonly problem: Signal<string | undefined> = signal(undefined)
  /** What stood in the way when the phone last read by itself. */
  #readingProblem: string | undefined

  constructor(wa_id: string) {
    this.wa_id = wa_id
  }

  get isOnline(): boolean {
    return this.user.value?.presence === 'online'
  }

  findChat(key: ChatKey): Chat | undefined {
    return this.chats.value.find((chat) => keyOf(chat) === keyOf(key))
  }

  /** The open chat, if it is this one. */
  openChatOf(key: ChatKey): ChatState | undefined {
    const { value } = this.chat
    return value && keyOf(value.key) === keyOf(key) ? value : undefined
  }

  setTyping(phone_number_id: string, isTyping: boolean): void {
    if (this.typing.value.has(phone_number_id) === isTyping) return
    const next = new Set(this.typing.value)
    if (isTyping) next.add(phone_number_id)
    else next.delete(phone_number_id)
    this.typing.value = next
  }

  /** Does what somebody has asked for, and shows what stood in the way. */
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

  /** Reads what nobody has asked for, and shows what stood in the way. When that works, other problems stay: they are not about it. */
  async attemptReading(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
      if (this.problem.value === this.#readingProblem) this.problem.value = undefined
    } catch (error) {
      this.#readingProblem = explain(error)
      this.problem.value = this.#readingProblem
    }
  }
}
