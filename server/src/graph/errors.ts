import { defineError, defineProblem } from './define-error.ts'

/**
 * The errors that every chapter shares. A sentence says what is wrong and what is right; it never reveals whether an id exists that
 * the caller may not see.
 */

const badTokenSubcode = 463

export const missingToken = defineError({
  id: 'missing_token',
  status: 401,
  code: 104,
  text: 'An access token is required; send it as the header "Authorization: Bearer <ACCESS_TOKEN>".',
})

/** Unknown, revoked and expired tokens get the same response, so that nobody can probe for old ones. */
export const invalidToken = defineError({
  id: 'invalid_token',
  status: 401,
  subcode: badTokenSubcode,
  text: 'The access token is unknown, expired or revoked; ask the operator for a new one.',
})

/** For vocabularies that tell a token's end to whoever holds it. */
export const tokenExpired = defineError({
  id: 'token_expired',
  status: 401,
  subcode: badTokenSubcode,
  text: 'The access token has expired; ask the operator for a new one.',
})
export const tokenRevoked = defineError({
  id: 'token_revoked',
  status: 401,
  subcode: 467,
  text: 'The access token was revoked; ask the operator for a new one.',
})

/** The same for an app of another tenant and for one that there is not. */
export const consoleAppUnseen = defineError({
  id: 'console_app_unseen',
  status: 403,
  text: 'X-Console-App names no app that this session of the console may act for; give the id of an app that it sees.',
})

/** A token of the demo world, from a machine other than the server's. */
export const demoTokenFromElsewhere = defineError({
  id: 'demo_token_from_elsewhere',
  status: 401,
  subcode: badTokenSubcode,
  text: 'The tokens of the demo world work only on the machine of the server; make another with "./switchboard token create", or set ALLOW_DEMO_TOKENS=true there.',
})

/** A body without a valid signature of an app that may send it; unknown accounts get the same response. */
export const invalidSignature = defineError({
  id: 'invalid_signature',
  status: 401,
  subcode: badTokenSubcode,
  text: 'The body is not signed by an app that hears of every account in it; sign its exact bytes with the secret of one that is linked to them, or send a token.',
})

/** A valid but expired signature. */
export const staleSignature = defineError({
  id: 'stale_signature',
  status: 401,
  subcode: badTokenSubcode,
  text: 'The webhook-timestamp lies more than {minutes} minutes from now; sign the post with the time at which it is sent.',
})
export const missingPermission = defineError({
  id: 'missing_permission',
  status: 403,
  text: 'The token lacks the permission {permissions}; use one that has it.',
})

/** The same response for an unknown id and for another tenant's, so that nobody can probe for ids. */
export const notFound = defineError({
  id: 'not_found',
  status: 404,
  text: 'No such object is visible to this token; check the id, and which accounts the token may see.',
})

/** The caller sees the object, but its kind does not have the operation. */
export const wrongKind = defineError({
  id: 'wrong_kind',
  status: 404,
  text: 'The id is that of {kind}, which does not have this operation; use the id of {wanted}.',
})

/** An expired link. Its holder was given it, so the reason may be revealed. */
export const linkExpired = defineError({
  id: 'link_expired',
  status: 404,
  text: 'The address has expired; read the object that it belongs to for a new one.',
})

/** Our own fault. The cause goes to the log, never to the caller. */
export const internalFault = defineError({
  id: 'internal_fault',
  status: 500,
  text: 'Something went wrong on our side; try again, and report the trace id if it happens again.',
})

/** For example while the disk is full. The write was rolled back. */
export const cannotStore = defineError({
  id: 'cannot_store',
  status: 500,
  text: 'Nothing can be stored at the moment, and nothing was changed; try again in {seconds} s.',
})

/** A write that was on its way to the database may have happened. */
export const cannotReachStore = defineError({
  id: 'cannot_reach_store',
  status: 500,
  text: 'The service cannot reach its database; try again in {seconds} s.',
})

/** A write was rolled back, or never begun; a read got no connection. */
export const storeBusy = defineError({
  id: 'store_busy',
  status: 500,
  text: 'Other requests were in the way of this one for too long, and nothing was changed; try again in {seconds} s.',
})
/** Object storage is away, or does not let us in. */
export const cannotReachFiles = defineError({
  id: 'cannot_reach_files',
  status: 500,
  text: 'The service cannot reach the storage of its files, and nothing was changed; try again in {seconds} s.',
})

/** Object storage has no room. */
export const cannotStoreFiles = defineError({
  id: 'cannot_store_files',
  status: 500,
  text: 'The storage of files is full at the moment, and nothing was changed; try again in {seconds} s.',
})

export const bodyBrokeOff = defineError({
  id: 'body_broke_off',
  status: 400,
  text: 'The body broke off before its end; send it again.',
})
export const argumentWrong = defineProblem({ id: 'argument_wrong', text: 'it must be {expected}.' })
export const argumentOfAnotherVocabulary = defineProblem({
  id: 'argument_of_another_vocabulary',
  text: 'it is a name of another vocabulary; write {expected}, or start the server with VOCABULARY={other}.',
})
export const argumentNotJson = defineProblem({
  id: 'argument_not_json',
  text: 'it must be {expected}, written as JSON.',
})
export const argumentMissing = defineProblem({ id: 'argument_missing', text: 'it is required; send {expected}.' })

/** When the schema does not describe the argument. */
export const argumentRequired = defineProblem({ id: 'argument_required', text: 'it is required.' })
export const keyUnknown = defineProblem({ id: 'key_unknown', text: 'it is not a known key; use one of {known}.' })
export const parameterUnknown = defineProblem({
  id: 'parameter_unknown',
  text: 'it is not a parameter of this operation; use one of {known}.',
})
export const parameterNotTaken = defineProblem({
  id: 'parameter_not_taken',
  text: 'it is not a parameter of this operation, which takes none; leave it out.',
})
export const waitTooLong = defineProblem({
  id: 'wait_too_long',
  text: 'it must be a duration of at most 60s, such as 5s.',
})
export const argumentNestedTooDeep = defineProblem({
  id: 'argument_nested_too_deep',
  text: 'it is nested more than {levels} levels deep; send something flatter.',
})
export const argumentHoldsNul = defineProblem({
  id: 'argument_holds_nul',
  text: 'it holds a NUL character; remove it.',
})
export const argumentHoldsHalfCharacter = defineProblem({
  id: 'argument_holds_half_character',
  text: 'it holds half of a surrogate pair; send well-formed Unicode.',
})
export const argumentHoldsTooMuch = defineProblem({
  id: 'argument_holds_too_much',
  text: 'it holds more than {values} values; send less.',
})
export const argumentTooDeep = defineProblem({
  id: 'argument_too_deep',
  text: 'it is nested more than {levels} levels deep; send less.',
})
export const fieldUnknown = defineError({
  id: 'field_unknown',
  status: 400,
  text: 'fields: {field} is not a field; available: {available}.',
})
export const bothCursors = defineError({
  id: 'both_cursors',
  status: 400,
  text: 'after: it came together with before; send one of them.',
})
export const limitTwice = defineError({
  id: 'limit_twice',
  status: 400,
  text: '{one}: it came together with {other}, which is another name of it; send one of them.',
})
export const cursorUnknown = defineProblem({
  id: 'cursor_unknown',
  text: 'the cursor is not one of this list in this order; take it from paging.cursors, or leave it out to start from the beginning.',
})

const filteringExample = '[{"field":"…","operator":"EQUAL","value":"…"}]'

export const filteringNotJson = defineError({
  id: 'filtering_not_json',
  status: 400,
  text: `filtering: it is not JSON; send an array such as ${filteringExample}.`,
})
export const filteringNotAnArray = defineError({
  id: 'filtering_not_an_array',
  status: 400,
  text: `filtering: it must be an array such as ${filteringExample}.`,
})
export const filteringTooLong = defineError({
  id: 'filtering_too_long',
  status: 400,
  text: 'filtering: it must have at most {max} conditions.',
})
export const conditionNotAnObject = defineProblem({
  id: 'condition_not_an_object',
  text: 'it must be an object such as {"field":"…","operator":"EQUAL","value":"…"}.',
})
export const conditionValueNotAnArray = defineProblem({
  id: 'condition_value_not_an_array',
  text: 'it must be an array of 1 to 100 values with {operator}.',
})
