import { defineError, defineProblem } from '../../graph/define-error.ts'

export const idsUnknown = defineProblem({
  id: 'ids_unknown',
  text: '{ids} is not visible to this token as {kind}; check the ids.',
})
export const tokenWiderThanOperator = defineError({
  id: 'token_wider_than_operator',
  status: 403,
  text: 'A token must not see more than the operator who makes it; limit it to accounts or businesses that you see.',
})
export const limitsNeedOperator = defineProblem({
  id: 'limits_need_operator',
  text: 'they limit an operator alone; give the scope operator, or leave them out.',
})
export const expiryTwice = defineProblem({
  id: 'expiry_twice',
  text: 'it came together with expires_at; send one of them.',
})
export const notADuration = defineProblem({
  id: 'not_a_duration',
  text: 'it must be a duration such as 30m, 24h or 60d.',
})
