import { type Static, Type } from 'typebox'
import { productName } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'

export const entityTypes = [
  'LIMITED_LIABILITY_PARTNERSHIP',
  'SOLE_PROPRIETORSHIP',
  'PARTNERSHIP',
  'PUBLIC_COMPANY',
  'PRIVATE_COMPANY',
  'OTHER',
] as const

/** Shorter than 128. The domain must have a dot: a mailbox of a local network is useless to a customer. */
const email = Type.String({
  format: 'email',
  pattern: '^[^\\s"@]+@[^\\s"@.]+\\.[^\\s"@]+$',
  maxLength: 127,
  'x-expects': 'an email address such as care@example.com, shorter than 128 characters',
})

export const expectedNumber =
  'a phone number that exists, in international format with the country code, such as +1 631-555-1001'

/** Only the form; the rules check the numbering plans. */
const phoneNumber = Type.Optional(
  Type.String({
    pattern: '^\\+[0-9][0-9 ().-]*[0-9]$',
    maxLength: 32,
    description: 'In international format, with the country code.',
    'x-expects': expectedNumber,
  }),
)

/** The members of a write; the rules check their combinations. */
export const complianceMembers = {
  entity_name: Type.String({ minLength: 2, maxLength: 128, description: 'The legal name of the business.' }),
  entity_type: Type.Enum(entityTypes, { description: 'The legal form of the business.' }),
  entity_type_custom: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Required with entity_type OTHER, and only with it.' }),
  ),
  is_registered: Type.Optional(Type.Boolean({ description: 'Only with entity_type OTHER or PARTNERSHIP.' })),
  grievance_officer_details: Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 128, description: 'The name of the person.' }),
      email,
      mobile_number: phoneNumber,
      landline_number: phoneNumber,
    },
    { description: 'Who takes complaints, with an email address and at least one number.' },
  ),
  customer_care_details: Type.Object(
    { email, mobile_number: phoneNumber, landline_number: phoneNumber },
    { description: 'Where customers find help, with an email address and at least one number.' },
  ),
}

const complianceSchema = Type.Object(complianceMembers)
export type ComplianceInfo = Static<typeof complianceSchema>

export function makeComplianceInputSchema(vocabulary: Vocabulary) {
  return Type.Object({ messaging_product: productName(vocabulary), ...complianceMembers })
}

const shownContact = {
  email: Type.String(),
  mobile_number: Type.Optional(Type.String()),
  landline_number: Type.Optional(Type.String()),
}

/** What `fields` can choose from. */
function makeSelectableMembers(vocabulary: Vocabulary) {
  return {
    messaging_product: Type.Optional(productName(vocabulary)),
    entity_name: Type.Optional(Type.String()),
    entity_type: Type.Optional(Type.Enum(entityTypes)),
    entity_type_custom: Type.Optional(Type.String()),
    is_registered: Type.Optional(Type.Boolean()),
    grievance_officer_details: Type.Optional(Type.Object({ name: Type.String(), ...shownContact })),
    customer_care_details: Type.Optional(Type.Object(shownContact)),
  }
}

export function listComplianceFields(vocabulary: Vocabulary): string[] {
  return Object.keys(makeSelectableMembers(vocabulary))
}

/** The account's id has the same name in both vocabularies, and is always returned, whatever `fields` says. */
export function makeComplianceListSchema(vocabulary: Vocabulary) {
  return Type.Object({
    data: Type.Array(
      Type.Object({ whatsapp_business_account_id: Type.String(), ...makeSelectableMembers(vocabulary) }),
    ),
  })
}
