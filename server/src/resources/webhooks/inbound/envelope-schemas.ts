import { type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { webhookFields } from '../../../delivery/webhook-fields.ts'
import { type JsonBounds, maxJsonDepth } from '../../../graph/input/json-bounds.ts'
import { productName } from '../../../graph/schemas.ts'
import type { Vocabulary } from '../../../graph/vocabulary.ts'
import { commonMessage, eventList, groupSchema, interactiveKinds, messageKinds, statusSchema } from './message-kinds.ts'

/** The limits of a post of events: thousands of messages. */
export const eventBounds: JsonBounds = { values: 30_000, depth: maxJsonDepth }

/** The default field of a change: only messages and their statuses existed before fields had names. */
export const defaultField = 'messages'

/** The prefix of every field about groups. */
export const groupFieldStart = 'group_'

/** The parts of an envelope, each validated once the part around it is known. */
export interface EnvelopeSchemas {
  readonly shell: TObject
  readonly messages: TObject
  /** Messages from the platform itself name neither the product nor a contact. */
  readonly system: TObject
  readonly statuses: TObject
  readonly groups: TObject
  readonly other: TObject
}

const whatMessages = 'What users wrote.'
const whatStatuses = 'What became of messages that the business sent.'

export function makeEnvelopeSchemas(vocabulary: Vocabulary): EnvelopeSchemas {
  const product = productName(vocabulary)
  const metadata = Type.Object(
    { display_phone_number: Type.String(), phone_number_id: Type.String() },
    { description: 'The phone number that it happened to.' },
  )
  const base = { messaging_product: product, metadata }
  const sender = Type.Object({ profile: Type.Object({ name: Type.String() }), wa_id: Type.Optional(Type.String()) })
  const contacts = eventList(sender, 0, 'The users whom it is about, with their names.')
  const listOf = (item: TSchema, description?: string) => eventList(item, 1, description)
  const change = Type.Object({ field: Type.Optional(Type.Enum(webhookFields)), value: Type.Object({}) })
  return {
    shell: Type.Object({
      object: Type.Literal(vocabulary.account_object, { description: 'What the events are about.' }),
      entry: listOf(Type.Object({ id: Type.String(), changes: listOf(change) })),
    }),
    messages: Type.Object({ ...base, contacts, messages: listOf(Type.Object({})) }),
    system: Type.Object({
      messaging_product: Type.Optional(product),
      metadata,
      contacts: Type.Optional(contacts),
      messages: listOf(Type.Object({})),
    }),
    statuses: Type.Object({ ...base, contacts: Type.Optional(contacts), statuses: listOf(statusSchema, whatStatuses) }),
    groups: Type.Object({ ...base, groups: listOf(groupSchema, 'What happened to groups.') }),
    other: Type.Object({ messaging_product: Type.Optional(product), metadata: Type.Optional(metadata) }),
  }
}

/** The whole envelope as one schema, for documents; the check validates it step by step. */
export function describeEnvelope(vocabulary: Vocabulary): TObject {
  const { shell, messages, system, statuses, groups, other } = makeEnvelopeSchemas(vocabulary)
  const fieldsOfGroups = webhookFields.filter((field) => field.startsWith(groupFieldStart))
  const otherFields = webhookFields.filter((field) => field !== defaultField && !fieldsOfGroups.includes(field))
  const kinds = describeMessages()
  const statusList = statuses.properties['statuses'] as TSchema
  const change = (field: TSchema, value: TObject) =>
    Type.Object({ field, value: Type.Object(value.properties, { description: 'What happened.' }) })
  const aboutField = { description: 'What it is about; left out: messages.' }
  const aboutMessages = Type.Optional(Type.Literal(defaultField, aboutField))
  const changes = Type.Union([
    change(
      aboutMessages,
      extend(messages, {
        messages: eventList(Type.Union(Object.values(kinds)), 1, whatMessages),
        statuses: Type.Optional(statusList),
      }),
    ),
    change(aboutMessages, extend(system, { messages: eventList(kinds.system, 1, whatMessages) })),
    change(aboutMessages, statuses),
    change(Type.Enum(fieldsOfGroups, aboutField), groups),
    change(Type.Enum(otherFields, aboutField), other),
  ])
  return extend(shell, {
    entry: eventList(
      Type.Object({
        id: Type.String({ description: 'The id of the account that it happened to.' }),
        changes: eventList(changes, 1, 'What happened to the account, in order.'),
      }),
      1,
      'One for each account.',
    ),
  })
}

/** Every kind of message with the common members. */
function describeMessages() {
  const { interactive, ...plain } = messageKinds
  const kinds = Object.entries<TObject>(plain).map(([kind, schema]) => [kind, describeKind(kind, schema.properties)])
  const replies = Object.entries<TObject>(interactiveKinds).map(([type, schema]) => {
    const reply = schema.properties['interactive'] as TObject
    const members = { ...interactive.properties, interactive: extend(reply, { type: Type.Literal(type) }) }
    return [type, describeKind('interactive', members)]
  })
  return Object.fromEntries([...kinds, ...replies]) as Record<keyof typeof plain, TObject>
}

function describeKind(kind: string, members: TProperties): TObject {
  return extend(commonMessage, { type: Type.Literal(kind), ...members })
}

function extend(schema: TObject, members: TProperties): TObject {
  return Type.Object({ ...schema.properties, ...members })
}
