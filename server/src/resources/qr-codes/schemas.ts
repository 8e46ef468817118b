import { Type } from 'typebox'
import { pagingSchema } from '../../graph/lists/paging.ts'

export const codePattern = /^[A-Z0-9]{14}$/

export const qrCodeSchema = Type.String({
  pattern: codePattern.source,
  maxLength: 14,
  'x-expects': 'a code of 14 characters from A-Z and 0-9',
})

export const prefilledMessageSchema = Type.String({
  minLength: 1,
  maxLength: 140,
  description: 'The message that the code fills in for the user.',
})

export const imageFormats = ['SVG', 'PNG'] as const
export type ImageFormat = (typeof imageFormats)[number]

export const messageQrCodeSchema = Type.Object({
  code: Type.String(),
  prefilled_message: Type.String(),
  deep_link_url: Type.String({ format: 'uri', description: 'Opens a page with the business and the message.' }),
  creation_time: Type.Optional(
    Type.Integer({ description: 'Unix time; shown on request, to apps of the first party alone.' }),
  ),
  qr_image_url: Type.Optional(Type.String({ format: 'uri', description: 'An image that holds deep_link_url.' })),
})

export const oneQrCodeSchema = Type.Object({ data: Type.Array(messageQrCodeSchema, { minItems: 1, maxItems: 1 }) })

export const qrCodeListSchema = Type.Object({
  data: Type.Array(messageQrCodeSchema),
  paging: Type.Optional(pagingSchema),
})

/** The members of a write. */
export const qrCodeMembers = {
  prefilled_message: prefilledMessageSchema,
  generate_qr_image: Type.Optional(
    Type.String({
      pattern: '^([Ss][Vv][Gg]|[Pp][Nn][Gg])$',
      maxLength: 3,
      'x-expects': 'SVG or PNG',
      description: 'SVG or PNG: the answer holds the address of such an image.',
    }),
  ),
}
