import type { CallsTable, PhoneNumbersTable } from '../../db/tables.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'

/** The number of a call, as far as events include it. */
export type CallNumber = Pick<PhoneNumbersTable, 'id' | 'account_id' | 'phone_number'>

type CallStatus = 'RINGING' | 'ACCEPTED' | 'REJECTED'

/** A user calls, with the offer; or the called user has picked up, with the answer. */
export function buildConnectEvent(vocabulary: Vocabulary, number: CallNumber, call: CallsTable, time: number): object {
  const { id, direction, user_session } = call
  return {
    ...describeNumber(vocabulary, number),
    ...describeCaller(call),
    calls: [
      {
        id,
        ...describeSides(number, call),
        event: 'connect',
        timestamp: writeSeconds(time),
        direction,
        ...describeButton(call),
        ...(user_session !== null && {
          session: { sdp_type: user_session.sdp_type, sdp: endLastLine(user_session.sdp) },
        }),
      },
    ],
  }
}

/** Some stacks refuse a description whose last line has no end. */
function endLastLine(sdp: string): string {
  return sdp.endsWith('\n') ? sdp : `${sdp}\r\n`
}

/** The progress of a business's call at the user's phone. */
export function buildStatusEvent(
  vocabulary: Vocabulary,
  number: CallNumber,
  call: CallsTable,
  status: CallStatus,
  time: number,
): object {
  return {
    ...describeNumber(vocabulary, number),
    statuses: [
      {
        id: call.id,
        type: 'call',
        status,
        timestamp: writeSeconds(time),
        recipient_id: call.user_wa_id,
        ...describeCallbackData(call),
      },
    ],
  }
}

/** A call has ended; it is completed if it was picked up, and then has times. */
export function buildTerminateEvent(
  vocabulary: Vocabulary,
  number: CallNumber,
  call: CallsTable,
  time: number,
): object {
  return {
    ...describeNumber(vocabulary, number),
    calls: [
      {
        id: call.id,
        ...describeSides(number, call),
        event: 'terminate',
        direction: call.direction,
        timestamp: writeSeconds(time),
        status: call.ending === 'completed' ? 'COMPLETED' : 'FAILED',
        ...describeTimes(call),
        ...describeButton(call),
        ...describeCallbackData(call),
      },
    ],
  }
}

function describeNumber(vocabulary: Vocabulary, { id, phone_number }: CallNumber) {
  return {
    messaging_product: vocabulary.product,
    metadata: { display_phone_number: phone_number, phone_number_id: id },
  }
}

/** Client libraries read the name of every calling user, so a user without a name is called by the number. */
function describeCaller({ direction, user_name, user_wa_id }: CallsTable) {
  if (direction === 'BUSINESS_INITIATED') return {}
  return { contacts: [{ profile: { name: user_name ?? user_wa_id }, wa_id: user_wa_id }] }
}

function describeSides({ phone_number }: CallNumber, { direction, user_wa_id }: CallsTable) {
  return direction === 'BUSINESS_INITIATED'
    ? { from: phone_number, to: user_wa_id }
    : { from: user_wa_id, to: phone_number }
}

function describeTimes({ accepted_time, ended_time }: CallsTable) {
  if (accepted_time === null || ended_time === null) return {}
  return {
    start_time: writeSeconds(accepted_time),
    end_time: writeSeconds(ended_time),
    duration: toSeconds(ended_time) - toSeconds(accepted_time),
  }
}

function describeButton({ user_session }: CallsTable) {
  const cta_payload = user_session?.cta_payload
  return cta_payload === undefined ? {} : { cta_payload }
}

function describeCallbackData({ biz_opaque_callback_data }: CallsTable) {
  return biz_opaque_callback_data === null ? {} : { biz_opaque_callback_data }
}

function toSeconds(time: number): number {
  return Math.floor(time / 1000)
}

function writeSeconds(time: number): string {
  return String(toSeconds(time))
}
