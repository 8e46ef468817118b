import { type TObject, type TSchema, Type } from 'typebox'
import type { webhookFields } from '../../../server/src/delivery/webhook-fields.ts'
import type { Vocabulary } from '../../../server/src/graph/vocabulary.ts'
import { isMediaKind } from '../../../server/src/resources/messages/content/kinds.ts'
import {
  qualityScores,
  rejectionReasons,
  templateCategories,
  templateStatuses,
} from '../../../server/src/resources/templates/schemas.ts'
import { interactiveKinds, messageKinds } from '../../../server/src/resources/webhooks/inbound/message-kinds.ts'

/** What the values of webhook events hold, for the types of the client; a test compares them with events that were sent. */
export type WebhookField = (typeof webhookFields)[number]

const text = Type.String()
const optional = Type.Optional
const literals = <Values extends readonly string[]>(...values: Values) => Type.Enum([...values])

const timestamp = Type.String({ description: 'Unix seconds.' })
const metadata = Type.Object({ display_phone_number: text, phone_number_id: text })
const userId = optional(Type.String({ description: 'The id of the user within the business.' }))
const mediaUrl = optional(
  Type.String({ description: 'A link to the file, valid for five minutes, with a token that sees the file.' }),
)

/** A member that only a vocabulary with the habit has. */
function withUserId({ habits }: Vocabulary, name: string): Record<string, TSchema> {
  return habits.user_ids ? { [name]: userId } : {}
}

function describeContacts(vocabulary: Vocabulary) {
  return Type.Array(
    Type.Object({ profile: Type.Object({ name: text }), wa_id: text, ...withUserId(vocabulary, 'user_id') }),
  )
}

export const eventError = Type.Object({
  code: Type.Integer(),
  title: optional(text),
  message: optional(text),
  error_data: optional(Type.Object({ details: text })),
  href: optional(text),
})
const problems = optional(Type.Array(eventError))
const callbackData = optional(Type.String({ description: 'What the message or call was sent with.' }))

/** Every kind of message from a user, by name. */
export function describeInbound(vocabulary: Vocabulary): Record<string, TObject> {
  const common = {
    from: text,
    ...withUserId(vocabulary, 'from_user_id'),
    id: text,
    timestamp,
    group_id: optional(text),
  }
  const { interactive: _interactive, ...plain } = messageKinds
  const kinds = Object.entries<TObject>(plain).map(([type, { properties }]) => [
    type,
    Type.Object({
      ...common,
      type: Type.Literal(type),
      ...withUrl(vocabulary, type, properties),
      ...quoting(properties),
    }),
  ])
  const replies = Object.entries<TObject>(interactiveKinds).map(([type, schema]) => {
    const reply = schema.properties['interactive'] as TObject
    return Type.Object({ type: Type.Literal(type), ...reply.properties })
  })
  const { properties } = messageKinds.interactive
  const interactive = Type.Object({
    ...common,
    type: Type.Literal('interactive'),
    ...properties,
    interactive: Type.Union(replies),
  })
  return { ...Object.fromEntries(kinds), interactive }
}

/** The member of a media file, with its link. */
function withUrl(
  { habits }: Vocabulary,
  type: string,
  properties: Readonly<Record<string, TSchema>>,
): Record<string, TSchema> {
  if (!isMediaKind(type) || !habits.webhook_media_urls) return { ...properties }
  const file = properties[type] as TObject
  return { ...properties, [type]: Type.Object({ ...file.properties, url: mediaUrl }) }
}

/** A message of any kind may quote another one. */
function quoting(properties: Readonly<Record<string, TSchema>>): Record<string, TSchema> {
  return {
    ...(!properties['context'] && { context: optional(Type.Object({ from: text, id: text })) }),
    ...(!properties['referral'] && { referral: optional(messageKinds.text.properties.referral) }),
    errors: problems,
  }
}

function describeStatus(vocabulary: Vocabulary) {
  return Type.Object({
    id: text,
    status: literals('sent', 'delivered', 'read', 'played', 'failed', 'deleted'),
    timestamp,
    recipient_id: text,
    ...withUserId(vocabulary, 'recipient_user_id'),
    recipient_type: optional(Type.Literal('group')),
    group_id: optional(text),
    recipient_participant_id: optional(Type.String({ description: 'The member of the group that it is about.' })),
    conversation: optional(
      Type.Object({ id: text, expiration_timestamp: optional(text), origin: Type.Object({ type: text }) }),
    ),
    pricing: optional(
      Type.Object({ billable: Type.Boolean(), pricing_model: text, category: text, type: optional(text) }),
    ),
    errors: problems,
    biz_opaque_callback_data: callbackData,
  })
}

const ctaPayload = optional(Type.String({ description: 'The payload of the button that the user called with.' }))
const callSides = {
  id: text,
  from: text,
  to: text,
  timestamp,
  direction: literals('BUSINESS_INITIATED', 'USER_INITIATED'),
}
function describeCall({ habits }: Vocabulary) {
  const button: Record<string, TSchema> = habits.more_message_forms ? { cta_payload: ctaPayload } : {}
  return Type.Union([
    Type.Object({
      ...callSides,
      ...button,
      event: Type.Literal('connect'),
      session: optional(Type.Object({ sdp_type: text, sdp: text })),
    }),
    Type.Object({
      ...callSides,
      ...button,
      event: Type.Literal('terminate'),
      status: literals('COMPLETED', 'FAILED'),
      start_time: optional(timestamp),
      end_time: optional(timestamp),
      duration: optional(Type.Integer({ description: 'In seconds.' })),
      biz_opaque_callback_data: callbackData,
    }),
  ])
}

const callStatus = Type.Object({
  id: text,
  type: Type.Literal('call'),
  status: literals('RINGING', 'ACCEPTED', 'REJECTED'),
  timestamp,
  recipient_id: text,
  biz_opaque_callback_data: callbackData,
})

const group = { timestamp, group_id: text }
const participants = Type.Array(Type.Object({ input: text, wa_id: text }))
const groupCreation = {
  type: Type.Literal('group_create'),
  timestamp,
  request_id: text,
  subject: text,
  description: optional(text),
  join_approval_mode: text,
  group_id: optional(Type.String({ description: 'Left out where the group could not be created.' })),
  invite_link: optional(text),
  errors: problems,
}

const template = {
  message_template_id: Type.Integer({ description: 'Text where a world file gave an id of 2^53 or more.' }),
  message_template_name: text,
  message_template_language: text,
}

/** The value of each field. Fields that only the network's edge hands in are passed on as they came. */
export function describeValues(vocabulary: Vocabulary): Record<WebhookField, TSchema> {
  const { product } = vocabulary
  const contacts = describeContacts(vocabulary)
  const base = { messaging_product: Type.Literal(product), metadata }
  const passedOn = Type.Object(
    { messaging_product: optional(Type.Literal(product)), metadata: optional(metadata) },
    { additionalProperties: true },
  )
  const ofGroups = (entry: TSchema) => Type.Object({ ...base, contacts: optional(contacts), groups: Type.Array(entry) })
  const otherGroups = ofGroups(
    Type.Object({ timestamp, type: text, group_id: optional(text), errors: problems }, { additionalProperties: true }),
  )
  return {
    messages: Type.Object({
      // Messages of the platform itself name neither.
      ...{ messaging_product: optional(base.messaging_product), metadata, contacts: optional(contacts) },
      messages: optional(Type.Array(Type.Union(Object.values(describeInbound(vocabulary))))),
      statuses: optional(Type.Array(describeStatus(vocabulary))),
    }),
    calls: Type.Object({
      ...base,
      contacts: optional(contacts),
      calls: optional(Type.Array(describeCall(vocabulary))),
      statuses: optional(Type.Array(callStatus)),
    }),
    group_lifecycle_update: ofGroups(
      Type.Union([
        Type.Object(groupCreation),
        Type.Object({ ...group, type: Type.Literal('group_delete'), request_id: text }),
      ]),
    ),
    group_participants_update: ofGroups(
      Type.Union([
        Type.Object({
          ...group,
          type: Type.Literal('group_participants_add'),
          reason: Type.Literal('invite_link'),
          added_participants: participants,
        }),
        Type.Object({
          ...group,
          type: Type.Literal('group_participants_remove'),
          request_id: text,
          initiated_by: Type.Literal('business'),
          removed_participants: participants,
        }),
        Type.Object({
          ...group,
          type: literals('group_join_request_created', 'group_join_request_revoked'),
          join_request_id: text,
          wa_id: text,
        }),
      ]),
    ),
    group_settings_update: otherGroups,
    group_status_update: otherGroups,
    account_update: passedOn,
    phone_number_name_update: passedOn,
    phone_number_quality_update: passedOn,
    message_template_status_update: Type.Object({
      event: literals(...templateStatuses, 'DELETED'),
      ...template,
      message_template_category: literals(...templateCategories),
      reason: literals('NONE', ...rejectionReasons),
      disable_info: optional(Type.Object({ disable_date: text })),
    }),
    message_template_quality_update: Type.Object({
      previous_quality_score: literals(...qualityScores),
      new_quality_score: literals(...qualityScores),
      ...template,
    }),
    template_category_update: Type.Object({
      previous_category: literals(...templateCategories),
      new_category: literals(...templateCategories),
      ...template,
    }),
    user_preferences: Type.Object({
      ...base,
      contacts,
      user_preferences: Type.Array(
        Type.Object({
          wa_id: text,
          detail: text,
          category: Type.Literal('marketing_messages'),
          value: literals('stop', 'resume'),
          timestamp,
        }),
      ),
    }),
  }
}
