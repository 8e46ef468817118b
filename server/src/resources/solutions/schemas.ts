import { type Static, Type } from 'typebox'
import { pagingSchema } from '../../graph/lists/paging.ts'
import { idSchema, successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'

/** The kinds of partner; the first also manages accounts on their owners' behalf. */
export const partnerKinds = ['SOLUTION_PROVIDER', 'TECH_PROVIDER'] as const
export type PartnerKind = (typeof partnerKinds)[number]

/** The permissions that the creator of a solution assigns. */
const configurablePermissions = ['MESSAGING'] as const
/** The permissions that both apps of a solution always have. */
export const defaultPermissions = ['MANAGE', 'DEVELOP', 'MANAGE_TEMPLATES', 'VIEW_INSIGHTS'] as const

const solutionStatuses = ['INITIATED', 'ACTIVE', 'REJECTED'] as const
export type SolutionStatus = (typeof solutionStatuses)[number]
const pendingRequestStatuses = ['PENDING_ACTIVATION', 'NONE'] as const
export const solutionRoles = ['OWNER', 'PARTNER'] as const

const permissionsSchema = Type.Array(Type.Enum(configurablePermissions), {
  maxItems: configurablePermissions.length,
  uniqueItems: true,
  description: 'Empty: none besides the default ones.',
})

export const newSolutionSchema = Type.Object({
  solution_name: Type.String({
    minLength: 2,
    maxLength: 75,
    pattern: '\\S',
    'x-expects': 'a string of 2 to 75 characters that are not all blanks',
  }),
  partner_app_id: idSchema({ description: 'The other app, which must be marked as a partner.' }),
  owner_permissions: permissionsSchema,
  partner_permissions: permissionsSchema,
})
export type NewSolution = Static<typeof newSolutionSchema>

export const createdSolutionSchema = Type.Object({ solution_id: Type.String() })

export const solutionSchema = Type.Object({
  id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  status: Type.Optional(Type.Enum(solutionStatuses)),
  status_for_pending_request: Type.Optional(
    Type.Enum(pendingRequestStatuses, { description: 'PENDING_ACTIVATION until the partner has answered.' }),
  ),
  owner_app: Type.Optional(Type.Object({ id: Type.String(), name: Type.String() })),
  owner_permissions: Type.Optional(
    Type.Array(Type.Enum([...defaultPermissions, ...configurablePermissions]), {
      description: 'What the owner may do: the default permissions, and MESSAGING where it was given to it.',
    }),
  ),
})

export const solutionListSchema = Type.Object({ data: Type.Array(solutionSchema), paging: pagingSchema })

/** The response to an invitation that was accepted or rejected; `shown` are its constant members. */
export function answeredSchema({ habits }: Vocabulary, shown: Readonly<Record<string, string>>) {
  const constants = Object.entries(shown).map(([name, value]) => [name, Type.Literal(value)])
  const members = { solution_id: Type.String(), ...Object.fromEntries(constants) }
  return Type.Object({ ...successSchema.properties, ...(habits.library_fields && members) })
}

export const newOnboardingSchema = Type.Object({
  solution_id: Type.Optional(idSchema({ description: 'A solution of the calling app, to link the request with.' })),
})

export const onboardingSchema = Type.Object({ request_id: Type.String() })
