import type { TObject, TSchema } from 'typebox'
import { badArgument } from '../define-error.ts'
import { argumentHoldsTooMuch, argumentNotJson, argumentTooDeep } from '../errors.ts'
import { findJsonExcess, requestBounds } from './json-bounds.ts'
import { compileCheck, describeSchema, findUnstorableText } from './validation.ts'

/** Arguments from one source. Those of a query, a form or a multipart body are text; those of a JSON body have types. */
export interface Arguments {
  readonly typed: boolean
  readonly values: Readonly<Record<string, unknown>>
  /** Whether these are headers: an argument that is a header comes from nowhere else. */
  readonly areHeaders?: true
}

export type InputReader = (sources: readonly Arguments[]) => Record<string, unknown>

/**
 * Makes the function that merges path, query and body into one validated input. Earlier sources win; unknown members are ignored, and
 * so is a member of body or query that has the name of a header.
 */
export function compileInput(schema: TObject, headers: readonly string[] = []): InputReader {
  const members = Object.entries(schema.properties).map(([name, member]) => ({
    name,
    read: compileText(member),
    isHeader: headers.includes(name),
  }))
  const check = compileCheck(schema)

  return (sources) => {
    const input: Record<string, unknown> = {}
    for (const { name, read, isHeader } of members) {
      for (const source of sources) {
        if (!Object.hasOwn(source.values, name) || (isHeader && !source.areHeaders)) continue
        const value = source.values[name]
        input[name] = source.typed ? value : read(name, value)
        break
      }
    }
    // The schema limits lengths and counts, so this second check sees only input within the limits.
    const problem = check(input) ?? findUnstorableText(input, '')
    if (problem) throw badArgument(problem)
    return input
  }
}

/** Converts text to a member's type; text that does not fit stays text, for the validator to refuse. */
function compileText(schema: TSchema): (name: string, value: unknown) => unknown {
  const { type } = schema as { type?: string }
  switch (type) {
    case 'integer':
    case 'number':
      return (_name, value) => (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value)
    case 'boolean':
      return (_name, value) => (value === 'true' ? true : value === 'false' ? false : value)
    case 'array':
    case 'object':
      return (name, value) => parseJsonMember(name, value, schema)
    default:
      return (_name, value) => value
  }
}

function parseJsonMember(name: string, value: unknown, schema: TSchema): unknown {
  if (typeof value !== 'string') return value
  const excess = findJsonExcess(value, requestBounds)
  if (excess === 'values') throw badArgument(argumentHoldsTooMuch(name, { values: requestBounds.values }))
  if (excess === 'depth') throw badArgument(argumentTooDeep(name, { levels: requestBounds.depth }))
  try {
    return JSON.parse(value)
  } catch {
    throw badArgument(argumentNotJson(name, { expected: describeSchema(schema) }))
  }
}
