import { defineError } from '../../graph/define-error.ts'

export const notAPartner = defineError({
  id: 'not_a_partner',
  status: 403,
  text: 'Only a partner onboards businesses; use a token of an app that is marked as a partner.',
})
export const ownBusiness = defineError({
  id: 'own_business',
  status: 422,
  text: 'A partner onboards other businesses than its own; name the end business in the path.',
})

/** A solution without the partner gets the same response as one that does not exist. */
export const solutionUnknown = defineError({
  id: 'solution_unknown',
  status: 422,
  text: 'There is no solution of that id with this app in it; leave solution_id out or correct it.',
})
export const solutionRejected = defineError({
  id: 'solution_rejected',
  status: 422,
  text: 'The solution was rejected; leave solution_id out or name one that was not.',
})
export const noEligibleAccount = defineError({
  id: 'no_eligible_account',
  status: 422,
  text: 'The business has no account whose review is APPROVED and that this token may onboard; it must share one with the partner or let the partner manage one on its behalf.',
})
