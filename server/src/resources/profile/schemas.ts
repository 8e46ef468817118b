import { Type } from 'typebox'
import { idSchema, productName } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'

export const verticals = [
  'OTHER',
  'AUTO',
  'BEAUTY',
  'APPAREL',
  'EDU',
  'ENTERTAIN',
  'EVENT_PLAN',
  'FINANCE',
  'GROCERY',
  'GOVT',
  'HOTEL',
  'HEALTH',
  'NONPROFIT',
  'PROF_SERVICES',
  'RETAIL',
  'TRAVEL',
  'RESTAURANT',
  'ALCOHOL',
  'ONLINE_GAMBLING',
  'PHYSICAL_GAMBLING',
  'OTC_DRUGS',
] as const

export const websiteSchema = Type.String({
  format: 'uri',
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]',
  maxLength: 256,
  'x-expects': 'an http or https URL of at most 256 characters',
})

/** The writable members of a profile besides its picture; an empty text clears a member. */
export const profileMembers = {
  about: Type.Optional(Type.String({ minLength: 1, maxLength: 139, description: 'A short line below the name.' })),
  address: Type.Optional(Type.String({ maxLength: 256, description: 'The postal address; empty removes it.' })),
  description: Type.Optional(Type.String({ maxLength: 256, description: 'What the business does; empty removes it.' })),
  email: Type.Optional(
    Type.Union([Type.String({ format: 'email', maxLength: 128 }), Type.Literal('')], {
      description: 'The email address for customers; empty removes it.',
    }),
  ),
  websites: Type.Optional(
    Type.Array(websiteSchema, { maxItems: 2, description: 'At most two; an empty list removes them.' }),
  ),
  vertical: Type.Optional(Type.Enum(verticals, { description: 'The industry of the business.' })),
}

/** A profile in responses. */
function profileFieldsOf(vocabulary: Vocabulary) {
  return {
    ...(vocabulary.habits.library_fields && { id: Type.Optional(Type.String({ description: 'That of its number.' })) }),
    messaging_product: Type.Optional(productName(vocabulary)),
    about: Type.Optional(Type.String()),
    address: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    email: Type.Optional(Type.String({ format: 'email' })),
    profile_picture_url: Type.Optional(Type.String({ format: 'uri', description: 'Serves the picture to anyone.' })),
    websites: Type.Optional(Type.Array(Type.String({ format: 'uri' }))),
    vertical: Type.Optional(Type.Enum(verticals)),
  }
}

export function listProfileFields(vocabulary: Vocabulary): string[] {
  return Object.keys(profileFieldsOf(vocabulary))
}

/** Client libraries read a profile in different places: in a separate member, or in the object of the list. */
export function makeProfileListSchema(vocabulary: Vocabulary) {
  const fields = profileFieldsOf(vocabulary)
  const listed = { business_profile: Type.Object(fields), ...(vocabulary.habits.library_fields && fields) }
  return Type.Object({ data: Type.Array(Type.Object(listed)) })
}

export function makeProfileUpdateSchema(vocabulary: Vocabulary) {
  return Type.Object({
    messaging_product: productName(vocabulary),
    ...profileMembers,
    profile_picture_handle: Type.Optional(
      idSchema({ description: 'The handle of a finished upload, which it uses up; empty removes the picture.' }),
    ),
  })
}
