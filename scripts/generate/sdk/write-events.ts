import { chooseVocabulary, vocabularyNames } from '../../../server/src/graph/vocabulary.ts'
import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import { writeTypeName } from '../../../server/src/http/openapi/schemas.ts'
import type { EventSchemas } from './describe-events.ts'
import { writeTypeImports } from './write-shared-types.ts'
import { writeComment, writeLiteral, writeType } from './write-type.ts'

/** The types of webhook events: a value for each field, a type for each kind of message. */
export function writeEventTypes({ inbound, values }: EventSchemas, shared: readonly string[]): string {
  const objects = vocabularyNames.map((name) => writeLiteral(chooseVocabulary(name).account_object))
  const kinds = Object.entries(inbound)
  const fields = Object.keys(values)
  const text = [
    ...kinds.map(([kind, schema]) => declare(kindName(kind), schema, `A message of type \`${kind}\`.`)),
    `/** A message from a user: \`type\` says which kind. */\nexport type InboundMessage =\n${list(kinds.map(([kind]) => kindName(kind)))}`,
    ...Object.entries(values).map(([field, schema]) =>
      declare(valueName(field), nameMessages(field, schema), `The value of the field \`${field}\`.`),
    ),
    '/** The value of each field. */\nexport interface WebhookValues {',
    ...fields.map((field) => `  ${field}: ${valueName(field)}`),
    '}\n',
    '/** One change that an app is notified of: `field` says what its value holds. */',
    'export type WebhookEvent = {',
    '  [Field in keyof WebhookValues]: {',
    '    /** The account that it happened to. */',
    '    account_id: string',
    '    /** Unix seconds; of the fields about templates alone. */',
    '    time?: number',
    '    field: Field',
    '    value: WebhookValues[Field]',
    '  }',
    '}[keyof WebhookValues]\n',
    '/** The body of a post, as on the wire. */',
    'export interface WebhookEnvelope {',
    `  object: ${objects.join(' | ')}`,
    '  entry: {',
    '    /** The account that it happened to. */',
    '    id: string',
    '    time?: number',
    '    changes: WebhookChange[]',
    '  }[]',
    '}\n',
    'export type WebhookChange = {',
    '  [Field in keyof WebhookValues]: { field: Field; value: WebhookValues[Field] }',
    '}[keyof WebhookValues]',
    '',
  ].join('\n')
  return `${writeTypeImports(text, shared)}${text}`
}

function kindName(kind: string): string {
  return `Inbound${writeTypeName(kind)}`
}

function valueName(field: string): string {
  return `${writeTypeName(field)}Value`
}

function list(names: readonly string[]): string {
  return `${names.map((name) => `  | ${name}`).join('\n')}\n`
}

/** The kinds of messages have types of their own. */
function nameMessages(field: string, schema: JsonSchema): JsonSchema {
  if (field !== 'messages') return schema
  const properties = schema['properties'] as Record<string, JsonSchema>
  const items = { type: 'named', name: 'InboundMessage' }
  return { ...schema, properties: { ...properties, messages: { type: 'array', items } } }
}

function declare(name: string, schema: JsonSchema, sentence: string): string {
  return `${writeComment([sentence], '')}export interface ${name} ${writeType(schema, 'received')}\n`
}
