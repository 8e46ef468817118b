import type { TSchema } from 'typebox'
import type { TLocalizedValidationError } from 'typebox/error'
import { Check, Compile, type Validator } from 'typebox/schema'

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
      return describeMissing(place, error.params.requiredProperties[0] ?? '', findSchema(schema, error.schemaPath))
    case 'additionalProperties':
      return {
        place: joinPlace(place, error.params.additionalProperties[0] ?? ''),
        problem: describeKnownKeys(findSchema(schema, error.schemaPath)),
      }
    default:
      return { place, problem: `it must be ${describeSchema(findSchema(schema, error.schemaPath))}.` }
  }
}

function describeMissing(place: string, name: string, { properties = {} }: Described): Problem {
  const expected = Object.hasOwn(properties, name) ? properties[name] : undefined
  return {
    place: joinPlace(place, name),
    problem: expected ? `it is required; send ${describeSchema(expected)}.` : 'it is required.',
  }
}

function describeKnownKeys({ properties = {} }: Described): string {
  return `it is not a known key; use one of ${Object.keys(properties).join(', ')}.`
}

/**
 * Everything that is wrong with a value, each thing when it is asked for. The validator's own list ends after a few, and it
 * walks the whole of a long array even when only one item is wrong; this one goes into the items that are wrong alone.
 */
export function findProblems(schema: TSchema, value: unknown): Generator<Problem> {
  const validators = new Map<Described, Validator>()

  function isGood(item: Described, one: unknown): boolean {
    let validator = validators.get(item)
    if (!validator) {
      validator = Compile(item as TSchema)
      validators.set(item, validator)
    }
    return validator.Check(one)
  }

  function* find(expected: Described, found: unknown, place: string): Generator<Problem> {
    if (expected.properties && isObject(found)) {
      for (const name of expected.required ?? []) {
        if (!Object.hasOwn(found, name)) yield describeMissing(place, name, expected)
      }
      for (const [name, member] of Object.entries(found)) {
        const known = Object.hasOwn(expected.properties, name) ? expected.properties[name] : undefined
        if (known) yield* find(known, member, joinPlace(place, name))
        else if (expected.additionalProperties === false) {
          yield { place: joinPlace(place, name), problem: describeKnownKeys(expected) }
        }
      }
      return
    }
    const list = Array.isArray(found) ? expected.anyOf?.find(({ items }) => items) : undefined
    if (list) {
      yield* find(list, found, place)
      return
    }
    if (expected.items && Array.isArray(found)) {
      const { items, ...itself } = expected
      if (!Check(itself as TSchema, found)) yield { place, problem: `it must be ${describeSchema(expected)}.` }
      for (const [index, item] of found.entries()) {
        if (!isGood(items, item)) yield* find(items, item, `${place}[${index}]`)
      }
      return
    }
    if (!Check(expected as TSchema, found)) yield { place, problem: `it must be ${describeSchema(expected)}.` }
  }

  return find(schema as Described, value, '')
}

/** Deeper than anything that the API takes, and far from what a walk through it could not bear. */
const maxDepth = 64

/** What the databases could not keep as it came: a NUL character, half of a surrogate pair, or nesting without end. */
export function findUnstorableText(value: unknown, place: string, depth = 0): Problem | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return { place, problem: 'it holds a NUL character; remove it.' }
    return value.isWellFormed()
      ? undefined
      : { place, problem: 'it holds half of a surrogate pair; send well-formed Unicode.' }
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > maxDepth)
    return { place, problem: `it is nested more than ${maxDepth} levels deep; send something flatter.` }
  for (const [key, member] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${place}[${key}]` : joinPlace(place, key)
    const problem = findUnstorableText(key, at) ?? findUnstorableText(member, at, depth + 1)
    if (problem) return problem
  }
  return undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
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
