import { defineError, defineProblem } from '../../graph/define-error.ts'

export const notForSessions = defineError({
  id: 'not_for_sessions',
  status: 403,
  text: 'A session of the console is of no app, so a token of an app must be sent here.',
})
export const debugNeedsApp = defineError({
  id: 'debug_needs_app',
  status: 403,
  text: "The token must be the app's own, its id and its secret joined by |, or one of an operator.",
})
export const inputTokenOfAnother = defineProblem({
  id: 'input_token_of_another',
  text: 'it belongs to another app, and must be one of the app whose token asks.',
})
export const scopeNotHeld = defineProblem({
  id: 'scope_not_held',
  text: 'it must be a permission that the token has: {held}.',
})
export const tokenStaysWithSecret = defineError({
  id: 'token_stays_with_secret',
  status: 422,
  text: 'The permissions of the token that an app has by its secret cannot be taken back; it must be ended with the secret, by giving the app a new one.',
})
