import { defineError } from '../../graph/define-error.ts'

export const recipientRequired = defineError({
  id: 'recipient_required',
  status: 400,
  text: 'to: it is required with connect.',
})
export const callIdRequired = defineError({
  id: 'call_id_required',
  status: 400,
  text: 'call_id: it is required, unless "to" names the user of an open call.',
})
export const sessionNotTaken = defineError({
  id: 'session_not_taken',
  status: 400,
  text: 'session: it is allowed with connect, pre_accept or accept; leave it out with {action}.',
})
export const sessionRequired = defineError({
  id: 'session_required',
  status: 400,
  text: 'session: it is required with accept, unless pre_accept gave it.',
})
export const offerMissing = defineError({
  id: 'call_offer_missing',
  status: 400,
  text: 'session: it is required with connect; send the offer of the business.',
})
export const reasonNotTaken = defineError({
  id: 'call_reason_not_taken',
  status: 400,
  text: 'reason: it is allowed with terminate; leave it out with {action}.',
})
export const sdpTypeWrong = defineError({
  id: 'sdp_type_wrong',
  status: 400,
  text: 'session.sdp_type: it must be {expected} with {action}.',
})
export const offerRequired = defineError({
  id: 'offer_required',
  status: 400,
  text: 'session.sdp_type: it must be offer when a call starts.',
})
export const sessionRefused = defineError({
  id: 'session_refused',
  status: 400,
  text: 'session.sdp: {fault}; {advice} ({code}).',
})
export const callingOff = defineError({
  id: 'calling_off',
  status: 403,
  code: 10,
  text: 'Calling is switched off for this phone number; have it switched on first.',
})
export const noCallButton = defineError({
  id: 'call_button_missing',
  status: 422,
  text: 'The message has no button that calls; send the message_id of an interactive message of type voice_call or of a template with a VOICE_CALL button, or none.',
})
export const callButtonExpired = defineError({
  id: 'call_button_expired',
  status: 422,
  text: 'The button of the message has expired; call without message_id.',
})
export const noCallPermission = defineError({
  id: 'no_call_permission',
  status: 403,
  code: 138006,
  text: 'The user has not given this number permission to call: it is {status}; ask for it, and call when it is granted.',
})
export const callerNotRegistered = defineError({
  id: 'caller_not_registered',
  status: 422,
  text: 'The phone number is not registered; register it before calling.',
})
export const callIsOpen = defineError({
  id: 'call_is_open',
  status: 422,
  code: 138003,
  text: 'A call between this number and this user is open; wait until it has ended.',
})
export const noOpenCall = defineError({
  id: 'no_open_call',
  status: 422,
  text: 'No call between this number and this user is open; give the call_id, or connect first.',
})
export const callHasEnded = defineError({
  id: 'call_has_ended',
  status: 422,
  text: 'The call has ended, so {action} is not possible any more; only an open call can be changed.',
})
export const callActionNotPossible = defineError({
  id: 'call_action_not_possible',
  status: 422,
  text: 'The {caller} started the call and it is {state}, so {action} by the {side} is not possible; possible: {possible}.',
})
export const callLimitReached = defineError({
  id: 'call_limit_reached',
  status: 429,
  code: 138012,
  text: 'The number has started {max} calls to this user within 24 hours, which is the most; try again in {seconds} s.',
})
export const callerIsNumber = defineError({
  id: 'caller_is_number',
  status: 422,
  text: 'The caller is a phone number of this platform, not a user; let a user call.',
})
export const callerBlocked = defineError({
  id: 'caller_blocked',
  status: 422,
  text: 'The number has blocked this user; it must unblock the user before a call can come in.',
})
