import { type Static, Type } from 'typebox'
import { trimmedSchema } from '../../graph/schemas.ts'

export const accountReviewStatuses = ['PENDING', 'APPROVED', 'REJECTED', 'LIMIT_REACHED'] as const
export const businessVerificationStatuses = ['VERIFIED', 'UNVERIFIED', 'PENDING'] as const
export const ownershipTypes = ['SELF_OWNED', 'CLIENT_OWNED', 'AGENCY_OWNED'] as const

export const accountSchema = Type.Object({
  id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  timezone_id: Type.Optional(Type.String()),
  message_template_namespace: Type.Optional(Type.String()),
  account_review_status: Type.Optional(Type.Enum(accountReviewStatuses)),
  business_verification_status: Type.Optional(Type.Enum(businessVerificationStatuses)),
  country: Type.Optional(Type.String({ description: 'ISO 3166-1 alpha-2.' })),
  ownership_type: Type.Optional(Type.Enum(ownershipTypes)),
  primary_business_location: Type.Optional(Type.String()),
})

export const accountUpdateSchema = Type.Object({
  name: Type.Optional(trimmedSchema(100)),
  timezone_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'The time zone of the account.' }),
  ),
})
export type AccountUpdate = Static<typeof accountUpdateSchema>
