import type { TObject, TSchema } from 'typebox'
import { badArgument } from '../define-error.ts'
import { parameterNotTaken, parameterUnknown } from '../errors.ts'
import { compileLeavingOut } from './empty-members.ts'
import { compileJsonTexts, JsonTextBudget, parseJsonText } from './json-texts.ts'
import { compileCheck, findUnstorableText } from './validation.ts'

/** Arguments from one source. Those of a query, a form or a multipart body are text; those of a JSON body have types. */
export interface Arguments {
  readonly typed: boolean
  readonly values: Readonly<Record<string, unknown>>
  /** Whether these are headers: an argument that is a header comes from nowhere else. */
  readonly areHeaders?: true
  readonly isQuery?: true
}

export type InputReader = (sources: readonly Arguments[]) => Record<string, unknown>

/** What a reader does besides. */
interface InputOptions {
  /** Arguments that come as headers of the same names. */
  readonly headers?: readonly string[] | undefined
  /** Whether objects and arrays of a JSON body may come as JSON text. */
  readonly jsonInJson?: boolean
  /** Members that count as left out when they are empty texts, as `a.b` and `a.items[].b`, besides any that is null; undefined: none does. */
  readonly emptyMembers?: readonly string[] | undefined
  /** The only parameters that the query may have; undefined: any, and parameters outside of the schema are ignored. */
  readonly knownInQuery?: readonly string[] | undefined
}

/**
 * Makes the function that merges path, query and body into one validated input. Earlier sources win; unknown members are ignored
 * unless the query is closed, and so is a member of body or query that has the name of a header.
 */
export function compileInput(
  schema: TObject,
  { headers = [], jsonInJson = false, emptyMembers, knownInQuery }: InputOptions = {},
): InputReader {
  const members = Object.entries(schema.properties).map(([name, member]) => ({
    name,
    read: compileText(member),
    readTyped: jsonInJson ? compileJsonTexts(member) : undefined,
    isHeader: headers.includes(name),
  }))
  const check = compileCheck(schema)
  const leaveOutEmpty = emptyMembers && compileLeavingOut(emptyMembers)

  return (sources) => {
    if (knownInQuery) refuseUnknown(sources, knownInQuery)
    const input: Record<string, unknown> = {}
    const budget = jsonInJson ? new JsonTextBudget() : undefined
    for (const { name, read, readTyped, isHeader } of members) {
      for (const source of sources) {
        if (!Object.hasOwn(source.values, name) || (isHeader && !source.areHeaders)) continue
        const value = source.values[name]
        if (!source.typed) input[name] = read(name, value)
        else input[name] = budget && readTyped ? readTyped(name, value, budget) : value
        break
      }
    }
    leaveOutEmpty?.(input)
    // The schema limits lengths and counts, so this second check sees only input within the limits.
    const problem = check(input) ?? findUnstorableText(input, '')
    if (problem) throw badArgument(problem)
    return input
  }
}

/** Far more than any name that is nearly right. */
const maxShownName = 80

function refuseUnknown(sources: readonly Arguments[], known: readonly string[]): void {
  for (const { values, isQuery } of sources) {
    const unknown = isQuery ? Object.keys(values).find((name) => !known.includes(name)) : undefined
    if (unknown === undefined) continue
    const place = unknown.toWellFormed().slice(0, maxShownName)
    throw badArgument(known.length === 0 ? parameterNotTaken(place) : parameterUnknown(place, { known }))
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
      return (name, value) =>
        typeof value === 'string' ? parseJsonText(name, value, schema, new JsonTextBudget()) : value
    default:
      return (_name, value) => value
  }
}
