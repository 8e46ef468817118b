import { type Static, Type } from 'typebox'
import { pagingSchema } from '../../graph/lists/paging.ts'
import { productName, trimmedSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { userWaIdSchema } from '../calls/schemas.ts'

const joinApprovalModes = ['approval_required', 'auto_approve'] as const

const descriptionSchema = Type.String({ maxLength: 2048, description: 'What the group is about.' })
const joinApprovalModeSchema = Type.Enum(joinApprovalModes, {
  description: 'Whether users who follow the invite link wait for an approval, or join at once.',
})

/** The settings of a group. */
export const groupMembers = {
  subject: trimmedSchema(128),
  description: Type.Optional(descriptionSchema),
  join_approval_mode: Type.Optional(joinApprovalModeSchema),
}

export const inviteCodePattern = /^[\w-]{22}$/
const maxItems = 1024
const unixSeconds = Type.String({ description: 'Unix seconds.' })

/** The time of a creation: a number where libraries read one. */
function creationSchema({ habits }: Vocabulary) {
  return habits.library_fields ? Type.Integer({ description: 'Unix seconds.' }) : unixSeconds
}

/** For the operations that the specification describes itself, where it is required. */
export function productSchema(vocabulary: Vocabulary) {
  return Type.Object({ messaging_product: productName(vocabulary) })
}

function optionalProduct(vocabulary: Vocabulary) {
  return { messaging_product: Type.Optional(productName(vocabulary)) }
}

export const groupListSchema = Type.Object({
  data: Type.Object({
    groups: Type.Array(Type.Object({ id: Type.String(), subject: Type.String(), created_at: unixSeconds })),
  }),
  paging: pagingSchema,
})

export function groupCreationSchema(vocabulary: Vocabulary) {
  return Type.Object({ ...productSchema(vocabulary).properties, ...groupMembers })
}
export type GroupCreation = Static<ReturnType<typeof groupCreationSchema>>

export function requestedSchema(vocabulary: Vocabulary) {
  return Type.Object({ ...productSchema(vocabulary).properties, request_id: Type.String() })
}

export function groupSchema(vocabulary: Vocabulary) {
  return Type.Object({
    id: Type.Optional(Type.String()),
    subject: Type.Optional(Type.String()),
    description: Type.Optional(Type.String({ description: 'Empty when there is none.' })),
    join_approval_mode: Type.Optional(joinApprovalModeSchema),
    creation_timestamp: Type.Optional(creationSchema(vocabulary)),
    participants: Type.Optional(Type.Array(Type.Object({ wa_id: Type.String() }))),
    total_participant_count: Type.Optional(Type.Integer({ description: 'How many users are in it.' })),
  })
}

export function groupDeletionSchema(vocabulary: Vocabulary) {
  return Type.Object(optionalProduct(vocabulary))
}

export function deletedGroupSchema(vocabulary: Vocabulary) {
  return Type.Object({ ...requestedSchema(vocabulary).properties, success: Type.Boolean() })
}

export function inviteLinkSchema(vocabulary: Vocabulary) {
  return Type.Object({ ...productSchema(vocabulary).properties, invite_link: Type.String({ format: 'uri' }) })
}

export function deletedLinkSchema(vocabulary: Vocabulary) {
  return Type.Object({ ...productSchema(vocabulary).properties, success: Type.Enum(['true']) })
}

/** The failure of one item of several, or of an earlier request. */
const groupErrorSchema = Type.Object({
  code: Type.Integer(),
  title: Type.String(),
  message: Type.String(),
  error_data: Type.Object({ details: Type.String() }),
})
export type GroupProblem = Static<typeof groupErrorSchema>

const participantSchema = Type.Object({ input: Type.String(), wa_id: Type.String() })
export type Participant = Static<typeof participantSchema>

export function participantRemovalSchema(vocabulary: Vocabulary) {
  return Type.Object({
    ...optionalProduct(vocabulary),
    participants: Type.Array(
      Type.Object({
        user: Type.String({
          pattern: '^\\+?\\d[\\d ().-]{0,29}$',
          maxLength: 31,
          'x-expects': "a user's id or phone number, as text",
        }),
      }),
      { minItems: 1, maxItems, description: 'The users to remove.' },
    ),
  })
}

export function removedParticipantsSchema(vocabulary: Vocabulary) {
  return Type.Object({
    ...requestedSchema(vocabulary).properties,
    removed_participants: Type.Array(participantSchema),
    failed_participants: Type.Optional(
      Type.Array(Type.Object({ input: Type.String(), errors: Type.Array(groupErrorSchema) })),
    ),
  })
}

export function joinRequestListSchema(vocabulary: Vocabulary) {
  const creation_timestamp = creationSchema(vocabulary)
  const request = Type.Object({ join_request_id: Type.String(), wa_id: Type.String(), creation_timestamp })
  return Type.Object({ data: Type.Array(request), paging: pagingSchema })
}

export function joinRequestAnswerSchema(vocabulary: Vocabulary) {
  return Type.Object({
    ...optionalProduct(vocabulary),
    join_requests: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      minItems: 1,
      maxItems,
      description: 'The ids of the join requests.',
    }),
  })
}

const failedJoinRequests = Type.Optional(
  Type.Array(Type.Object({ join_request_id: Type.String(), errors: Type.Array(groupErrorSchema) })),
)

export function approvedRequestsSchema(vocabulary: Vocabulary) {
  return Type.Object({
    ...productSchema(vocabulary).properties,
    approved_join_requests: Type.Array(Type.String()),
    failed_join_requests: failedJoinRequests,
  })
}

export function rejectedRequestsSchema(vocabulary: Vocabulary) {
  return Type.Object({
    ...productSchema(vocabulary).properties,
    rejected_join_requests: Type.Array(Type.String()),
    failed_join_requests: failedJoinRequests,
  })
}

export const joinSchema = Type.Object({
  invite_link: Type.String({ minLength: 1, maxLength: 2000, description: 'The link as it was sent to the user.' }),
  user_wa_id: userWaIdSchema,
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'What the user is called.' })),
})

export const joinedSchema = Type.Object({ group_id: Type.String(), status: Type.Enum(['joined', 'requested']) })
