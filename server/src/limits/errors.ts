import { defineError } from '../graph/define-error.ts'

export const generalSubcode = 2446079

const text = 'The limit of {count} in {period} is reached ({counted}); try again in {seconds} s.'

export const rateLimitReached = defineError({
  id: 'rate_limit_reached',
  status: 429,
  subcode: generalSubcode,
  text: text,
})
export const creationLimitReached = defineError({
  id: 'creation_limit_reached',
  status: 429,
  subcode: 2446080,
  text: text,
})
export const permissionCheckLimitReached = defineError({
  id: 'permission_check_limit_reached',
  status: 429,
  subcode: 2390008,
  text: text,
})
