import { defineError, defineProblem } from '../graph/define-error.ts'

export const maxUrlLength = 2000

export const urlTooLong = defineProblem({
  id: 'url_too_long',
  text: `it must have at most ${maxUrlLength} characters.`,
})
export const notAUrl = defineProblem({
  id: 'not_a_url',
  text: 'it must be an {wanted} such as https://example.com/webhooks.',
})
export const urlWithPassword = defineProblem({
  id: 'url_with_password',
  text: 'it must hold no user name or password; a secret can be part of its query.',
})
export const urlWithFragment = defineProblem({
  id: 'url_with_fragment',
  text: 'it must have no fragment, because a fragment is never sent; leave out what follows the #.',
})
export const urlPortWrong = defineProblem({ id: 'url_port_wrong', text: 'its port must be from 1 to 65535.' })
export const urlNotHttps = defineProblem({
  id: 'url_not_https',
  text: 'it must be an https URL; plain http is not allowed here.',
})
export const urlInternal = defineProblem({
  id: 'url_internal',
  text: 'its host must be one that the public internet can reach, not an internal one.',
})
export const callbackRedirects = defineError({
  id: 'callback_redirects',
  status: 422,
  text: 'The callback could not be verified: it responded with {status}, and redirects are not followed; give the address that responds with 200 itself.',
})
export const callbackTokenRefused = defineError({
  id: 'callback_token_refused',
  status: 422,
  text: 'The callback could not be verified: it refused the verify token with {status}; send the verify token that the receiver expects, and let it respond with 200 and the value of hub.challenge.',
})
export const callbackStatusWrong = defineError({
  id: 'callback_status_wrong',
  status: 422,
  text: 'The callback could not be verified: it responded with {status}; it must respond with 200 and the value of hub.challenge as the body.',
})
export const callbackBodyWrong = defineError({
  id: 'callback_body_wrong',
  status: 422,
  text: 'The callback could not be verified: it responded with 200 and another body than the value of hub.challenge; check that the receiver expects this verify token, and let it send exactly that value.',
})
export const callbackNotAllowed = defineError({
  id: 'callback_not_allowed',
  status: 422,
  text: 'The callback could not be verified: {reason}; give an allowed address.',
})
export const callbackUnreachable = defineError({
  id: 'callback_unreachable',
  status: 422,
  text: 'The callback could not be verified: {reason}; try again when it responds with 200 and the value of hub.challenge.',
})
