import { Type } from 'typebox'

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

/** What can be written of a profile besides its picture; an empty text clears what was there. */
export const profileMembers = {
  about: Type.Optional(Type.String({ minLength: 1, maxLength: 139 })),
  address: Type.Optional(Type.String({ maxLength: 256 })),
  description: Type.Optional(Type.String({ maxLength: 256 })),
  email: Type.Optional(Type.Union([Type.String({ format: 'email', maxLength: 128 }), Type.Literal('')])),
  websites: Type.Optional(Type.Array(websiteSchema, { maxItems: 2 })),
  vertical: Type.Optional(Type.Enum(verticals)),
}
