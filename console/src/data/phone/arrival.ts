import type { Message } from '../messages.ts'
import type { Chat } from './chat.ts'

const arrivedStates: ReadonlySet<string> = new Set(['delivered', 'read', 'played'])
const readStates: ReadonlySet<string> = new Set(['read', 'played'])

/** Whether one of these statuses was reached on the phone of a user: in a group each member has statuses of their own. */
function hasReached({ group_id, states }: Message, wa_id: string, wanted: ReadonlySet<string>): boolean {
  return states.some(({ status, user_wa_id }) => wanted.has(status) && (group_id === undefined || user_wa_id === wa_id))
}

/** Whether a message is on the phone of a user: what the business sent is there once it was delivered, and what failed never is. */
export function hasArrived(message: Message, wa_id: string): boolean {
  return message.direction === 'to_business' || hasReached(message, wa_id, arrivedStates)
}

/** Whether a message has arrived on the phone of a user and nobody has looked at it yet. */
export function isUnread(message: Message, wa_id: string): boolean {
  if (message.direction !== 'to_user' || message.type === 'reaction') return false
  return hasArrived(message, wa_id) && !hasReached(message, wa_id, readStates)
}

/** The chats that a phone lists, the latest first: a chat in which nothing has arrived yet is not there. */
export function listArrived(chats: readonly Chat[]): readonly Chat[] {
  const timeOf = ({ last_message }: Chat) => last_message?.timestamp ?? 0
  return chats
    .filter(({ group_id, last_message, blocked }) => group_id !== undefined || blocked || last_message !== undefined)
    .toSorted((a, b) => timeOf(b) - timeOf(a))
}

/** What stands between a message and the eyes of a user. */
export interface View {
  /** The page with the phones is open. */
  readonly isPageOpen: boolean
  /** The browser shows another tab, or nothing. */
  readonly isHidden: boolean
  /** The chat is within the part of the page that can be seen. */
  readonly isOnScreen: boolean
  /** A call covers the chat. */
  readonly hasCall: boolean
  readonly isOnline: boolean
}

/** Whether somebody sees the chat: what nobody sees is not read. */
export function isSeen({ isPageOpen, isHidden, isOnScreen, hasCall, isOnline }: View): boolean {
  return isPageOpen && !isHidden && isOnScreen && !hasCall && isOnline
}
