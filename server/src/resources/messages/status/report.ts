import type { Random } from '../../../base/keys/random.ts'
import type { Transaction } from '../../../db/database.ts'
import { deleteContent, findPerson, findSender, lockMessage, type StoredMessage, updateMessage } from '../store.ts'
import { type EventTools, raiseStatuses } from './events.ts'
import { isFailureCode } from './failures.ts'
import { isBlockedByUser } from './phone.ts'
import { progressFor } from './progress.ts'
import { type MessageStatus, messageStatuses, moveMessage } from './states.ts'
import { recordStatuses } from './stream-events.ts'

/** A status as the edge hands it in. */
export interface HandedStatus {
  readonly id: string
  readonly status: string
  readonly recipient_participant_id?: unknown
  readonly errors?: unknown
}

export interface ReportTools extends EventTools {
  readonly random: Random
}

/** Takes a status of a message that is known here; false where it is not, and is passed on as it came. */
export async function takeHandedStatus(
  tx: Transaction,
  tools: ReportTools,
  phone_number_id: string,
  handed: HandedStatus,
): Promise<boolean> {
  const message = await lockMessage(tx, handed.id)
  if (message?.phone_number_id !== phone_number_id) return false
  const status = messageStatuses.find((known) => known === handed.status)
  if (status === 'deleted') {
    if (message.direction === 'to_business') await deleteIncoming(tx, tools, message)
    return true
  }
  // Of what came in nothing else can be reported, so it is about another message of the edge's.
  if (status === undefined || message.direction === 'to_business') return false
  const participant = handed.recipient_participant_id
  const user = message.group_id === null ? message.user_wa_id : typeof participant === 'string' ? participant : null
  if (user !== null) await reportStatus(tx, tools, message, user, status, codeOf(handed))
  return true
}

function codeOf({ errors }: HandedStatus): number | undefined {
  const [first] = Array.isArray(errors) ? errors : []
  const code = Number((first as { code?: unknown } | undefined)?.code)
  return isFailureCode(code) ? code : undefined
}

/** Takes a message on for a user, as the gateway reports it. A user who blocked the number gets nothing, and no event is raised. */
export async function reportStatus(
  tx: Transaction,
  tools: EventTools,
  message: StoredMessage,
  user_wa_id: string,
  status: MessageStatus,
  code?: number,
): Promise<void> {
  if (message.group_id === null && (await isBlockedByUser(tx, message.phone_number_id, user_wa_id))) return
  const number = await findSender(tx, message.phone_number_id)
  const user = await findPerson(tx, number.id, user_wa_id)
  await progressFor(tx, tools, number, message, user, {
    status,
    ...(status === 'failed' && { code: code ?? 131026 }),
  })
}

/** A user takes back a message that the user sent: its content goes, and the business is notified. */
export async function deleteIncoming(tx: Transaction, tools: ReportTools, message: StoredMessage): Promise<boolean> {
  const { clock } = tools
  const now = clock.now()
  if (moveMessage(message, 'deleted', now).length === 0) return false
  const time = Math.max(now, message.created_time)
  await updateMessage(tx, message.id, { state: 'deleted', ended_time: time })
  await deleteContent(tx, tools, message.id)
  recordStatuses(tx, tools, message, message.user_wa_id, ['deleted'], time)
  const number = await findSender(tx, message.phone_number_id)
  const user = await findPerson(tx, number.id, message.user_wa_id ?? '')
  // What a blocked user wrote was never reported either.
  if (user.isBlocked && message.group_id === null) return true
  await raiseStatuses(tx, tools, number, { message: { ...message, group_id: null }, time, user }, ['deleted'])
  return true
}
