import { explainFailure, isExpired } from '../../messages/public.ts'
import type { MessageFacts, RecipientCount } from './facts.ts'
import { lowerFirst, writeMoment, writeSpan } from './spans.ts'

/** What became of a message, in one or two sentences. */
export function judgeMessage(message: MessageFacts, now: number): string {
  if (message.direction === 'to_business') return judgeIncoming(message)
  if (message.state === 'failed') return writeFailure(message.error_code)
  if (message.group_id !== null && message.recipients.length > 0) return judgeGroupMessage(message, now)
  switch (message.state) {
    case 'accepted':
      return isExpired(message, now) ? writeDropped(message) : judgeAccepted(message)
    case 'sent':
      return judgeSent(message, now)
    case 'delivered':
      return `Delivered to the user's phone${writeAfter(message, message.delivered_time)}. The user has not read it yet.`
    case 'read':
      return `Read by the user${writeAfter(message, message.read_time)}.${noteReceipts(message)}`
    case 'played':
      return `Played by the user${writeAfter(message, message.played_time)}.${noteReceipts(message)}`
    case 'deleted':
      return 'Deleted.'
  }
}

function judgeIncoming({ state, isUserBlocked }: MessageFacts): string {
  const blocked = isUserBlocked ? ' The number has blocked this user, so no webhook reports the message.' : ''
  switch (state) {
    case 'deleted':
      return `Received from the user, who deleted it afterwards.${blocked}`
    case 'read':
      return `Received from the user, and marked as read by the business.${blocked}`
    default:
      return `Received from the user. The business has not marked it as read.${blocked}`
  }
}

function writeFailure(code: number | null): string {
  return code === null ? 'Failed.' : `Failed: ${code}, ${lowerFirst(explainFailure(code))}`
}

function judgeAccepted({ isFetching }: MessageFacts): string {
  return isFetching
    ? 'Accepted, not sent yet: it waits for the file behind its link, which is being fetched.'
    : 'Accepted, not sent yet.'
}

function judgeSent(message: MessageFacts, now: number): string {
  const { type, ended_time, expires_time, isNumberBlocked, isOnline } = message
  if (type === 'reaction') return 'Sent. A reaction has no further status.'
  if (ended_time !== null) return 'Sent, but never delivered: the user had blocked the number.'
  if (isExpired(message, now)) return writeDropped(message)
  if (isNumberBlocked) return 'Sent, but not delivered: the user has blocked the number.'
  if (isOnline) return "Sent. It is on its way to the user's phone."
  const end =
    expires_time === null ? '' : ` It is dropped at ${writeMoment(expires_time)} unless the phone comes online.`
  return `Sent, not delivered yet: it waits for the user's phone, which is offline.${end}`
}

function writeDropped({ expires_time }: MessageFacts): string {
  const time = expires_time === null ? 'in time' : `before ${writeMoment(expires_time)}`
  return `Dropped: the user's phone did not take it ${time}. Send it again.`
}

/** Each participant gets the message on a way of its own. */
function judgeGroupMessage(message: MessageFacts, now: number): string {
  if (message.state === 'accepted') return judgeAccepted(message)
  const total = message.recipients.reduce((sum, { count }) => sum + count, 0)
  const isOver = isExpired({ ...message, state: 'sent' }, now)
  const parts = message.recipients.map((one) => describeRecipients(one, isOver)).join('; ')
  return `Sent to a group of ${total} ${total === 1 ? 'participant' : 'participants'}: ${parts}.`
}

function describeRecipients({ state, error_code, count }: RecipientCount, isOver: boolean): string {
  if (state === 'failed') return `${count} ${lowerFirst(writeFailure(error_code)).replace(/\.$/, '')}`
  if (state === 'sent' || state === 'accepted') return `${count} ${isOver ? 'dropped' : 'not delivered yet'}`
  return `${count} ${state}`
}

function writeAfter({ sent_time }: MessageFacts, time: number | null): string {
  return sent_time === null || time === null ? '' : `, ${writeSpan(time - sent_time)} after it was sent`
}

function noteReceipts({ hasReadReceipts }: MessageFacts): string {
  return hasReadReceipts ? '' : " The user's phone sends no read receipts, so no webhook reports that."
}
