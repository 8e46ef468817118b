import type { Transaction } from '../../../db/database.ts'
import type { ChatsTable, MessageRecipientsTable } from '../../../db/tables.ts'
import type { Settings } from '../../../graph/settings.ts'
import { type NewStreamEvent, recordForStream } from '../../../stream/stream-record.ts'
import { raiseStatuses } from '../status/events.ts'
import { actAtOnce, type PhoneTools, schedulePhone } from '../status/phone.ts'
import { listReported, timesOf } from '../status/progress.ts'
import type { MessageStatus } from '../status/states.ts'
import { streamMessage, streamStatuses } from '../status/stream-events.ts'
import { insertRecipient, type NewMessage, type Person, updateMessage, updateRecipient } from '../store.ts'
import type { Audience } from './audience.ts'

/** What a message goes through at the time at which it is sent: the phone of a user may have it at once. */
export function decideStatuses(
  type: string,
  { blocked }: Pick<ChatsTable, 'blocked'>,
  user: Person | undefined,
  settings: Settings,
): readonly MessageStatus[] {
  return user && !blocked && type !== 'reaction' ? ['sent', ...actAtOnce(user, settings)] : ['sent']
}

/** A message that was stored, with what it goes through now. */
export interface Dispatch {
  readonly message: NewMessage
  readonly audience: Audience
  readonly statuses: readonly MessageStatus[]
  readonly time: number
  /** It was accepted earlier, and its participants are stored. */
  readonly wasAccepted?: boolean
}

/** Reports what a message that was just stored as sent or failed went through, and lets the phones of its users take it on. */
export async function dispatchToRecipients(tx: Transaction, tools: PhoneTools, dispatch: Dispatch): Promise<void> {
  const { message, audience, statuses, time } = dispatch
  const { user, sender, chat } = audience
  const report = { message, time, code: message.error_code, ...(user && { user }) }
  await raiseStatuses(tx, tools, sender, report, user ? listReported(statuses, user) : statuses)
  const isSent = statuses[0] === 'sent'
  if (isSent && user && !chat.blocked && message.type !== 'reaction') {
    await schedulePhone(tx, tools, message.id, user, statuses.at(-1))
  }
  const ofParticipants = isSent && audience.participants.length > 0 ? await sendToParticipants(tx, tools, dispatch) : []
  recordForStream(tx, time, () => [
    // A user who blocked the number gets nothing.
    ...(isSent && !chat.blocked ? [streamMessage(message)] : []),
    ...streamStatuses(message, message.user_wa_id, statuses, time),
    ...ofParticipants,
  ])
}

/** Each participant gets the message on its own way, behind the group's `sent`. Returns the entries for the users' stream. */
async function sendToParticipants(
  tx: Transaction,
  tools: PhoneTools,
  { message, audience, time, wasAccepted }: Dispatch,
): Promise<NewStreamEvent[]> {
  const streamed: NewStreamEvent[] = []
  let furthest: MessageStatus = 'sent'
  for (const user of audience.participants) {
    const failed = user.isNumber || !user.reachable
    const statuses: readonly MessageStatus[] = failed ? ['failed'] : actAtOnce(user, tools.settings)
    const state = statuses.at(-1) ?? 'sent'
    if (!failed && state !== 'sent' && furthest !== 'read') furthest = state
    const recipient: MessageRecipientsTable = {
      ...newRecipient(message.id, user),
      state,
      error_code: failed ? 131026 : null,
      ...timesOf(statuses, time),
    }
    if (wasAccepted) await updateRecipient(tx, recipient, recipient)
    else insertRecipient(tx, recipient)
    const report = { message, time, user, code: 131026 }
    await raiseStatuses(tx, tools, audience.sender, report, listReported(statuses, user))
    streamed.push(...streamStatuses(message, user.wa_id, statuses, time))
    if (!failed) await schedulePhone(tx, tools, message.id, user, state)
  }
  if (furthest !== 'sent') await updateMessage(tx, message.id, { state: furthest })
  return streamed
}

/** A participant whom a message has not reached yet. */
export function newRecipient(message_id: string, { wa_id }: Person): MessageRecipientsTable {
  return {
    message_id,
    user_wa_id: wa_id,
    state: 'accepted',
    error_code: null,
    delivered_time: null,
    read_time: null,
    played_time: null,
    ended_time: null,
  }
}
