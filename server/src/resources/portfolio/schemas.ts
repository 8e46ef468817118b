import { Type } from 'typebox'

export const migrationIntentStatuses = ['INITIATED', 'ACCEPTED', 'COMPLETED', 'REJECTED'] as const

export const businessSchema = Type.Object({
  id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  timezone_id: Type.Optional(Type.Number()),
})

export const extendedCreditListSchema = Type.Object({
  data: Type.Array(Type.Object({ id: Type.String(), legal_entity_name: Type.String() })),
})

export const migrationIntentSchema = Type.Object({
  id: Type.Optional(Type.String()),
  status: Type.Optional(Type.Enum(migrationIntentStatuses)),
})
