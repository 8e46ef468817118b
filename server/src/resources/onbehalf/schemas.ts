import { Type } from 'typebox'

/** The states of a request, as the public platform has them. */
export const onbehalfStatuses = [
  'PENDING',
  'IN_PROGRESS',
  'APPROVE',
  'DECLINE',
  'EXPIRED',
  'CANCELED',
  'INVALID',
] as const
export type OnbehalfStatus = (typeof onbehalfStatuses)[number]

/** Those in which a request waits for an answer. */
export const waitingStatuses = ['PENDING', 'IN_PROGRESS'] as const

/** Those that the operator door sets. */
export const settableStatuses = ['PENDING', 'IN_PROGRESS', 'APPROVE', 'DECLINE'] as const

const businessSchema = (description: string) => Type.Object({ id: Type.String(), name: Type.String() }, { description })

const members = {
  id: Type.String(),
  status: Type.Enum(onbehalfStatuses),
  business_owned_object: Type.String({ description: 'The account.' }),
  receiving_business: businessSchema('The owner of the account.'),
  requesting_business: businessSchema("Which wants to act on the owner's behalf."),
}

/** A request as businesses read it. */
export const onbehalfRequestSchema = Type.Partial(Type.Object(members))

/** A request as operators read it. */
export const operatorsRequestSchema = Type.Object({ ...members, created_time: Type.String({ format: 'date-time' }) })
