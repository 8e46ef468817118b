import { defineError, defineProblem } from '../../graph/define-error.ts'
import { generalSubcode } from '../../limits/errors.ts'

export const minNameLength = 2

export const phoneNumberNotReal = defineError({
  id: 'phone_number_not_real',
  status: 400,
  text: 'phone_number: it must be a phone number that can exist, with its country code, such as 16315551001.',
})
export const phoneNumberNotOfCountry = defineError({
  id: 'phone_number_not_of_country',
  status: 400,
  text: 'phone_number: it must be a phone number that can exist under the country code {cc}.',
})
export const displayNameTooShort = defineProblem({
  id: 'display_name_too_short',
  text: `it must have at least ${minNameLength} characters, not counting blanks around it.`,
})
export const codeFormWrong = defineError({
  id: 'code_form_wrong',
  status: 400,
  text: 'code: it must be a code of {digits} digits.',
})
export const overrideNotAUrl = defineError({
  id: 'override_not_a_url',
  status: 400,
  text: 'webhook_configuration.override_callback_uri: it must be an http or https URL, or empty.',
})
export const onlyIfWithoutRemoval = defineError({
  id: 'only_if_without_removal',
  status: 400,
  text: 'webhook_configuration.only_if: it must come with temporary: true and an empty override_callback_uri, which remove that URL.',
})
export const pinsDiffer = defineError({
  id: 'pins_differ',
  status: 400,
  text: 'pin: it differs from whatsapp_business_api_data.pin; send one of them, or the same twice.',
})
export const accountIsFull = defineError({
  id: 'account_is_full',
  status: 403,
  text: 'The account has {max} phone numbers, which is the most that one can have; use another account.',
})
export const appNotLinked = defineError({
  id: 'app_not_linked',
  status: 403,
  text: "The token's app is not linked to the account; link it with POST /{Account-ID}/subscribed_apps first.",
})
export const numberOnPlatform = defineError({
  id: 'number_on_platform',
  status: 422,
  text: 'The phone number is on the platform already; numbers are not moved between accounts, use another.',
})
export const numberVerified = defineError({
  id: 'number_verified',
  status: 422,
  text: 'The phone number is verified already; no code is needed.',
})
export const numberNotVerified = defineError({
  id: 'number_not_verified',
  status: 422,
  text: 'The phone number is not verified; request a code and verify it first.',
})
export const numberLinkEnded = defineError({
  id: 'number_link_ended',
  status: 422,
  text: 'The phone number is no longer linked to its account; only a linked number can be registered.',
})
export const numberNotLinked = defineError({
  id: 'number_not_linked',
  status: 422,
  text: 'The phone number is not linked in the hosted system; only a linked number can be deregistered.',
})
export const numberNotRegistered = defineError({
  id: 'number_not_registered',
  status: 422,
  text: 'The phone number is not registered; register it first.',
})
export const numberHeldByPlatform = defineError({
  id: 'number_held_by_platform',
  status: 422,
  text: 'The platform has flagged or restricted the phone number; its connection can be changed when that is lifted.',
})
export const smallBusinessNumber = defineError({
  id: 'small_business_number',
  status: 422,
  text: 'Numbers of a small-business account cannot be deregistered; only those of other accounts can.',
})
export const noCodeWaiting = defineError({
  id: 'no_code_waiting',
  status: 422,
  text: 'No code is waiting for this phone number; request one with request_code.',
})
export const codeExpired = defineError({
  id: 'code_expired',
  status: 422,
  text: 'The code has expired; request a new one with request_code.',
})
export const codeWrong = defineError({
  id: 'code_wrong',
  status: 422,
  text: 'The code is wrong; send the newest one that the phone number received{left}.',
})
export const pinWrong = defineError({
  id: 'pin_wrong',
  status: 422,
  code: 133005,
  text: 'The PIN is not the two-step verification PIN of this phone number; send the right one, or set a new one first.',
})
export const usernameTaken = defineError({
  id: 'username_taken',
  status: 422,
  text: 'The username {username} is taken; choose another.',
})
export const connectionStatusNotSettable = defineError({
  id: 'connection_status_not_settable',
  status: 422,
  text: 'Only the platform sets the connection status {status}; set {settable}.',
})
export const appNotSubscribed = defineError({
  id: 'app_not_subscribed',
  status: 422,
  text: "The token's app has no webhook subscription; create one with POST /{Application-ID}/subscriptions first.",
})
export const tooManyWrongCodes = defineError({
  id: 'too_many_wrong_codes',
  status: 429,
  subcode: generalSubcode,
  text: 'Too many wrong codes were sent for this phone number; try again in {seconds} s.',
})
