import { type Static, Type } from 'typebox'

export const entityTypes = [
  'LIMITED_LIABILITY_PARTNERSHIP',
  'SOLE_PROPRIETORSHIP',
  'PARTNERSHIP',
  'PUBLIC_COMPANY',
  'PRIVATE_COMPANY',
  'OTHER',
] as const

const email = Type.String({ format: 'email', maxLength: 127 })
/** In international format with the country code; the rules hold it against the numbering plans. */
const phoneNumber = Type.Optional(Type.String({ description: 'In international format, with the country code.' }))

/** The members of a write; which of them go together is for the rules. */
export const complianceMembers = {
  entity_name: Type.String({ minLength: 2, maxLength: 128 }),
  entity_type: Type.Enum(entityTypes),
  entity_type_custom: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  is_registered: Type.Optional(Type.Boolean()),
  grievance_officer_details: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 128 }),
    email,
    mobile_number: phoneNumber,
    landline_number: phoneNumber,
  }),
  customer_care_details: Type.Object({ email, mobile_number: phoneNumber, landline_number: phoneNumber }),
}

const complianceSchema = Type.Object(complianceMembers)
export type ComplianceInfo = Static<typeof complianceSchema>
