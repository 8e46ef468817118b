import { defineError, defineProblem } from '../../graph/define-error.ts'

export const numberOrGroup = defineError({
  id: 'number_or_group_required',
  status: 400,
  text: 'phone_number_id: it is required, unless group_id is given instead; send one of them.',
})
export const numberIsNoUser = defineError({
  id: 'number_is_no_user',
  status: 422,
  text: 'This is a phone number of the platform, not a user; use the number of a user.',
})
export const writtenNumberNotRegistered = defineError({
  id: 'written_number_not_registered',
  status: 422,
  text: 'The phone number is not registered; register it before users write to it.',
})
export const notInGroup = defineError({
  id: 'user_not_in_group',
  status: 422,
  text: 'The user is not in the group; let the user join it first.',
})
export const groupUserRequired = defineError({
  id: 'message_user_required',
  status: 400,
  text: 'user_wa_id: it is required for a message of a group; send the digits of one participant.',
})
export const failCodeNotTaken = defineError({
  id: 'fail_code_not_taken',
  status: 400,
  text: 'code: it must be one of {codes}.',
})
export const actionNotPossible = defineError({
  id: 'message_action_not_possible',
  status: 422,
  text: '{action} is not possible with this message, because {reason}; use it with another.',
})
export const choiceUnknown = defineError({
  id: 'message_choice_unknown',
  status: 422,
  text: 'The message offers no such choice; send one of {choices}.',
})
export const nothingToAnswer = defineError({
  id: 'message_has_no_choice',
  status: 422,
  text: 'The message offers nothing to press; use one with buttons, rows or a request.',
})
export const callInstead = defineError({
  id: 'message_button_calls',
  status: 422,
  text: 'The button of this message starts a call; start one at POST /gateway/calls with its message_id.',
})
export const tooManyStreams = defineError({
  id: 'too_many_streams',
  status: 429,
  text: 'Too many streams are open; close one, or try again in {seconds} s.',
})
export const nothingArrived = defineError({
  id: 'nothing_arrived',
  status: 408,
  text: 'No message of the business arrived on the phone within {waited} s; wait again, or send after or since to include earlier ones.',
})
export const otherMessagesArrived = defineError({
  id: 'other_messages_arrived',
  status: 408,
  text: 'No message of that type arrived on the phone within {waited} s, but others did ({others}); wait again, or for one of these.',
})
export const afterNotOfChat = defineProblem({
  id: 'after_not_of_chat',
  text: 'it is not the id of a message in this chat that is on the phone; leave it out and send since.',
})
