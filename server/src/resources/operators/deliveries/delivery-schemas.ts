import { type Static, Type } from 'typebox'
import { timestampSchema } from '../../../graph/input/timestamps.ts'
import { pagingSchema } from '../../../graph/lists/paging.ts'
import { idSchema } from '../../../graph/schemas.ts'
import { deliveryStates } from './delivery-store.ts'

/** The filters of deliveries, for the list and for replays. */
export const filterProperties = {
  state: Type.Optional(
    Type.Enum(deliveryStates, {
      description: 'Only those in this state; failing is waiting after an attempt that failed.',
    }),
  ),
  app_id: Type.Optional(idSchema({ description: 'Only those to this app.' })),
  account_id: Type.Optional(idSchema({ description: 'Only those of this account.' })),
  phone_number_id: Type.Optional(idSchema({ description: 'Only those of this number.' })),
  field: Type.Optional(Type.String({ maxLength: 100, description: 'Only those of this field of webhooks.' })),
  since: Type.Optional(timestampSchema('Only those that were raised since then.')),
  until: Type.Optional(timestampSchema('Only those that were raised before then.')),
}

/** The filters of the list. */
export const listedFilterProperties = {
  ...filterProperties,
  user_wa_id: Type.Optional(
    Type.String({
      maxLength: 20,
      pattern: '^[0-9]{1,20}$',
      'x-expects': 'digits only, as text',
      description: 'Only those of messages with this user, their statuses, and calls.',
    }),
  ),
  trace: Type.Optional(
    Type.String({ maxLength: 100, description: 'Only those that the request with this trace raised.' }),
  ),
}

const filterSchema = Type.Object(filterProperties)
export type GivenFilter = Static<typeof filterSchema>

const headersSchema = Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]))

function orNull(schema: Parameters<typeof Type.Union>[0][number], description: string) {
  return Type.Union([schema, Type.Null()], { description })
}

const time = () => Type.String({ format: 'date-time' })

const deliverySchema = Type.Object({
  id: Type.String(),
  event_id: Type.String({ description: 'The event that it reports; the same for every subscriber.' }),
  app_id: Type.String(),
  account_id: Type.String(),
  phone_number_id: orNull(Type.String(), 'Null for events of an account.'),
  field: Type.String(),
  subject: orNull(
    Type.String(),
    'What it is about, in a few words without text of a user, such as: status delivered to +16505551234. Null when its content was removed or has more than 16 KiB.',
  ),
  trace: orNull(Type.String(), 'The trace of the request that raised it.'),
  conversation: Type.String({ description: 'Deliveries of one conversation are sent in order.' }),
  callback_url: Type.String({ description: 'Where it goes.' }),
  lane_id: Type.String({ description: 'The subscriber: see the list of lanes.' }),
  state: Type.Enum(['waiting', 'delivered', 'failed', 'withdrawn']),
  failing: Type.Boolean({ description: 'Whether it waits after an attempt that failed.' }),
  attempts: Type.Integer({ description: 'How many attempts were made.' }),
  created_time: time(),
  next_time: orNull(time(), 'When it is tried next; null when it is not.'),
})

export const deliveryListSchema = Type.Object({ data: Type.Array(deliverySchema), paging: pagingSchema })

const trySchema = Type.Object({
  number: Type.Integer(),
  time: time(),
  duration: Type.Integer({ description: 'Milliseconds.' }),
  problem: orNull(Type.String(), 'Why it was in vain; null when it was not.'),
  request: Type.Object({
    method: Type.Literal('POST'),
    url: orNull(Type.String(), 'Null for a try of an older version.'),
    headers: orNull(headersSchema, 'As they left; null for a try of an older version.'),
    body: orNull(
      Type.String(),
      'The exact bytes, which are ASCII; null when its content was removed, or what shared the post is not stored any more.',
    ),
  }),
  response: orNull(
    Type.Object({
      status: Type.Integer(),
      headers: orNull(
        headersSchema,
        'Up to 4 KiB of them; null for a try of an older version, or when its content was removed.',
      ),
      body: Type.String({ description: 'The first 4 KiB; empty when its content was removed.' }),
    }),
    'Null when none came.',
  ),
})

export const fullDeliverySchema = Type.Object({
  ...deliverySchema.properties,
  finished_time: orNull(time(), 'When it was delivered or given up; null while it waits.'),
  payload: orNull(
    Type.String(),
    'The exact body of a post of this delivery alone, which is ASCII, also before its first attempt; null when its content was removed.',
  ),
  tries: Type.Array(trySchema),
})
export type ShownTry = Static<typeof trySchema>
export type ShownDelivery = Static<typeof deliverySchema>
