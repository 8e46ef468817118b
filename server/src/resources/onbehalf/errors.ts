import { defineError, defineProblem } from '../../graph/define-error.ts'

export const requestAnswered = defineError({
  id: 'onbehalf_request_answered',
  status: 422,
  text: 'The request is {status}: it was answered or has ended, and only one that waits can be answered; make another one.',
})
export const accountManaged = defineError({
  id: 'account_managed',
  status: 422,
  text: "Business {business_id} acts on behalf of the account's owner already, and only one can; withdraw that first, or decline the request.",
})
export const requestOfOwner = defineError({
  id: 'onbehalf_request_of_owner',
  status: 422,
  text: 'The business owns the account; name another business in requesting_business_id.',
})
export const requestUnnamed = defineProblem({
  id: 'onbehalf_request_unnamed',
  text: 'it is required unless id names a request; send account_id and requesting_business_id, or the id.',
})
export const requestNamedTwice = defineProblem({
  id: 'onbehalf_request_named_twice',
  text: 'it came together with id, and the request is of another one; leave it out.',
})
export const ownerRequests = defineProblem({
  id: 'onbehalf_owner_requests',
  text: 'it is the owner of the account; name another business.',
})
