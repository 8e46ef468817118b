import { second } from '../../base/time/duration.ts'
import type { CallsTable } from '../../db/tables.ts'
import type { Settings } from '../../graph/settings.ts'
import type { NewStreamEvent } from '../../stream/stream-record.ts'
import { findFindings } from './sdp/findings.ts'

/** A call as a list at the gateway has it, without session descriptions. */
export function listCall(call: CallsTable) {
  const { id, phone_number_id, user_wa_id, direction, state, ending, created_time, accepted_time, ended_time } = call
  return {
    id,
    phone_number_id,
    user_wa_id,
    direction,
    state,
    ...(ending !== null && { ending }),
    created_time: new Date(created_time).toISOString(),
    ...(accepted_time !== null && { accepted_time: new Date(accepted_time).toISOString() }),
    ...(ended_time !== null && { ended_time: new Date(ended_time).toISOString() }),
  }
}

export function showCall(call: CallsTable, { callMediaTimeout }: Pick<Settings, 'callMediaTimeout'>) {
  const { business_session, user_session } = call
  return {
    ...listCall(call),
    sdp: {
      ...(business_session && { business: business_session.sdp }),
      ...(user_session && { user: user_session.sdp }),
    },
    findings: findFindings(call),
    ...(callMediaTimeout !== undefined && { media_timeout: callMediaTimeout / second }),
  }
}

/** A call after a change, for the users' stream. */
export function streamCall(call: CallsTable): NewStreamEvent {
  const { phone_number_id, user_wa_id } = call
  return { type: 'call', phone_number_id, user_wa_id, data: listCall(call) }
}
