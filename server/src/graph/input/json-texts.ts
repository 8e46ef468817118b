import type { TSchema } from 'typebox'
import { badArgument } from '../define-error.ts'
import { argumentHoldsTooMuch, argumentNotJson, argumentTooDeep } from '../errors.ts'
import { findJsonExcess, requestBounds } from './json-bounds.ts'
import { describeSchema } from './validation.ts'

/** How many values the JSON texts of one request may still hold, all of them together: one may hold many others. */
export class JsonTextBudget {
  #left = requestBounds.values

  take(place: string, text: string): void {
    const excess = findJsonExcess(text, { ...requestBounds, values: this.#left })
    if (excess === 'values') throw badArgument(argumentHoldsTooMuch(place, { values: requestBounds.values }))
    if (excess === 'depth') throw badArgument(argumentTooDeep(place, { levels: requestBounds.depth }))
  }

  count(parsed: unknown): void {
    if (typeof parsed !== 'object' || parsed === null) return
    const values = Object.values(parsed)
    this.#left = Math.max(0, this.#left - values.length)
    for (const value of values) this.count(value)
  }
}

/** The value of a JSON text; throws the 400 when it is none, or holds too much. */
export function parseJsonText(place: string, text: string, schema: TSchema, budget: JsonTextBudget): unknown {
  budget.take(place, text)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw badArgument(argumentNotJson(place, { expected: describeSchema(schema) }))
  }
  budget.count(parsed)
  return parsed
}

type ReadJsonTexts = (place: string, value: unknown, budget: JsonTextBudget) => unknown

/** Makes the function that parses JSON text where a schema has an object or an array; undefined when it has none. */
export function compileJsonTexts(schema: TSchema): ReadJsonTexts | undefined {
  const { type, properties, items } = schema as {
    readonly type?: string
    readonly properties?: Readonly<Record<string, TSchema>>
    readonly items?: TSchema
  }
  if (type !== 'object' && type !== 'array') return undefined
  const readInside = type === 'object' ? compileMembers(properties ?? {}) : compileItems(items)
  return (place, value, budget) => {
    const whole = typeof value === 'string' ? parseJsonText(place, value, schema, budget) : value
    return readInside ? readInside(place, whole, budget) : whole
  }
}

function compileMembers(properties: Readonly<Record<string, TSchema>>): ReadJsonTexts | undefined {
  const members = Object.entries(properties).flatMap(([name, schema]) => {
    const read = compileJsonTexts(schema)
    return read ? [{ name, read }] : []
  })
  if (members.length === 0) return undefined
  return (place, value, budget) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const object: Record<string, unknown> = { ...value }
    for (const { name, read } of members) {
      if (Object.hasOwn(object, name)) object[name] = read(`${place}.${name}`, object[name], budget)
    }
    return object
  }
}

function compileItems(items: TSchema | undefined): ReadJsonTexts | undefined {
  const read = items && compileJsonTexts(items)
  if (!read) return undefined
  return (place, value, budget) =>
    Array.isArray(value) ? value.map((item, index) => read(`${place}[${index}]`, item, budget)) : value
}
