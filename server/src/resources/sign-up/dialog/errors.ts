import { defineError } from '../../../graph/define-error.ts'

/* Of the request that opens the dialog: shown on a page, because nothing says yet where the browser may be sent back to. */

export const dialogAppUnknown = defineError({
  id: 'dialog_app_unknown',
  status: 400,
  text: 'client_id: no app has this id; it must be the id of an app of this service.',
})
export const redirectNotListed = defineError({
  id: 'redirect_not_listed',
  status: 400,
  text: 'redirect_uri: it is not one of the redirect_uris of the app; it must be exactly one of them, with the same case, port, path and query.',
})
export const stateTooLong = defineError({
  id: 'state_too_long',
  status: 400,
  text: 'state: it must have at most {max} bytes.',
})
export const dialogScopeUnknown = defineError({
  id: 'dialog_scope_unknown',
  status: 400,
  text: 'scope: it has a name that no business can agree to; it must be some of {scopes}, separated by commas or blanks.',
})
export const challengeMissing = defineError({
  id: 'challenge_missing',
  status: 400,
  text: 'code_challenge_method: it must come with a code_challenge.',
})

/* Of the answer that tests ask for. */

export const autoOnlyInSandbox = defineError({
  id: 'auto_only_in_sandbox',
  status: 400,
  text: 'auto: it must be left out here; only a sandbox takes it, from its own machine.',
})
export const autoFoundNothing = defineError({
  id: 'auto_found_nothing',
  status: 400,
  text: 'auto: there is no such account whose business has a person; the world must have one under `users` of the business.',
})
export const autoNumberUnknown = defineError({
  id: 'auto_number_unknown',
  status: 400,
  text: 'phone_number_id: it must be a phone number of the account.',
})

/* Of a dialog that is under way. */

export const dialogOver = defineError({
  id: 'dialog_over',
  status: 400,
  text: 'This sign-up is over, or it was begun in another browser; it must be begun again in the app.',
})
export const dialogWithdrawn = defineError({
  id: 'dialog_withdrawn',
  status: 400,
  text: 'Since this sign-up began, the app was removed or stopped taking people back at this address; the sign-up must be begun again in the app.',
})
export const disconnectedSince = defineError({
  id: 'disconnected_since',
  status: 422,
  text: 'This sign-up connected the account already, and that connection has ended; to connect the account again, the sign-up must be begun again in the app.',
})
export const dialogForged = defineError({
  id: 'dialog_forged',
  status: 403,
  text: 'This form was sent by another website; a sign-up must be answered on its own page.',
})
export const nobodySignsInHere = defineError({
  id: 'nobody_signs_in_here',
  status: 403,
  text: 'A person can be chosen freely only in a sandbox, on its own machine; here a person must sign in, with a code from whoever runs this service.',
})
export const personCodeWrong = defineError({
  id: 'person_code_wrong',
  status: 422,
  text: 'This code is wrong, too old, or was used; ask whoever runs this service for a new one.',
})
/* Of signing in at the issuer. */

export const issuerDeclined = defineError({
  id: 'issuer_declined',
  status: 403,
  text: 'The sign-in was declined at {host}; sign in there, or with a code from whoever runs this service.',
})
export const issuerRefused = defineError({
  id: 'issuer_refused',
  status: 400,
  text: 'The sign-in at {host} cannot be verified; sign in there again.',
})
export const emailNotVerified = defineError({
  id: 'email_not_verified',
  status: 403,
  text: 'Your account at {host} has no verified e-mail address; sign in there with another account, or here with a code from whoever runs this service.',
})
export const emailOfNobody = defineError({
  id: 'email_of_nobody',
  status: 403,
  text: 'No business here has a person with the address {email}; ask whoever runs this service to add you to your business, or sign in with another account.',
})
export const signInOver = defineError({
  id: 'sign_in_over',
  status: 400,
  text: 'This sign-in took too long, another one was begun after it, or it was begun in another browser; it must be begun again in the app.',
})

export const personGone = defineError({
  id: 'person_gone',
  status: 422,
  text: 'This person is not there any more; choose another.',
})
export const businessNotOfPerson = defineError({
  id: 'business_not_of_person',
  status: 422,
  text: 'This business is not one of yours; choose another.',
})
export const accountNotOfBusiness = defineError({
  id: 'account_not_of_business',
  status: 422,
  text: 'This account is not one of the business; choose another.',
})
export const numberNotOfAccount = defineError({
  id: 'number_not_of_account',
  status: 422,
  text: 'This phone number is not one of the account; choose another.',
})

/* Of the links by which people sign in. */

export const personElsewhere = defineError({
  id: 'person_elsewhere',
  status: 403,
  text: 'The e-mail address of this person is that of a person of a business that this token does not see; the link must be made by an operator who sees them all.',
})
