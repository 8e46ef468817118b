import type { Transaction } from '../../../db/database.ts'
import type { MessagesTable } from '../../../db/tables.ts'
import { type NewStreamEvent, recordForStream } from '../../../stream/stream-record.ts'
import { type EventTools, writeSeconds } from './events.ts'
import type { MessageStatus } from './states.ts'

type StreamedMessage = Pick<MessagesTable, 'id' | 'phone_number_id' | 'user_wa_id' | 'group_id'>

/** A message that was sent, in either direction, for the users' stream. */
export function streamMessage({ id, phone_number_id, user_wa_id, group_id }: StreamedMessage): NewStreamEvent {
  return { type: 'message', phone_number_id, user_wa_id, group_id, message_id: id }
}

/** What happened to a message, also what the business is not notified of; without a user it is about a whole group. */
export function streamStatuses(
  { id, phone_number_id, group_id }: StreamedMessage,
  user_wa_id: string | null,
  statuses: readonly MessageStatus[],
  time: number,
): NewStreamEvent[] {
  const timestamp = writeSeconds(time)
  return statuses.map((status) => ({
    type: 'status',
    phone_number_id,
    user_wa_id,
    group_id,
    message_id: id,
    data: { id, status, ...(user_wa_id !== null && { user_wa_id }), timestamp },
  }))
}

export function streamTyping(phone_number_id: string, user_wa_id: string, until: number): NewStreamEvent {
  const data = { phone_number_id, user_wa_id, until: writeSeconds(until) }
  return { type: 'typing', phone_number_id, user_wa_id, data }
}

/** Records statuses of one message for the users' stream. */
export function recordStatuses(
  tx: Transaction,
  { clock }: Pick<EventTools, 'clock'>,
  message: StreamedMessage,
  user_wa_id: string | null,
  statuses: readonly MessageStatus[],
  time: number,
): void {
  recordForStream(tx, clock.now(), () => streamStatuses(message, user_wa_id, statuses, time))
}
