import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'

/** Whether a type is for what is sent, whose lists may be readonly, or for what comes back. */
export type Direction = 'sent' | 'received'

/** A schema as a TypeScript type: one with a title is declared under it. */
export function writeType(schema: JsonSchema, direction: Direction, indent = ''): string {
  if (schema['title'] !== undefined) return String(schema['title'])
  if ('const' in schema) return writeLiteral(schema['const'])
  if (schema['enum']) return unite((schema['enum'] as unknown[]).map(writeLiteral))
  if (schema['anyOf']) return unite((schema['anyOf'] as JsonSchema[]).map((one) => writeType(one, direction, indent)))
  switch (schema['type']) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    // A member that must not be there.
    case 'undefined':
      return 'undefined'
    // A type that is declared elsewhere.
    case 'named':
      return String(schema['name'])
    case 'array':
      return writeArray(schema['items'] as JsonSchema, direction, indent)
    case 'object':
      return writeObject(schema, direction, indent)
    default:
      return 'unknown'
  }
}

export function writeLiteral(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** The schemas with titles within one, each once, the inner ones first. */
export function listTitled(schema: JsonSchema, found = new Map<string, JsonSchema>()): Map<string, JsonSchema> {
  const { properties = {}, items, anyOf = [], title } = schema
  const inner = [...Object.values(properties as object), ...(items ? [items] : []), ...(anyOf as JsonSchema[])]
  for (const one of inner as JsonSchema[]) listTitled(one, found)
  if (title !== undefined) found.set(String(title), withoutTitle(schema))
  return found
}

function withoutTitle({ title: _title, ...schema }: JsonSchema): JsonSchema {
  return schema
}

function unite(types: readonly string[]): string {
  return [...new Set(types)].join(' | ')
}

function writeArray(items: JsonSchema, direction: Direction, indent: string): string {
  const item = writeType(items ?? {}, direction, indent)
  const isUnion = !items?.['title'] && (items?.['anyOf'] || items?.['enum'])
  const list = `${isUnion || item.startsWith('readonly ') ? `(${item})` : item}[]`
  return direction === 'sent' ? `readonly ${list}` : list
}

function writeObject(schema: JsonSchema, direction: Direction, indent: string): string {
  const [pattern] = Object.values((schema['patternProperties'] ?? {}) as Record<string, JsonSchema>)
  if (pattern) return `Record<string, ${writeType(pattern, direction, indent)}>`
  const members = listMembers(schema, direction, indent)
  return members ? `{\n${members.join('')}${indent}}` : 'Record<string, unknown>'
}

/** The members of an object, each as lines; undefined where there are none, or it is none. */
export function listMembers(schema: JsonSchema, direction: Direction, indent = ''): string[] | undefined {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  const isOther = schema['title'] !== undefined || schema['anyOf'] || schema['patternProperties']
  if (isOther || properties.length === 0) return undefined
  const required = (schema['required'] ?? []) as string[]
  const members = properties.map(([name, member]) =>
    writeMember({ name, schema: member, required: required.includes(name) }, direction, `${indent}  `),
  )
  const open = schema['additionalProperties'] === true ? [`${indent}  [member: string]: unknown\n`] : []
  return [...members, ...open]
}

export interface Member {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
  /** Written instead of the schema's type. */
  readonly type?: string
}

/** One member with its description, as lines. */
export function writeMember({ name, schema, required, type }: Member, direction: Direction, indent: string): string {
  const written = type ?? writeType(schema, direction, indent)
  // With exactOptionalPropertyTypes a caller could not pass on what may be undefined.
  const optional = required ? ':' : '?:'
  const takesUndefined = written === 'unknown' || written === 'undefined'
  const orUndefined = !required && direction === 'sent' && !takesUndefined ? ' | undefined' : ''
  return `${writeComment(describe(schema), indent)}${indent}${writeKey(name)}${optional} ${written}${orUndefined}\n`
}

function describe({ description }: JsonSchema): string[] {
  return typeof description === 'string' ? description.split('\n') : []
}

/** A type under its name: an interface where that is possible. */
export function declareType(name: string, schema: JsonSchema, direction: Direction): string {
  const text = writeType(schema, direction)
  const isObject = text.startsWith('{') && !schema['anyOf']
  return isObject ? `interface ${name} ${text}\n` : `type ${name} = ${text}\n`
}

/** A JSDoc comment; nothing for no lines. */
export function writeComment(lines: readonly string[], indent: string): string {
  const safe = lines.map((line) => line.replaceAll('*/', '*\\/'))
  if (safe.length === 0) return ''
  if (safe.length === 1) return `${indent}/** ${safe[0]} */\n`
  return `${indent}/**\n${safe.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`).join('')}${indent} */\n`
}

/** The words of the code in a text, without its comments. */
export function listWords(text: string): Set<string> {
  const code = text.split('\n').filter((line) => !/^ *(\/\*\*|\*)/.test(line))
  return new Set(code.join('\n').match(/\w+/g))
}

function writeKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : writeLiteral(name)
}

/** A value as source text, as people write it. */
export function writeValue(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return value === undefined ? 'undefined' : writeLiteral(value)
  const isList = Array.isArray(value)
  const inner = Object.entries(value).map(([name, one]) => {
    const text = writeValue(one, `${indent}  `)
    return isList ? text : `${writeKey(name)}: ${text}`
  })
  const short = isList ? `[${inner.join(', ')}]` : `{ ${inner.join(', ')} }`
  if (inner.length === 0) return isList ? '[]' : '{}'
  if (short.length + indent.length < 90 && !short.includes('\n')) return short
  const [begin, end] = isList ? '[]' : '{}'
  return `${begin}\n${inner.map((one) => `${indent}  ${one},\n`).join('')}${indent}${end}`
}
