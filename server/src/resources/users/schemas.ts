import { type TSchema, Type } from 'typebox'
import { idSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { userWaIdSchema } from '../calls/schemas.ts'
import { messageKinds } from '../webhooks/public.ts'

const optional = Type.Optional

export const presences = ['online', 'offline'] as const

export const settingsSchema = {
  name: optional(Type.String({ minLength: 1, maxLength: 256, description: 'The name of the user.' })),
  presence: optional(Type.Enum(presences, { description: 'Going online delivers the messages that wait.' })),
  auto_read: optional(
    Type.Boolean({ description: 'Whether messages are read by themselves soon after their delivery.' }),
  ),
  read_receipts: optional(Type.Boolean({ description: 'Whether the business learns that a message was read.' })),
  reachable: optional(Type.Boolean({ description: 'false: messages to the user fail.' })),
}

export const userSchema = Type.Object({
  wa_id: Type.String(),
  name: optional(Type.String()),
  presence: Type.Enum(presences),
  auto_read: Type.Boolean(),
  read_receipts: Type.Boolean(),
  reachable: Type.Boolean(),
})

export const marketingSchema = Type.Enum(['stop', 'resume'], {
  description: 'Whether the user wants marketing messages of the phone number.',
})

const text = Type.String()
const shownFile = Type.Object(
  {
    id: optional(text),
    link: optional(text),
    caption: optional(text),
    filename: optional(text),
    voice: optional(Type.Boolean()),
    animated: optional(Type.Boolean()),
    mime_type: optional(text),
    sha256: optional(text),
    file_size: optional(Type.Integer()),
    url: optional(Type.String({ description: 'A link to the file, good for a while.' })),
  },
  { title: 'GatewayFile', description: 'The file of a message, with what is known of it.' },
)
const coordinate = Type.Union([Type.Number(), text])
const choice = Type.Object({ id: text, title: text, description: optional(text) })

/** What is known of the kinds of messages, in either direction; each may hold more. */
const shapes: Readonly<Record<string, TSchema>> = {
  text: Type.Object({ body: text, preview_url: optional(Type.Boolean()) }),
  reaction: Type.Object({ message_id: text, emoji: optional(text) }),
  image: shownFile,
  video: shownFile,
  audio: shownFile,
  document: shownFile,
  sticker: shownFile,
  location: Type.Object({
    latitude: coordinate,
    longitude: coordinate,
    name: optional(text),
    address: optional(text),
    url: optional(text),
  }),
  contacts: Type.Array(Type.Object({}, { additionalProperties: true })),
  button: Type.Object({ payload: text, text }),
  interactive: Type.Object({
    type: text,
    header: optional(Type.Object({ type: text }, { additionalProperties: true })),
    body: optional(Type.Object({ text })),
    footer: optional(Type.Object({ text })),
    action: optional(Type.Object({}, { additionalProperties: true })),
    button_reply: optional(choice),
    list_reply: optional(choice),
  }),
  template: Type.Object({
    name: text,
    language: Type.Object({ code: text }),
    components: optional(Type.Array(Type.Object({}, { additionalProperties: true }))),
  }),
}

/** The member of every kind of message, in either direction. */
const shownKinds = Object.fromEntries(
  [...Object.keys(messageKinds), 'template'].map((kind) => [kind, optional(shapes[kind] ?? Type.Unknown())]),
) as Record<string, TSchema>

/** What a template in the forms of the public platform is filled in to besides. */
const publicRendered = {
  cards: optional(
    Type.Array(
      Type.Object({ header: optional(Type.Unknown()), body: optional(text), buttons: Type.Array(Type.Unknown()) }),
    ),
  ),
  limited_time_offer: optional(Type.Object({ text, expiration_time_ms: optional(Type.Integer()) })),
}

const messageMembers = (hasPublicForms: boolean) => ({
  id: Type.String(),
  direction: Type.Enum(['to_user', 'to_business']),
  phone_number_id: Type.String(),
  user_wa_id: optional(Type.String()),
  group_id: optional(Type.String()),
  from: Type.String(),
  timestamp: Type.String(),
  type: Type.String(),
  ...shownKinds,
  referral: optional(Type.Unknown()),
  context: optional(Type.Object({ id: Type.String() })),
  state: Type.String(),
  states: Type.Array(
    Type.Object({ status: Type.String(), timestamp: Type.String(), user_wa_id: optional(Type.String()) }),
  ),
  errors: optional(Type.Array(Type.Unknown())),
  rendered: optional(
    Type.Object(
      {
        header: optional(Type.Unknown()),
        body: Type.String(),
        footer: optional(Type.String()),
        buttons: Type.Array(Type.Unknown()),
        ...(hasPublicForms && publicRendered),
      },
      { description: 'A template, filled in.' },
    ),
  ),
  content_removed: optional(Type.Boolean()),
})

export function makeMessageSchema({ habits }: Vocabulary) {
  return Type.Object(messageMembers(habits.more_message_forms), {
    title: 'GatewayMessage',
    description: "A message as the user's side sees it.",
  })
}

export const makeChatSchema = (vocabulary: Vocabulary) =>
  Type.Object({
    phone_number_id: Type.String(),
    display_phone_number: Type.String(),
    verified_name: Type.String(),
    group_id: optional(Type.String()),
    subject: optional(Type.String()),
    last_message: optional(makeMessageSchema(vocabulary)),
    unread_count: Type.Integer(),
    window_expires_at: optional(Type.String()),
    blocked: Type.Boolean(),
    marketing: marketingSchema,
    typing_until: optional(Type.String()),
  })

const member = (description: string) => optional(Type.Object({}, { additionalProperties: true, description }))
const { contacts: _contacts, ...objectKinds } = messageKinds

/** What a user writes: the member of its kind as in events, checked where the kind is known. */
export const writtenSchema = Type.Object({
  phone_number_id: optional(idSchema({ description: 'The phone number that the user writes to.' })),
  group_id: optional(idSchema({ description: 'The group that the user writes in, instead of phone_number_id.' })),
  from: userWaIdSchema,
  name: optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'The name of the user; left out: the one that is known.',
    }),
  ),
  id: optional(
    Type.String({ minLength: 1, maxLength: 1000, description: 'The id of the message; left out: a new one.' }),
  ),
  timestamp: optional(
    Type.String({
      pattern: '^\\d{1,12}$',
      maxLength: 12,
      'x-expects': 'a time in Unix seconds, as a string of digits',
    }),
  ),
  type: Type.Enum(Object.keys(messageKinds), { description: 'The kind of message; the member of this name holds it.' }),
  ...(Object.fromEntries(
    Object.keys(objectKinds).map((kind) => [kind, member(`What a message of type ${kind} holds, as in events.`)]),
  ) as Record<string, ReturnType<typeof member>>),
  contacts: optional(
    Type.Array(Type.Object({}, { additionalProperties: true }), {
      maxItems: 257,
      description: 'What a message of type contacts holds, as in events.',
    }),
  ),
  context: optional(
    Type.Object({ id: idSchema({ description: 'Its id.' }) }, { description: 'The message that this one replies to.' }),
  ),
  referral: member('The advertisement that the user came from, as in events.'),
  errors: optional(
    Type.Array(Type.Object({}, { additionalProperties: true }), {
      maxItems: 100,
      description: 'Why a message of type unsupported cannot be shown, as in events.',
    }),
  ),
})

const messageActions = ['deliver', 'read', 'play', 'fail', 'delete', 'press'] as const

const pressedCard = optional(
  Type.Integer({ minimum: 0, maximum: 9, description: 'With press: the card of a template that the button is on.' }),
)

export const makeActionSchema = ({ habits }: Vocabulary) =>
  Type.Object({
    message_id: idSchema({ description: 'The id of the message.' }),
    action: Type.Enum(messageActions, {
      description: "What happens on the user's phone; fail makes the delivery fail, press takes a button or row.",
    }),
    user_wa_id: optional(userWaIdSchema),
    code: optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'With fail: the code of the error.' })),
    choice: optional(
      Type.Union([Type.String({ minLength: 1, maxLength: 256 }), Type.Integer({ minimum: 0, maximum: 100 })], {
        'x-expects': 'the id of a button or row, or the index of a button',
      }),
    ),
    ...(habits.more_message_forms && { card: pressedCard }),
    data: member('With press: what the user chose or filled in: a location, an order, the fields of a flow.'),
  })
