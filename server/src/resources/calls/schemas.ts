import { Type } from 'typebox'

export const callPermissionStatuses = ['granted', 'pending', 'denied', 'expired'] as const

export const userWaIdSchema = Type.String({
  pattern: '^\\d{1,20}$',
  'x-expects': "a user's id: 1 to 20 digits, in quotes",
})
