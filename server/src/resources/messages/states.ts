import type { MessagesTable } from '../../db/tables.ts'

export const messageStates = ['accepted', 'sent', 'delivered', 'read', 'played', 'failed', 'deleted'] as const
export type MessageState = MessagesTable['state']
export type MessageDirection = MessagesTable['direction']

/** What can happen to a message after it was accepted or came in; each is a status. */
export const messageStatuses = ['sent', 'delivered', 'read', 'played', 'failed', 'deleted'] as const
export type MessageStatus = (typeof messageStatuses)[number]

interface Move {
  readonly direction: MessageDirection
  readonly status: MessageStatus
  readonly from: MessageState
  /** What is told, in this order: what was skipped first. */
  readonly tells: readonly MessageStatus[]
}

/** Reactions are sent or fail, and nothing else is told of them. */
const reactionStatuses: readonly MessageStatus[] = ['sent', 'failed']

/** THE TABLE: what can happen to a message when, and what is told by it. What is not here does nothing: a status never goes back. */
const moves: readonly Move[] = [
  { direction: 'to_user', status: 'sent', from: 'accepted', tells: ['sent'] },
  { direction: 'to_user', status: 'failed', from: 'accepted', tells: ['failed'] },
  { direction: 'to_user', status: 'failed', from: 'sent', tells: ['failed'] },
  { direction: 'to_user', status: 'delivered', from: 'sent', tells: ['delivered'] },
  { direction: 'to_user', status: 'read', from: 'sent', tells: ['delivered', 'read'] },
  { direction: 'to_user', status: 'read', from: 'delivered', tells: ['read'] },
  { direction: 'to_user', status: 'played', from: 'sent', tells: ['delivered', 'read', 'played'] },
  { direction: 'to_user', status: 'played', from: 'delivered', tells: ['read', 'played'] },
  { direction: 'to_user', status: 'played', from: 'read', tells: ['played'] },
  { direction: 'to_business', status: 'read', from: 'sent', tells: ['read'] },
  { direction: 'to_business', status: 'deleted', from: 'sent', tells: ['deleted'] },
  { direction: 'to_business', status: 'deleted', from: 'read', tells: ['deleted'] },
]

export interface MessageCondition {
  readonly direction: MessageDirection
  readonly state: MessageState
  readonly type: string
  /** The end of its life; null: it has none. */
  readonly expires_time: number | null
}

/** The statuses that a message goes through when something happens to it, in order; none where it is not ahead. */
export function moveMessage(message: MessageCondition, status: MessageStatus, now: number): readonly MessageStatus[] {
  if (isExpired(message, now)) return []
  if (message.type === 'reaction' && message.direction === 'to_user' && !reactionStatuses.includes(status)) return []
  const move = moves.find(
    ({ direction, status: to, from }) => direction === message.direction && to === status && from === message.state,
  )
  return move?.tells ?? []
}

/** Whether a message was dropped because nobody took it within its life. */
export function isExpired({ state, expires_time }: Omit<MessageCondition, 'type' | 'direction'>, now: number): boolean {
  return (state === 'accepted' || state === 'sent') && expires_time !== null && now >= expires_time
}
