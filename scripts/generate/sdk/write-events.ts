import type { Vocabulary } from '../../../server/src/graph/vocabulary.ts'
import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import { writeTypeName } from '../../../server/src/http/openapi/schemas.ts'
import { type Declaration, declareSchema } from './declarations.ts'
import type { EventSchemas } from './describe-events.ts'
import type { WebhookField } from './event-schemas.ts'
import { writeLiteral } from './write-type.ts'

/** The types of webhook events: a value for each field, a type for each kind of message. */
export function declareEvents({ inbound, values }: EventSchemas, vocabulary: Vocabulary): Declaration[] {
  const kinds = Object.entries(inbound)
  const account = '/** The account that it happened to. */'
  const time = '/** Unix seconds; of the fields about templates alone. */'
  const field = '/** What it is about: it says what the value holds. */'
  const value = '/** What has happened. */'
  return [
    ...kinds.map(([kind, schema]) =>
      declareSchema(kindName(kind), schema, 'received', `A message of type \`${kind}\`.`),
    ),
    {
      name: 'InboundMessage',
      sentence: 'A message from a user: `type` says which kind.',
      type: kinds.map(([kind]) => `\n  | ${kindName(kind)}`).join(''),
    },
    ...Object.entries(values).map(([name, schema]) =>
      declareSchema(valueName(name), nameMessages(name, schema), 'received', `The value of the field \`${name}\`.`),
    ),
    {
      name: 'WebhookValues',
      sentence: 'The value of each field.',
      members: Object.keys(values).map(
        (name) => `  /** ${fieldSentences[name as WebhookField]} */\n  ${name}: ${valueName(name)}\n`,
      ),
    },
    {
      name: 'WebhookEvent',
      sentence: 'One change that an app is notified of: `field` says what its value holds.',
      type: `{
  [Field in keyof WebhookValues]: {
    ${account}
    account_id: string
    ${time}
    time?: number
    ${field}
    field: Field
    ${value}
    value: WebhookValues[Field]
  }
}[keyof WebhookValues]`,
    },
    {
      name: 'WebhookEnvelope',
      sentence: 'The body of a post, as on the wire.',
      members: [
        `  /** What the entries are about. */\n  object: ${writeLiteral(vocabulary.account_object)}\n`,
        `  /** One for each account. */
  entry: {
    ${account}
    id: string
    ${time}
    time?: number
    /** What has happened to it. */
    changes: WebhookChange[]
  }[]
`,
      ],
    },
    {
      name: 'WebhookChange',
      sentence: 'One change of an account, as on the wire.',
      type: `{
  [Field in keyof WebhookValues]: {
    ${field}
    field: Field
    ${value}
    value: WebhookValues[Field]
  }
}[keyof WebhookValues]`,
    },
  ]
}

/** When an app is notified of each field. */
const fieldSentences: Readonly<Record<WebhookField, string>> = {
  messages: 'Messages of users, and what became of messages that were sent.',
  calls: 'Calls that begin and end, and what became of calls of the business.',
  group_lifecycle_update: 'Groups that were created or deleted, or could not be.',
  group_participants_update: 'Who joined, left, or asks to join a group.',
  group_settings_update: 'The settings of groups, passed on as they came.',
  group_status_update: 'The state of groups, passed on as it came.',
  account_update: 'Changes of an account, passed on as they came.',
  phone_number_name_update: 'Reviews of the names of phone numbers, passed on as they came.',
  phone_number_quality_update: 'The quality of phone numbers, passed on as it came.',
  message_template_status_update: 'Reviews of templates, and other changes of their state.',
  message_template_quality_update: 'How the messages of templates are received.',
  template_category_update: 'Templates that were put into another category.',
  user_preferences: 'Users who stop marketing messages, or resume them.',
}

function kindName(kind: string): string {
  return `Inbound${writeTypeName(kind)}`
}

function valueName(field: string): string {
  return `${writeTypeName(field)}Value`
}

/** The kinds of messages have types of their own. */
function nameMessages(field: string, schema: JsonSchema): JsonSchema {
  if (field !== 'messages') return schema
  const properties = schema['properties'] as Record<string, JsonSchema>
  const items = { type: 'named', name: 'InboundMessage' }
  return { ...schema, properties: { ...properties, messages: { ...properties['messages'], items } } }
}
