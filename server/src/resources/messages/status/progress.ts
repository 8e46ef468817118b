import type { Transaction } from '../../../db/database.ts'
import type { MessageRecipientsTable } from '../../../db/tables.ts'
import {
  lockRecipient,
  type MessageNumber,
  type PhoneUser,
  type StoredMessage,
  updateMessage,
  updateProgress,
  updateRecipient,
} from '../store.ts'
import { type EventTools, raiseStatuses } from './events.ts'
import { type MessageStatus, moveMessage } from './states.ts'
import { recordStatuses } from './stream-events.ts'

/** The times of what has happened to a message, or to one participant's copy of it. */
type Times = Pick<MessageRecipientsTable, 'delivered_time' | 'read_time' | 'played_time' | 'ended_time'>

/** Something that was reported of a message. */
export interface Report {
  readonly status: MessageStatus
  /** With `failed`. */
  readonly code?: number
}

/** Columns of what a message goes through at one moment. */
export function timesOf(statuses: readonly MessageStatus[], time: number): Partial<Times> {
  const times: Partial<Times> = {}
  for (const status of statuses) {
    if (status === 'delivered') times.delivered_time = time
    else if (status === 'read') times.read_time = time
    else if (status === 'played') times.played_time = time
    else if (status === 'failed' || status === 'deleted') times.ended_time = time
  }
  return times
}

/** What the business is notified of: `read` only where the user's phone says when it read. */
export function listReported(
  statuses: readonly MessageStatus[],
  { read_receipts }: Pick<PhoneUser, 'read_receipts'>,
): readonly MessageStatus[] {
  return read_receipts ? statuses : statuses.filter((status) => status !== 'read')
}

/**
 * Moves a message to a user forward, and reports each status on the way; nothing happens when the report is not ahead. The message is
 * held. Returns the statuses, also the unreported ones.
 */
async function progressMessage(
  tx: Transaction,
  tools: EventTools,
  number: MessageNumber,
  message: StoredMessage,
  user: PhoneUser,
  { status, code }: Report,
): Promise<readonly MessageStatus[]> {
  const now = tools.clock.now()
  const statuses = moveMessage(message, status, now)
  const state = statuses.at(-1)
  if (state === undefined) return []
  const time = Math.max(now, message.created_time, latestOf(message))
  const error_code = status === 'failed' ? (code ?? null) : message.error_code
  const sent_time = statuses.includes('sent') ? time : message.sent_time
  updateProgress(tx, { ...message, state, error_code, sent_time, ...timesOf(statuses, time) })
  await raiseStatuses(tx, tools, number, { message, time, user, code: error_code }, listReported(statuses, user))
  recordStatuses(tx, tools, message, user.wa_id, statuses, time)
  return statuses
}

/** The same for one participant of a group. The state of the message itself is the furthest of any. */
async function progressRecipient(
  tx: Transaction,
  tools: EventTools,
  number: MessageNumber,
  message: StoredMessage,
  user: PhoneUser,
  { status, code }: Report,
): Promise<readonly MessageStatus[]> {
  const recipient = await lockRecipient(tx, message.id, user.wa_id)
  if (!recipient) return []
  const now = tools.clock.now()
  const statuses = moveMessage({ ...message, state: recipient.state }, status, now)
  const state = statuses.at(-1)
  if (state === undefined) return []
  const time = Math.max(now, message.created_time, latestOf(recipient))
  const error_code = status === 'failed' ? (code ?? null) : recipient.error_code
  await updateRecipient(tx, recipient, { state, error_code, ...timesOf(statuses, time) })
  const ahead = moveMessage(message, status, now)
  if (ahead.length > 0 && status !== 'failed') await updateMessage(tx, message.id, { state })
  await raiseStatuses(tx, tools, number, { message, time, user, code: error_code }, listReported(statuses, user))
  recordStatuses(tx, tools, message, user.wa_id, statuses, time)
  return statuses
}

function latestOf({ delivered_time, read_time, played_time, ended_time }: Times): number {
  return Math.max(delivered_time ?? 0, read_time ?? 0, played_time ?? 0, ended_time ?? 0)
}

/** Takes a message on for the user whom it went to, who may be one of a group. */
export async function progressFor(
  tx: Transaction,
  tools: EventTools,
  number: MessageNumber,
  message: StoredMessage,
  user: PhoneUser,
  report: Report,
): Promise<readonly MessageStatus[]> {
  const progress = message.group_id === null ? progressMessage : progressRecipient
  return progress(tx, tools, number, message, user, report)
}
