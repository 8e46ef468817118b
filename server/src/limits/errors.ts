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
export const messageLimitReached = defineError({
  id: 'message_limit_reached',
  status: 429,
  code: 130429,
  text: text,
})
export const pairLimitReached = defineError({
  id: 'pair_limit_reached',
  status: 429,
  code: 131056,
  text: 'The number has sent too many messages to this user or group: {count} at once and one every {interval} s are the most; try again in {seconds} s.',
})
