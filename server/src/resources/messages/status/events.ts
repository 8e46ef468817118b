import type { ScopedNumbers } from '../../../base/text/scoped-numbers.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Transaction } from '../../../db/database.ts'
import type { MessagesTable } from '../../../db/tables.ts'
import { conversations } from '../../../delivery/raise/conversation.ts'
import type { NewEvent } from '../../../delivery/raise/new-event.ts'
import { raiseEvents } from '../../../delivery/raise/outbox.ts'
import type { Vocabulary } from '../../../graph/vocabulary.ts'
import type { MessageNumber, Person } from '../store.ts'
import { describeFailure } from './failures.ts'
import type { MessageStatus } from './states.ts'

export interface EventTools {
  readonly clock: Clock
  readonly vocabulary: Vocabulary
  readonly publicUrl: string
  readonly userIds: ScopedNumbers | undefined
}

/** What a status reports of its message. */
type ReportedMessage = Pick<MessagesTable, 'id' | 'group_id' | 'pricing' | 'biz_opaque_callback_data' | 'direction'>

export interface StatusReport {
  readonly message: ReportedMessage
  readonly status: MessageStatus
  readonly time: number
  /** Whom it is about; left out where it is about a whole group. */
  readonly user?: Pick<Person, 'wa_id' | 'name'>
  /** With `failed`. */
  readonly code?: number | null
}

export function writeSeconds(milliseconds: number): string {
  return String(Math.floor(milliseconds / 1000))
}

/** A user without a name is called by the number. */
export function nameOf({ wa_id, name }: Pick<Person, 'wa_id' | 'name'>): string {
  return name ?? `+${wa_id}`
}

function describeContact(user: Pick<Person, 'wa_id' | 'name'>, user_id: string | undefined) {
  return { profile: { name: nameOf(user) }, wa_id: user.wa_id, ...(user_id !== undefined && { user_id }) }
}

/** Raises statuses of a message, one event each, in order with what else happens in its chat. */
export async function raiseStatuses(
  tx: Transaction,
  tools: EventTools,
  number: MessageNumber,
  report: Omit<StatusReport, 'status'>,
  statuses: readonly MessageStatus[],
): Promise<void> {
  const { message, user } = report
  const conversation =
    message.group_id === null ? conversations.user(number.id, user?.wa_id ?? '') : conversations.group(message.group_id)
  const user_id = user && tools.userIds?.write(number.business_id, user.wa_id)
  const about = {
    messaging_product: tools.vocabulary.product,
    metadata: { display_phone_number: number.phone_number, phone_number_id: number.id },
    ...(user && { contacts: [describeContact(user, user_id)] }),
  }
  const events = statuses.map(
    (status): NewEvent => ({
      account_id: number.account_id,
      phone_number_id: number.id,
      field: 'messages',
      conversation,
      subject_id: message.id,
      value: { ...about, statuses: [describeStatus(tools, { ...report, status }, user_id)] },
    }),
  )
  await raiseEvents(tx, tools.clock, events)
}

function describeStatus(
  { publicUrl }: EventTools,
  { message, status, time, user, code }: StatusReport,
  user_id: string | undefined,
) {
  const { id, group_id, biz_opaque_callback_data } = message
  return {
    id,
    status,
    timestamp: writeSeconds(time),
    ...describeRecipient(group_id, user, user_id),
    ...describePricing(message, status),
    ...(status === 'failed' && { errors: [describeFailure(code ?? 131026, publicUrl)] }),
    ...(biz_opaque_callback_data !== null && { biz_opaque_callback_data }),
  }
}

function describeRecipient(group_id: string | null, user: StatusReport['user'], user_id: string | undefined) {
  if (group_id === null)
    return { recipient_id: user?.wa_id, ...(user_id !== undefined && { recipient_user_id: user_id }) }
  return {
    recipient_id: group_id,
    recipient_type: 'group',
    group_id,
    ...(user && { recipient_participant_id: user.wa_id }),
  }
}

function describePricing({ pricing }: ReportedMessage, status: MessageStatus) {
  if (!pricing || (status !== 'sent' && status !== 'delivered')) return {}
  const { conversation_id, end_time, billable, category, type } = pricing
  return {
    conversation: {
      id: conversation_id,
      ...(status === 'sent' && { expiration_timestamp: writeSeconds(end_time) }),
      origin: { type: category },
    },
    pricing: { billable, pricing_model: 'PMP', category, type },
  }
}
