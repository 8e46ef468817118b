import { type Static, Type } from 'typebox'
import { idSchema, productName, refusedKeyword } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'

const optional = Type.Optional
/** The member of a kind: what it must hold is checked where the kind is known, because members of other kinds are ignored. */
const member = (description: string) => optional(Type.Object({}, { additionalProperties: true, description }))
const notOffered = optional(
  Type.Unknown({ description: 'Not offered: with it the request is refused.', [refusedKeyword]: true }),
)

export const idempotencyHeader = 'idempotency-key'

const userIdSchema = optional(
  Type.String({ maxLength: 1000, description: 'The user_id of a user, instead of `to`; with both, `to` counts.' }),
)

const typingSchema = Type.Object(
  { type: Type.Literal('text', { description: 'Always text.' }) },
  { description: 'With status: also shows the user that the business is writing.' },
)

/** Both shapes of the body in one: a message to send, and, with `status`, one to mark as read. */
export function messageRequestSchema(vocabulary: Vocabulary) {
  return Type.Object({
    messaging_product: productName(vocabulary),
    recipient_type: optional(
      Type.Enum(['individual', 'group'], {
        description: 'What `to` names: a user, or a group; individual when left out.',
      }),
    ),
    to: optional(Type.String({ maxLength: 1000, description: "The user's phone number, or the id of a group." })),
    type: optional(Type.String({ maxLength: 100, description: 'The kind of message; text when left out.' })),
    context: optional(
      Type.Object(
        { message_id: optional(idSchema({ description: 'Its id.' })) },
        { description: 'The message that this one replies to.' },
      ),
    ),
    biz_opaque_callback_data: optional(
      Type.String({ maxLength: 512, description: 'Returned in every status of the message.' }),
    ),
    text: member('body 1–4096, preview_url?'),
    image: member('id or link, caption? ≤ 1024'),
    video: member('id or link, caption? ≤ 1024'),
    document: member('id or link, caption? ≤ 1024, filename? ≤ 240'),
    audio: member('id or link, voice?'),
    sticker: member('id or link'),
    location: member('latitude, longitude, name?, address?'),
    contacts: optional(
      Type.Array(Type.Object({}, { additionalProperties: true }), {
        maxItems: 257,
        description: '1–257 contacts, each with a name.',
      }),
    ),
    reaction: member('message_id, emoji; an empty emoji takes the reaction back'),
    interactive: member('type, header?, body, footer?, action'),
    template: member('name, language: {code}, components?'),
    status: optional(
      Type.String({ maxLength: 100, description: 'read: marks a message as read instead of sending one.' }),
    ),
    message_id: optional(idSchema({ description: 'With status: the message that came in.' })),
    typing_indicator: optional(typingSchema),
    recipient: vocabulary.habits.user_ids ? userIdSchema : notOffered,
    recipient_identity_key_hash: notOffered,
    category: notOffered,
    ttl_seconds: notOffered,
    [idempotencyHeader]: optional(
      Type.String({
        pattern: '^[\\x21-\\x7e]{1,128}$',
        maxLength: 128,
        'x-expects': '1 to 128 visible ASCII characters',
        description: 'A header: a repeated key returns the first response and sends nothing.',
      }),
    ),
  })
}
export type MessageRequest = Static<ReturnType<typeof messageRequestSchema>>

export function messageAnswerSchema(vocabulary: Vocabulary) {
  return Type.Union([
    Type.Object({
      messaging_product: productName(vocabulary),
      contacts: Type.Array(
        Type.Object({
          input: Type.String(),
          wa_id: Type.String(),
          ...(vocabulary.habits.user_ids && { user_id: optional(Type.String()) }),
        }),
      ),
      messages: Type.Array(
        Type.Object({
          id: Type.String(),
          group_id: optional(Type.String()),
          message_status: optional(Type.Literal('accepted')),
        }),
      ),
    }),
    Type.Object({ success: Type.Boolean() }),
  ])
}
