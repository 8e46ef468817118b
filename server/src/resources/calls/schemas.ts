import { type Static, Type } from 'typebox'
import { idSchema, productName } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { findingCodes, findingLevels, findingSides } from './sdp/finding-kinds.ts'
import { callDirections, callStates } from './states.ts'

export const callPermissionStatuses = ['granted', 'pending', 'denied', 'expired'] as const
/** The permission states that the gateway can set; expiry comes from the clock. */
export const givenPermissionStatuses = ['granted', 'pending', 'denied'] as const
export const limitPeriods = ['24h', '7d'] as const
/** The actions of a business, and those of a user's phone. */
const businessActions = ['connect', 'pre_accept', 'accept', 'reject', 'terminate'] as const
export const userActions = ['ringing', 'accept', 'reject', 'terminate'] as const

/** Browsers' offers are below 10,000 characters. */
const maxSdpLength = 65_536

export const userWaIdSchema = Type.String({
  pattern: '^\\d{1,20}$',
  maxLength: 20,
  'x-expects': "a user's id: 1 to 20 digits, as text",
})

export const expirationTimeSchema = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  'x-expects': 'a Unix time in seconds',
})

export const sessionSchema = Type.Object(
  {
    sdp_type: Type.Enum(['offer', 'answer'], { description: 'Whether it begins the negotiation or answers.' }),
    sdp: Type.String({ maxLength: maxSdpLength, description: 'A session description as in RFC 8866.' }),
  },
  { description: 'What one side sends to set up the media of a call.' },
)
export type Session = Static<typeof sessionSchema>

const limitsSchema = Type.Union([
  Type.Array(
    Type.Object({
      time_period: Type.Enum(limitPeriods),
      current_usage: Type.Integer(),
      max_allowed: Type.Integer(),
      limit_expiration_time: Type.Optional(Type.Integer({ description: 'Unix time when usage starts to go down.' })),
    }),
  ),
  Type.Literal(''),
])

export function permissionSchema(vocabulary: Vocabulary) {
  return Type.Object({
    messaging_product: productName(vocabulary),
    permission: Type.Object({
      status: Type.Enum(callPermissionStatuses),
      expiration_time: Type.Optional(Type.Integer({ description: 'Unix time.' })),
    }),
    actions: Type.Array(
      Type.Object({
        action_name: Type.Enum(['start_call', 'send_call_permission_request']),
        can_perform_action: Type.Boolean(),
        limits: limitsSchema,
      }),
    ),
  })
}

/** Both shapes of the body in one: a call request with `to`, and an action on the call `call_id`. */
export function callRequestSchema(vocabulary: Vocabulary) {
  return Type.Object({
    messaging_product: productName(vocabulary),
    action: Type.Enum(businessActions, {
      description:
        'connect calls `to`; the others act on a call: pre_accept and accept take it, reject and terminate end it.',
    }),
    to: Type.Optional(userWaIdSchema),
    call_id: Type.Optional(
      idSchema({ description: 'The call, with any action but connect; left out: the open one with `to`.' }),
    ),
    session: Type.Optional(sessionSchema),
    biz_opaque_callback_data: Type.Optional(
      Type.String({ maxLength: 512, description: 'Returned in the events of the call.' }),
    ),
  })
}
export type CallRequest = Static<ReturnType<typeof callRequestSchema>>

export function callAnswerSchema(vocabulary: Vocabulary) {
  const messaging_product = productName(vocabulary)
  return Type.Union([
    Type.Object({ messaging_product, calls: Type.Array(Type.Object({ id: Type.String() })) }),
    Type.Object({ messaging_product, success: Type.Boolean() }),
    Type.Object({ success: Type.Boolean() }),
  ])
}

const callMembers = {
  id: Type.String(),
  phone_number_id: Type.String(),
  user_wa_id: Type.String(),
  direction: Type.Enum(callDirections),
  state: Type.Enum(callStates),
  ending: Type.Optional(Type.Enum(['completed', 'rejected', 'failed', 'timed_out'])),
}

const time = () => Type.String({ format: 'date-time' })

const callTimes = {
  created_time: time(),
  accepted_time: Type.Optional(time()),
  ended_time: Type.Optional(time()),
}

/** Why a phone or an edge ended a call by itself. */
export const endReasons = ['no_media', 'lost'] as const

const findingSchema = Type.Object(
  {
    side: Type.Enum(findingSides, { description: 'Whose description it is about, or `media`: what was heard.' }),
    code: Type.Enum(findingCodes, {
      description: 'One word for what is wrong; with the side `media`, the reason of terminate.',
    }),
    level: Type.Enum(findingLevels, {
      description: '`error`: nothing is heard, or not what was meant; `warning`: it works with some, or without keys.',
    }),
    line: Type.Optional(Type.Integer({ description: 'The line of the description, where there is one.' })),
    message: Type.String({ description: 'What is wrong, and what to do.' }),
  },
  { description: 'What is wrong with a session description, or with the media of a call.' },
)

export const listedCallSchema = Type.Object({ ...callMembers, ...callTimes })

export const gatewayCallSchema = Type.Object({
  ...callMembers,
  ...callTimes,
  sdp: Type.Object({ business: Type.Optional(Type.String()), user: Type.Optional(Type.String()) }),
  findings: Type.Array(findingSchema),
  media_timeout: Type.Optional(
    Type.Number({
      description: 'The phone ends the call when no sound came for so many seconds after it was accepted.',
    }),
  ),
})
