import type { TSchema } from 'typebox'
import { Check, Compile, type Validator } from 'typebox/schema'
import type { ArgumentProblem } from '../define-error.ts'
import {
  argumentHoldsHalfCharacter,
  argumentHoldsNul,
  argumentMissing,
  argumentNestedTooDeep,
  argumentOfAnotherVocabulary,
  argumentRequired,
  argumentWrong,
  keyUnknown,
} from '../errors.ts'
import { findOtherVocabulary } from '../vocabulary.ts'
import { maxJsonDepth } from './json-bounds.ts'

/** One fault of a value: its place, and what is right. */
export interface Problem {
  /** `accounts[2].name`; empty for the value as a whole. */
  readonly place: string
  readonly problem: string
}

/** Makes the function that validates a value against a schema; it returns the first fault, or undefined. */
export function compileCheck(schema: TSchema): (value: unknown) => ArgumentProblem | undefined {
  // Compiled at first use, so that the start does not wait for schemas that may never be used.
  let validator: Validator | undefined
  return (value) => {
    validator ??= Compile(countFirst(schema)) as Validator
    if (validator.Check(value)) return undefined
    // Not the validator's own list: it would match patterns on overlong texts, and check every item of an overlong array.
    const [problem] = findProblems(schema, value)
    if (!problem) throw new Error('the validator refused a value without saying why')
    return problem
  }
}

/**
 * The same schema, for the validator only: it would check every item of an array before counting them, unless the items are a
 * separate part. It checks the lengths of texts before patterns by itself.
 */
function countFirst(schema: TSchema): TSchema {
  const { items, properties, anyOf, ...rest } = schema as Described
  const ordered = {
    ...rest,
    ...(properties && { properties: mapValues(properties, countFirst) }),
    ...(anyOf && { anyOf: anyOf.map(countFirst) }),
    ...(items && { allOf: [{ items: countFirst(items) }] }),
  }
  return ordered as TSchema
}

function mapValues<Value>(
  object: Readonly<Record<string, Value>>,
  map: (value: Value) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]))
}

function describeMissing(place: string, name: string, { properties = {} }: Described): ArgumentProblem {
  const expected = Object.hasOwn(properties, name) ? properties[name] : undefined
  const at = joinPlace(place, name)
  return expected ? argumentMissing(at, { expected: describeSchema(expected) }) : argumentRequired(at)
}

/** Items of longer arrays are first checked by a compiled schema; compiling takes as long as checking so many items. */
const maxPlainItems = 1000

/**
 * All faults of a value, found on demand, cheap checks first. It does not descend into an array with the wrong number of items, nor
 * into the valid items of a long one.
 */
export function findProblems(schema: TSchema, value: unknown): Generator<ArgumentProblem> {
  const validators = new Map<Described, Validator>()
  /** Rearranged once: a value may hold a hundred thousand items of one schema. */
  const ordered = new Map<Described, TSchema>()

  function isRight(expected: Described, found: unknown): boolean {
    let schema = ordered.get(expected)
    if (!schema) {
      schema = countFirst(expected as TSchema)
      ordered.set(expected, schema)
    }
    return Check(schema, found)
  }

  function isGood(item: Described, one: unknown): boolean {
    let validator = validators.get(item)
    if (!validator) {
      validator = Compile(countFirst(item as TSchema))
      validators.set(item, validator)
    }
    return validator.Check(one)
  }

  function* find(expected: Described, found: unknown, place: string): Generator<ArgumentProblem> {
    // A list that may also be null, as in a world file.
    const isNullable = expected.anyOf?.every(({ items, type }) => items || type === 'null') ?? false
    const list = isNullable && Array.isArray(found) ? expected.anyOf?.find(({ items }) => items) : undefined
    if (list) yield* find(list, found, place)
    else if (expected.properties && isObject(found)) yield* findInObject(expected, expected.properties, found, place)
    else if (expected.items && Array.isArray(found)) yield* findInArray(expected, expected.items, found, place)
    else if (!isRight(expected, found)) yield describeWrong(place, expected, found)
  }

  function* findInObject(
    expected: Described,
    properties: Readonly<Record<string, Described>>,
    found: Readonly<Record<string, unknown>>,
    place: string,
  ): Generator<ArgumentProblem> {
    for (const name of expected.required ?? []) {
      if (!Object.hasOwn(found, name)) yield describeMissing(place, name, expected)
    }
    const isClosed = expected.additionalProperties === false
    for (const name of Object.keys(isClosed ? found : properties)) {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (!known) yield keyUnknown(joinPlace(place, name), { known: Object.keys(properties) })
      else if (Object.hasOwn(found, name)) yield* find(known, found[name], joinPlace(place, name))
    }
  }

  function* findInArray(
    expected: Described,
    items: Described,
    found: readonly unknown[],
    place: string,
  ): Generator<ArgumentProblem> {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = expected
    if (found.length < minItems || found.length > maxItems) {
      yield describeWrong(place, expected)
      return
    }
    for (const [index, item] of found.entries()) {
      if (found.length > maxPlainItems && isGood(items, item)) continue
      yield* find(items, item, `${place}[${index}]`)
    }
    if (expected.uniqueItems && hasRepeats(found)) yield describeWrong(place, expected)
  }

  return find(schema as Described, value, '')
}

function hasRepeats(items: readonly unknown[]): boolean {
  const different = new Set(items.map((item) => (typeof item === 'object' ? JSON.stringify(item) : item)))
  return different.size < items.length
}

function describeWrong(place: string, expected: Described, found?: unknown): ArgumentProblem {
  const described = { expected: describeSchema(expected) }
  const other = findOtherVocabulary(expected.const, found)
  return other ? argumentOfAnotherVocabulary(place, { ...described, other }) : argumentWrong(place, described)
}

/** Values that the databases could not store unchanged: a NUL character, half of a surrogate pair, or unbounded nesting. */
export function findUnstorableText(value: unknown, place: string): ArgumentProblem | undefined {
  const found = findUnstorable(value, 0)
  return found?.makeProblem(found.steps.reduceRight(takeStep, place))
}

type MakeProblem = (place: string) => ArgumentProblem

interface Unstorable {
  /** The path to it, from the inside; names of members and indexes of items. */
  readonly steps: (string | number)[]
  readonly makeProblem: MakeProblem
}

/** The path is built only for a fault: most values are valid. */
function findUnstorable(value: unknown, depth: number): Unstorable | undefined {
  if (typeof value === 'string') {
    const makeProblem = findTextProblem(value)
    return makeProblem && { steps: [], makeProblem }
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > maxJsonDepth) {
    return { steps: [], makeProblem: (place) => argumentNestedTooDeep(place, { levels: maxJsonDepth }) }
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = findUnstorable(value[index], depth + 1)
      if (found) return addStep(found, index)
    }
    return undefined
  }
  for (const name of Object.keys(value)) {
    const makeProblem = findTextProblem(name)
    if (makeProblem) return { steps: [name], makeProblem }
    const found = findUnstorable((value as Record<string, unknown>)[name], depth + 1)
    if (found) return addStep(found, name)
  }
  return undefined
}

function findTextProblem(text: string): MakeProblem | undefined {
  if (text.includes('\0')) return argumentHoldsNul
  return text.isWellFormed() ? undefined : argumentHoldsHalfCharacter
}

function addStep(found: Unstorable, step: string | number): Unstorable {
  found.steps.push(step)
  return found
}

function takeStep(place: string, step: string | number): string {
  return typeof step === 'number' ? `${place}[${step}]` : joinPlace(place, step)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The keywords of JSON Schema that messages describe. */
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
  /** A text used instead of a generated one: for patterns, which people cannot read. */
  readonly 'x-expects'?: string
}

const formats: Readonly<Record<string, string>> = {
  email: 'an email address',
  uri: 'an absolute URL',
  date: 'a date such as 2027-01-31',
  'date-time': 'a time such as 2027-01-31T12:00:00Z',
}

/** Describes what a value must be. */
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
      return `an array${describeCount(schema.minItems, schema.maxItems, 'item')}${schema.uniqueItems ? ' without repeats' : ''}`
    case 'null':
      return 'null'
    default:
      return 'an object'
  }
}

function describeString(schema: Described): string {
  const kind = (schema.format && formats[schema.format]) ?? 'a string'
  return `${kind}${describeCount(schema.minLength, schema.maxLength, 'character')}${schema.pattern ? ` that matches ${schema.pattern}` : ''}`
}

function describeRange(min: number | undefined, max: number | undefined): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  if (min !== undefined) return ` of at least ${min}`
  return max === undefined ? '' : ` of at most ${max}`
}

function describeCount(min: number | undefined, max: number | undefined, of: string): string {
  if (min !== undefined && max !== undefined) {
    return min === max ? ` of ${countOf(min, of)}` : ` of ${min} to ${countOf(max, of)}`
  }
  if (min !== undefined) return ` of at least ${countOf(min, of)}`
  return max === undefined ? '' : ` of at most ${countOf(max, of)}`
}

function joinPlace(place: string, member: string): string {
  return place === '' ? member : `${place}.${member}`
}

function countOf(count: number, of: string): string {
  return `${count} ${of}${count === 1 ? '' : 's'}`
}
