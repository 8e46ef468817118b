import type { TSchema } from 'typebox'
import type { TLocalizedValidationError } from 'typebox/error'

/** One thing that is wrong with a value: where, and what would be right. */
export interface Problem {
  /** `accounts[2].name`; empty for the value as a whole. */
  readonly place: string
  readonly problem: string
}

/** Turns what the validator found into words. */
export function describeProblem(schema: TSchema, error: TLocalizedValidationError): Problem {
  const place = writePlace(error.instancePath)
  switch (error.keyword) {
    case 'required':
      return { place: joinPlace(place, error.params.requiredProperties[0] ?? ''), problem: 'it is required.' }
    case 'additionalProperties':
      return {
        place: joinPlace(place, error.params.additionalProperties[0] ?? ''),
        problem: `it is not a known key; known: ${Object.keys(findSchema(schema, error.schemaPath).properties ?? {}).join(', ')}.`,
      }
    default:
      return { place, problem: `it must be ${describeSchema(findSchema(schema, error.schemaPath))}.` }
  }
}

/** The parts of JSON Schema that the words are made of. */
interface Described {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Described[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly pattern?: string
  readonly format?: string
  readonly items?: Described
  readonly properties?: Readonly<Record<string, Described>>
  /** What to say instead of the words made here: for patterns, which nobody can read. */
  readonly 'x-expects'?: string
}

const formats: Readonly<Record<string, string>> = {
  email: 'an email address',
  uri: 'an absolute URL',
  date: 'a date such as 2027-01-31',
  'date-time': 'a time such as 2027-01-31T12:00:00Z',
}

/** Says what a value must be. */
export function describeSchema(schema: Described): string {
  if (schema['x-expects']) return schema['x-expects']
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return `one of ${schema.enum.join(', ')}`
  if (schema.anyOf) return schema.anyOf.map(describeSchema).join(', or ')
  switch (schema.type) {
    case 'string':
      return describeString(schema)
    case 'integer':
      return `an integer${describeRange(schema.minimum, schema.maximum)}`
    case 'number':
      return `a number${describeRange(schema.minimum, schema.maximum)}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return `an array${describeCount(schema.minItems, schema.maxItems, 'items')}${schema.uniqueItems ? ' without repeats' : ''}`
    case 'null':
      return 'null'
    default:
      return 'an object'
  }
}

function describeString(schema: Described): string {
  const kind = (schema.format && formats[schema.format]) ?? 'a string'
  return `${kind}${describeCount(schema.minLength, schema.maxLength, 'characters')}${schema.pattern ? ` that matches ${schema.pattern}` : ''}`
}

function describeRange(min: number | undefined, max: number | undefined): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  if (min !== undefined) return ` of at least ${min}`
  return max === undefined ? '' : ` of at most ${max}`
}

function describeCount(min: number | undefined, max: number | undefined, of: string): string {
  if (min !== undefined && max !== undefined) return min === max ? ` of ${min} ${of}` : ` of ${min} to ${max} ${of}`
  if (min !== undefined) return ` of at least ${min} ${of}`
  return max === undefined ? '' : ` of at most ${max} ${of}`
}

/** `/accounts/2/name` → `accounts[2].name` */
function writePlace(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map(unescapePointer)
    .reduce((place, part) => (/^\d+$/.test(part) ? `${place}[${part}]` : joinPlace(place, part)), '')
}

export function joinPlace(place: string, member: string): string {
  return place === '' ? member : `${place}.${member}`
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

function findSchema(schema: TSchema, schemaPath: string): Described {
  let found: unknown = schema
  for (const part of schemaPath.split('/').slice(1).map(unescapePointer)) {
    found = (found as Record<string, unknown> | undefined)?.[part]
  }
  return (found ?? schema) as Described
}
