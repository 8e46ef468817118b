import type { Vocabulary } from '../../../server/src/graph/vocabulary.ts'
import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import { writeTypeName } from '../../../server/src/http/openapi/schemas.ts'
import { describeContents } from './message-contents.ts'

/** A parameter of a method. */
export interface Parameter {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
}

/** Parameters of which one says what the others have to be: a union by it, instead of members that may all be left out. */
export function describeKinds(
  call: string,
  parameters: readonly Parameter[],
  vocabulary: Vocabulary,
): JsonSchema | undefined {
  if (call === 'messages.send') return describeSent(parameters, vocabulary)
  return call === 'gateway.messages.write' ? describeWritten(parameters) : undefined
}

function describeSent(parameters: readonly Parameter[], vocabulary: Vocabulary): JsonSchema {
  const kinds = Object.keys(describeContents(vocabulary))
  const common = pick(parameters, [
    ...['messaging_product', 'recipient_type', 'to', 'recipient'],
    ...['context', 'biz_opaque_callback_data'],
  ])
  const messages = kinds.map((kind) =>
    describeObject(
      [
        // A vocabulary with ids of users takes one instead of the number.
        ...(vocabulary.habits.user_ids ? common : require(common, 'to')),
        // A message without a type is a text.
        { name: 'type', schema: { const: kind }, required: kind !== 'text' },
        ...require(pick(parameters, [kind]), kind),
      ],
      `Outbound${writeTypeName(kind)}`,
      `A message of type \`${kind}\` to send.`,
    ),
  )
  return { anyOf: messages, title: 'OutboundMessage', description: 'A message to send: `type` says which kind.' }
}

function describeWritten(parameters: readonly Parameter[]): JsonSchema {
  const type = parameters.find(({ name }) => name === 'type') as Parameter
  const kinds = type.schema['enum'] as string[]
  const common = parameters.filter(({ name }) => name !== 'type' && !kinds.includes(name))
  return {
    anyOf: kinds.map((kind) => {
      const isUnderstood = kind !== 'unsupported' && kind !== 'unknown'
      const content = pick(parameters, [kind])
      return describeObject(
        [
          ...common,
          { name: 'type', schema: { const: kind }, required: true },
          ...(isUnderstood ? require(content, kind) : content),
        ],
        `Written${writeTypeName(kind)}`,
        `A message of type \`${kind}\` that a user writes.`,
      )
    }),
  }
}

/** Parameters of which one has to be there: a union by which. */
export function requireOne(parameters: readonly Parameter[], names: readonly string[]): JsonSchema {
  return { anyOf: names.map((name) => describeObject(require(parameters, name))) }
}

function pick(parameters: readonly Parameter[], names: readonly string[]): Parameter[] {
  return names.flatMap((name) => parameters.filter((parameter) => parameter.name === name))
}

function require(parameters: readonly Parameter[], ...names: string[]): Parameter[] {
  return parameters.map((parameter) => (names.includes(parameter.name) ? { ...parameter, required: true } : parameter))
}

function describeObject(members: readonly Parameter[], title?: string, description?: string): JsonSchema {
  return {
    type: 'object',
    ...(title !== undefined && { title, description }),
    properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
    required: members.filter(({ required }) => required).map(({ name }) => name),
  }
}
