import { type TSchema, Type } from 'typebox'

/**
 * What the specification says about each kind of inbound message, one row per kind. Members that are not named here are passed on as
 * received; named ones without `optional` are required.
 */
const text = Type.String()
const optional = Type.Optional
const amount = Type.Number()

/** Far more than the network puts into one post. */
export const maxEventItems = 1000

export function eventList<Item extends TSchema>(item: Item, minItems = 0, description?: string) {
  return Type.Array(item, {
    ...(minItems > 0 && { minItems }),
    maxItems: maxEventItems,
    ...(description !== undefined && { description }),
  })
}

const errors = optional(eventList(Type.Object({})))
const answeredMessage = Type.Object({ from: text, id: text })
const file = { mime_type: text, sha256: text, id: text }

const context = Type.Object({
  from: text,
  id: text,
  // A plain reply has no product.
  referred_product: optional(Type.Object({ catalog_id: text, product_retailer_id: text })),
})

const referral = Type.Object({
  source_url: text,
  source_id: text,
  source_type: Type.Enum(['ad', 'post']),
  body: text,
  headline: text,
  media_type: Type.Enum(['image', 'video']),
  image_url: optional(text),
  video_url: optional(text),
  thumbnail_url: optional(text),
  ctwa_clid: text,
  welcome_message: optional(Type.Object({ text })),
})

/** Members that the user does not share may be missing. */
const sharedContact = Type.Object({
  addresses: optional(
    eventList(
      Type.Object({
        city: optional(text),
        country: optional(text),
        country_code: optional(text),
        state: optional(text),
        street: optional(text),
        type: optional(text),
        zip: optional(text),
      }),
    ),
  ),
  birthday: optional(Type.String({ format: 'date', maxLength: 10 })),
  emails: optional(eventList(Type.Object({ email: optional(text), type: optional(text) }))),
  name: optional(
    Type.Object({
      formatted_name: text,
      first_name: optional(text),
      last_name: optional(text),
      middle_name: optional(text),
      suffix: optional(text),
      prefix: optional(text),
    }),
  ),
  org: optional(Type.Object({ company: optional(text), department: optional(text), title: optional(text) })),
  phones: optional(eventList(Type.Object({ phone: optional(text), wa_id: optional(text), type: optional(text) }))),
  urls: optional(eventList(Type.Object({ url: optional(text), type: optional(text) }))),
})

const orderedProduct = Type.Object({
  product_retailer_id: text,
  quantity: Type.Integer(),
  item_price: amount,
  currency: text,
})

const notUnderstood = Type.Object({
  context: Type.Object({ from: optional(text), id: optional(text) }),
  errors,
})

/** The members of a message besides the common ones, by its `type`. */
export const messageKinds = {
  text: Type.Object({ text: Type.Object({ body: text }), context: optional(context), referral: optional(referral) }),
  reaction: Type.Object({ reaction: Type.Object({ message_id: text, emoji: optional(text) }) }),
  audio: Type.Object({ audio: Type.Object({ ...file, voice: Type.Boolean() }) }),
  document: Type.Object({ document: Type.Object({ ...file, filename: text }) }),
  image: Type.Object({ image: Type.Object({ ...file, caption: optional(text) }) }),
  sticker: Type.Object({ sticker: Type.Object({ ...file, animated: Type.Boolean() }) }),
  video: Type.Object({ video: Type.Object({ ...file, caption: optional(text) }) }),
  location: Type.Object({
    location: Type.Object({ address: text, latitude: amount, longitude: amount, name: text, url: optional(text) }),
  }),
  contacts: Type.Object({ contacts: eventList(sharedContact) }),
  unsupported: notUnderstood,
  unknown: notUnderstood,
  button: Type.Object({ context: answeredMessage, button: Type.Object({ payload: text, text }) }),
  interactive: Type.Object({
    context: answeredMessage,
    interactive: Type.Object({ type: Type.Enum(['list_reply', 'button_reply', 'nfm_reply', 'call_permission_reply']) }),
  }),
  order: Type.Object({
    order: Type.Object({ catalog_id: text, text, product_items: eventList(orderedProduct) }),
  }),
  system: Type.Object({
    system: Type.Object({ body: text, type: Type.Enum(['user_changed_number']), wa_id: text }),
  }),
} satisfies Record<string, TSchema>
export type MessageKind = keyof typeof messageKinds

/** The further members of an interactive message, by its `interactive.type`. */
export const interactiveKinds = {
  list_reply: Type.Object({
    interactive: Type.Object({ list_reply: Type.Object({ id: text, title: text, description: text }) }),
  }),
  button_reply: Type.Object({
    interactive: Type.Object({ button_reply: Type.Object({ id: text, title: text }) }),
  }),
  nfm_reply: Type.Object({
    interactive: Type.Object({
      nfm_reply: Type.Object({ name: optional(text), body: optional(text), response_json: text }),
    }),
  }),
  call_permission_reply: Type.Object({
    interactive: Type.Object({
      call_permission_reply: Type.Object({
        response: Type.Enum(['accept', 'reject']),
        expiration_timestamp: optional(text),
        response_source: optional(text),
      }),
    }),
  }),
} satisfies Record<string, TSchema>

const timestamp = Type.String({
  pattern: '^\\d{1,15}$',
  maxLength: 15,
  'x-expects': 'a time in Unix seconds, as a string of digits',
})
/** Stored, so that a duplicate message is passed on once. */
const messageId = Type.String({ minLength: 1, maxLength: 1000 })

/** The common members of messages. */
export const commonMessage = Type.Object({
  from: Type.String({ minLength: 1 }),
  id: messageId,
  timestamp,
  type: Type.Enum(Object.keys(messageKinds)),
})

export const statusSchema = Type.Object({
  id: Type.String({ minLength: 1 }),
  status: Type.Enum(['sent', 'delivered', 'read', 'failed', 'played', 'deleted']),
  timestamp,
  recipient_id: Type.String({ minLength: 1 }),
  conversation: optional(Type.Object({})),
  pricing: optional(Type.Object({})),
  errors,
})

/** One change of a group; the rest depends on its type. */
export const groupSchema = Type.Object({
  timestamp,
  type: Type.String({ minLength: 1 }),
  group_id: optional(Type.String({ minLength: 1 })),
  errors,
})
