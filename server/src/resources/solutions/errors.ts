import { defineError } from '../../graph/define-error.ts'

export const notOwnApplication = defineError({
  id: 'not_own_application',
  status: 403,
  text: 'An app creates only its own solutions; use a token of the application that the path names.',
})
export const notInvited = defineError({
  id: 'not_invited',
  status: 403,
  text: 'Only the partner app of a solution answers its invitation; use a token of that app.',
})
export const messagingHeldTwice = defineError({
  id: 'messaging_held_twice',
  status: 422,
  text: 'Owner and partner cannot both hold MESSAGING; leave it in one of owner_permissions and partner_permissions.',
})
export const messagingHeldByNobody = defineError({
  id: 'messaging_held_by_nobody',
  status: 422,
  text: 'Either the owner or the partner must hold MESSAGING; put it in one of owner_permissions and partner_permissions.',
})
export const partnerIsOwner = defineError({
  id: 'partner_is_owner',
  status: 422,
  text: 'A solution joins two apps; name another app than the owner in partner_app_id.',
})

/** For an app that does not exist and for one that is no partner, so that nobody can probe for apps. */
export const partnerUnknown = defineError({
  id: 'partner_unknown',
  status: 422,
  text: 'There is no partner app of that id; name an app that is marked as a partner in partner_app_id.',
})
export const solutionAnswered = defineError({
  id: 'solution_answered',
  status: 422,
  text: 'The solution was accepted or rejected already; only one that is INITIATED can be accepted or rejected.',
})
