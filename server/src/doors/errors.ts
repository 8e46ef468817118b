import { defineError, defineProblem } from '../graph/define-error.ts'

export const questionRequired = defineProblem({ id: 'question_required', text: 'it is required; send it once.' })
export const hubModeWrong = defineError({ id: 'hub_mode_wrong', status: 400, text: 'hub.mode: it must be subscribe.' })
export const verifyTokenUnknown = defineError({
  id: 'verify_token_unknown',
  status: 403,
  text: 'The verify token is not one that an app of this service is subscribed with; use one that is.',
})
