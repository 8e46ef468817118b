import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Message } from '../messages.ts'
import { hasArrived, isUnread } from './arrival.ts'
import type { WrittenContent } from './chat.ts'
import type { ChatKey } from './chat-key.ts'
import { gatherReactions, keepList } from './reduce.ts'

/** What lies over a chat, in its phone. */
export interface Sheet {
  readonly kind: 'choose' | 'flow' | 'address' | 'place' | 'contact' | 'info' | 'about'
  readonly message?: Message
}

/** Where the messages that were unread when the chat was opened begin. */
interface UnreadStart {
  readonly id: string
  readonly count: number
}

export interface Unsent {
  readonly content: WrittenContent
  /** What stands in the way; undefined while it is being sent. */
  readonly problem: string | undefined
}

function computeKept(list: () => readonly Message[]): ReadonlySignal<readonly Message[]> {
  let kept: readonly Message[] = []
  return computed(() => {
    kept = keepList(kept, list())
    return kept
  })
}

/** The state of an open chat. */
export class ChatState {
  readonly key: ChatKey
  /** Everything that is known of the chat, the oldest first; also what has not arrived. */
  readonly messages: Signal<readonly Message[]> = signal([])
  /** The cursor of what is older; undefined: there is nothing. */
  readonly older: Signal<string | undefined> = signal(undefined)
  readonly isLoaded: Signal<boolean> = signal(false)
  readonly unreadStart: Signal<UnreadStart | undefined> = signal(undefined)
  /** Messages of this phone that the service does not have yet, by their ids. */
  readonly unsent: Signal<ReadonlyMap<string, Unsent>> = signal(new Map())
  readonly sheet: Signal<Sheet | undefined> = signal(undefined)
  /** Whether the chat is within the part of the page that can be seen. */
  readonly isOnScreen: Signal<boolean> = signal(false)
  /** The messages that the phone shows. */
  readonly shown: ReadonlySignal<readonly Message[]>
  readonly byId: ReadonlySignal<ReadonlyMap<string, Message>>
  readonly reactions: ReadonlySignal<ReadonlyMap<string, string>>

  constructor(key: ChatKey, wa_id: string) {
    this.key = key
    const arrived = computed(() => this.messages.value.filter((message) => hasArrived(message, wa_id)))
    this.shown = computeKept(() => arrived.value.filter(({ type }) => type !== 'reaction'))
    this.byId = computed(() => new Map(this.shown.value.map((message) => [message.id, message])))
    const reactions = computeKept(() => arrived.value.filter(({ type }) => type === 'reaction'))
    this.reactions = computed(() => gatherReactions(reactions.value))
  }

  /** Remembers where the unread messages begin, before they are read. */
  noteUnread(wa_id: string): void {
    const unread = this.shown.value.filter((message) => isUnread(message, wa_id))
    const [first] = unread
    this.unreadStart.value = first && { id: first.id, count: unread.length }
  }

  setUnsent(id: string, unsent: Unsent | undefined): void {
    if (unsent === undefined && !this.unsent.value.has(id)) return
    const next = new Map(this.unsent.value)
    if (unsent === undefined) next.delete(id)
    else next.set(id, unsent)
    this.unsent.value = next
  }
}
