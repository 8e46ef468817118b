import { defineError, defineProblem } from '../../graph/define-error.ts'

/** The same for an app that does not exist, so that nobody can probe for apps. */
export const clientSecretWrong = defineError({
  id: 'client_secret_wrong',
  status: 400,
  code: 1,
  text: 'The client_id and the client_secret are not those of one app; send the id of the app and its current secret.',
})

/** Of another app, ended with its connection, used, expired or made up. */
export const codeUsedOrOld = defineError({
  id: 'code_used_or_old',
  status: 400,
  subcode: 36007,
  text: 'The code is unknown, used or too old; a code must be exchanged once, by the app that it was given to, soon after the sign-up.',
})
export const redirectDiffers = defineError({
  id: 'redirect_differs',
  status: 400,
  subcode: 36008,
  text: 'The redirect_uri differs from that of the sign-up; it must be the same to the letter, or left out.',
})
export const verifierWrong = defineError({
  id: 'code_verifier_wrong',
  status: 400,
  subcode: 36009,
  text: 'The code_verifier does not fit the code_challenge of the sign-up; send the text of 43 to 128 characters whose SHA-256 that is, or leave it out where there was none.',
})
export const tokenNotExchanged = defineError({
  id: 'token_not_exchanged',
  status: 400,
  code: 190,
  text: 'The fb_exchange_token cannot be exchanged by this app; it must be a valid token of this app, but not its app token, nor one with the scope operator or gateway.',
})
export const neededForGrant = defineProblem({
  id: 'needed_for_grant',
  text: 'it must be sent for this grant_type.',
})
