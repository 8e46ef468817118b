import { defineError, defineProblem } from '../../graph/define-error.ts'

export const kindNotTaken = defineError({
  id: 'message_kind_not_taken',
  status: 400,
  code: 131051,
  text: 'type: it is not a kind of message that can be sent; use one of {known}.',
})
export const interactiveKindNotTaken = defineError({
  id: 'interactive_kind_not_taken',
  status: 400,
  code: 131051,
  text: 'interactive.type: it is not a kind of interactive message that can be sent; use one of {known}.',
})
export const kindNotForGroups = defineError({
  id: 'message_kind_not_for_groups',
  status: 400,
  code: 131051,
  text: 'type: {given} cannot be sent to a group; use one of {known}.',
})
export const notOffered = defineProblem({
  id: 'message_member_not_offered',
  text: 'it is not offered; leave it out.',
})
export const recipientNotPossible = defineError({
  id: 'message_recipient_not_possible',
  status: 400,
  text: 'to: it must be a phone number that can exist, in international format with its country code.',
})
export const recipientUnknown = defineError({
  id: 'message_recipient_unknown',
  status: 422,
  code: 131009,
  text: 'recipient: this business has no user with such an id; use the user_id of a webhook or a response, or give the phone number in to.',
})
export const statusNotTaken = defineError({
  id: 'message_status_not_taken',
  status: 400,
  text: 'status: it must be "read", which marks a message as read; leave it out to send a message.',
})
export const idAndLink = defineProblem({
  id: 'message_media_id_and_link',
  text: 'it must have either an id or a link, and not both.',
})
export const linkNotTaken = defineProblem({
  id: 'message_link_not_taken',
  text: 'it must be an http or https URL without credentials or fragment.',
})
export const captionNotTaken = defineProblem({
  id: 'message_caption_not_taken',
  text: '{type} has no caption; leave it out.',
})
export const memberNotTaken = defineProblem({
  id: 'message_member_not_taken',
  text: 'an interactive message of type {type} has none; leave it out.',
})
export const coordinateNotTaken = defineProblem({
  id: 'message_coordinate_not_taken',
  text: 'it must be a number from {min} to {max}.',
})
export const nameTooShort = defineProblem({
  id: 'message_contact_name_incomplete',
  text: 'it must have one more member besides formatted_name, such as first_name.',
})
export const emojiNotOne = defineProblem({
  id: 'message_emoji_not_one',
  text: 'it must be one emoji, or an empty text to remove the reaction.',
})
export const valuesNotUnique = defineProblem({
  id: 'message_values_not_unique',
  text: 'the same id or title is there twice; give each its own.',
})
export const blanksAround = defineProblem({
  id: 'message_blanks_around',
  text: 'it must not begin or end with blanks.',
})
export const sectionTitleRequired = defineProblem({
  id: 'message_section_title_required',
  text: 'it is required where there are several sections.',
})
export const tooManyRows = defineProblem({
  id: 'message_rows_too_many',
  text: 'it must have at most {max} {rows} over all sections.',
})
export const flowNotOne = defineProblem({
  id: 'message_flow_not_one',
  text: 'it must have either a flow_id or a flow_name, and not both.',
})
export const urlNotTaken = defineProblem({
  id: 'message_url_not_taken',
  text: 'it must be an http or https URL.',
})
export const nothingToShow = defineError({
  id: 'message_nothing_to_show',
  status: 422,
  code: 131009,
  text: '{place}: it shows {what}, and there are no {what} on this platform yet; send a message without them.',
})
export const cardsNotNumbered = defineProblem({
  id: 'message_cards_not_numbered',
  text: 'the cards must have the indexes 0 to {last}, each once.',
})
export const cardButtonsDiffer = defineProblem({
  id: 'message_card_buttons_differ',
  text: 'all cards must have buttons of the same type, and the same number of them.',
})
export const tooManyLines = defineProblem({
  id: 'message_lines_too_many',
  text: 'it must have at most {max} line breaks.',
})
export const senderNotRegistered = defineError({
  id: 'sender_not_registered',
  status: 422,
  code: 133010,
  text: 'The phone number is not registered or not connected; register it before sending.',
})
export const senderRestricted = defineError({
  id: 'sender_restricted',
  status: 403,
  code: 368,
  text: 'The platform has restricted this phone number, so that it cannot send; ask the operator to lift that.',
})
export const accountRejected = defineError({
  id: 'sender_account_rejected',
  status: 403,
  code: 131031,
  text: 'The review of the account was negative, so that its numbers cannot send; ask the operator for another review.',
})
export const recipientIsSender = defineError({
  id: 'recipient_is_sender',
  status: 422,
  code: 131021,
  text: 'The recipient is the sending number itself; send to another number.',
})
export const recipientBlocked = defineError({
  id: 'recipient_blocked',
  status: 422,
  code: 131026,
  text: 'The number has blocked this user; unblock the user before sending.',
})
export const groupUnknown = defineError({
  id: 'message_group_unknown',
  status: 422,
  code: 131041,
  text: 'This number has no such group; list its groups for their ids.',
})
export const groupEmpty = defineError({
  id: 'message_group_empty',
  status: 422,
  code: 131020,
  text: 'Nobody is in the group; wait until a user has joined it.',
})
export const permissionNotNeeded = defineError({
  id: 'call_permission_not_needed',
  status: 422,
  text: 'The permission of this user to be called is {status}; ask only when it is denied or expired.',
})
export const permissionRequestLimit = defineError({
  id: 'call_permission_request_limit',
  status: 429,
  code: 138009,
  text: 'The user was asked for permission to call {max} times within {period}, which is the most; try again in {seconds} s.',
})
export const mediaUnknown = defineError({
  id: 'message_media_unknown',
  status: 422,
  code: 131053,
  text: 'This number has no such media file, or it has expired; upload the file and send its new id.',
})
export const mediaTypeNotTaken = defineError({
  id: 'message_media_type_not_taken',
  status: 422,
  code: 131053,
  text: 'A media file of type {found} cannot be sent as {type}; use one of {types}.',
})
export const templateNotForGroups = defineError({
  id: 'message_template_not_for_groups',
  status: 400,
  code: 131051,
  text: 'A template of the category AUTHENTICATION cannot be sent to a group; send it to each user.',
})
export const incomingUnknown = defineError({
  id: 'incoming_message_unknown',
  status: 422,
  code: 131009,
  text: 'This number has not received such a message from a user, or it is no longer kept; use the id of one that came in by an event.',
})
export const keyUsedDifferently = defineError({
  id: 'idempotency_key_reused',
  status: 422,
  text: 'The Idempotency-Key was used with another body; send a new key with a new message.',
})
export const writerIsNumber = defineError({
  id: 'incoming_writer_is_number',
  status: 422,
  text: 'The sender is a phone number of this platform, not a user; send messages of users.',
})
export const incomingIdTaken = defineError({
  id: 'incoming_id_taken',
  status: 422,
  text: 'Another message has this id; give each message an id of its own.',
})
export const blockedUserNotPossible = defineError({
  id: 'blocked_user_not_possible',
  status: 400,
  text: 'It must be a phone number that can exist, in international format with its country code.',
})
export const userIsNumber = defineError({
  id: 'blocked_user_is_number',
  status: 422,
  code: 131021,
  text: 'This is a phone number of the platform, not a user; only users can be blocked.',
})
export const blockNeedsWindow = defineError({
  id: 'block_needs_window',
  status: 422,
  code: 131047,
  text: 'The user has not written within the service window (24 hours by default); only users who have can be blocked.',
})
export const blockListFull = defineError({
  id: 'block_list_full',
  status: 422,
  code: 139101,
  text: 'The number has blocked {max} users, which is the most; unblock others first.',
})
