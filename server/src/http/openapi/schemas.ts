import type { TSchema } from 'typebox'
import type { JsonSchema } from './document.ts'

/** A schema as plain JSON, with the validator's own keywords translated to JSON Schema. */
export function toJsonSchema(schema: TSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema, (_key, value) => translateKeywords(value)))
}

function translateKeywords(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { 'x-expects': expects, ...schema } = value as Record<string, unknown>
  const { enum: values, description } = schema
  // Client generators make a proper enumeration only when the type is given as well.
  const types =
    Array.isArray(values) && schema['type'] === undefined ? new Set(values.map((one) => typeof one)) : undefined
  return {
    ...(types?.size === 1 && { type: [...types][0] }),
    ...schema,
    ...(typeof expects === 'string' && { description: `${description ?? ''} It must be ${expects}.`.trimStart() }),
  }
}

/** The same arguments in a form: a structured argument is one field with JSON text. */
export function toFormSchema(schema: JsonSchema): JsonSchema {
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  return {
    ...schema,
    properties: Object.fromEntries(
      members.map(([name, member]) => [name, isStructured(member) ? toText(member) : member]),
    ),
  }
}

/** The same arguments in a multipart body, where a file is bytes. */
export function toMultipartSchema(schema: JsonSchema, file: string): JsonSchema {
  const form = toFormSchema(schema)
  const members = form['properties'] as Record<string, JsonSchema>
  return { ...form, properties: { ...members, [file]: { ...members[file], format: 'binary' } } }
}

export function isStructured({ type }: JsonSchema): boolean {
  return type === 'object' || type === 'array'
}

function toText({ description, ...schema }: JsonSchema): JsonSchema {
  return {
    type: 'string',
    ...(description !== undefined && { description }),
    contentMediaType: 'application/json',
    contentSchema: schema,
  }
}

/** A form's example: structured members as the JSON text of their fields. */
export function toFormExample(example: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : value]),
  )
}

/** `phone_numbers.read_info` → `PhoneNumbersReadInfo` */
export function writeTypeName(rowName: string): string {
  return rowName.replaceAll(/(?:^|[._-])(\w)/g, (_match, letter: string) => letter.toUpperCase())
}
