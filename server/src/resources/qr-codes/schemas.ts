import { Type } from 'typebox'

export const qrCodeSchema = Type.String({
  pattern: '^[A-Z0-9]{14}$',
  'x-expects': 'a code of 14 characters from A-Z and 0-9',
})

export const prefilledMessageSchema = Type.String({ minLength: 1, maxLength: 140 })
