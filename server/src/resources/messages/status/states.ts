import type { MessagesTable } from '../../../db/tables.ts'

export const messageStates = ['accepted', 'sent', 'delivered', 'read', 'played', 'failed', 'deleted'] as const
type MessageState = MessagesTable['state']
type MessageDirection = MessagesTable['direction']

/** What can happen to a message after it was accepted or came in; each is a status. */
export const messageStatuses = ['sent', 'delivered', 'read', 'played', 'failed', 'deleted'] as const
export type MessageStatus = (typeof messageStatuses)[number]

interface Move {
  readonly direction: MessageDirection
  readonly status: MessageStatus
  readonly from: MessageState
  /** The statuses that are reported, in this order: the skipped ones first. */
  readonly reports: readonly MessageStatus[]
}

/** Reactions are sent or fail; no other status is reported. */
const reactionStatuses: readonly MessageStatus[] = ['sent', 'failed']

/** THE TABLE: what can happen to a message when, and which statuses it reports. What is not here does nothing: a status never goes back. */
const moves: readonly Move[] = [
  { direction: 'to_user', status: 'sent', from: 'accepted', reports: ['sent'] },
  { direction: 'to_user', status: 'failed', from: 'accepted', reports: ['failed'] },
  { direction: 'to_user', status: 'failed', from: 'sent', reports: ['failed'] },
  { direction: 'to_user', status: 'delivered', from: 'sent', reports: ['delivered'] },
  { direction: 'to_user', status: 'read', from: 'sent', reports: ['delivered', 'read'] },
  { direction: 'to_user', status: 'read', from: 'delivered', reports: ['read'] },
  { direction: 'to_user', status: 'played', from: 'sent', reports: ['delivered', 'read', 'played'] },
  { direction: 'to_user', status: 'played', from: 'delivered', reports: ['read', 'played'] },
  { direction: 'to_user', status: 'played', from: 'read', reports: ['played'] },
  { direction: 'to_business', status: 'read', from: 'sent', reports: ['read'] },
  { direction: 'to_business', status: 'deleted', from: 'sent', reports: ['deleted'] },
  { direction: 'to_business', status: 'deleted', from: 'read', reports: ['deleted'] },
]

export interface MessageCondition {
  readonly direction: MessageDirection
  readonly state: MessageState
  readonly type: string
  /** The end of its life; null: it has none. */
  readonly expires_time: number | null
  /** When nothing more could happen to it: it failed, was deleted, or waited for a user who had blocked the number. */
  readonly ended_time: number | null
}

/** The statuses that a message goes through when something happens to it, in order; none where it is not ahead. */
export function moveMessage(message: MessageCondition, status: MessageStatus, now: number): readonly MessageStatus[] {
  if (message.ended_time !== null || isExpired(message, now)) return []
  if (message.type === 'reaction' && message.direction === 'to_user' && !reactionStatuses.includes(status)) return []
  const move = moves.find(
    ({ direction, status: to, from }) => direction === message.direction && to === status && from === message.state,
  )
  return move?.reports ?? []
}

/** Whether a message was dropped because nobody took it within its life. */
export function isExpired(
  { state, expires_time }: Pick<MessageCondition, 'state' | 'expires_time'>,
  now: number,
): boolean {
  return (state === 'accepted' || state === 'sent') && expires_time !== null && now >= expires_time
}
