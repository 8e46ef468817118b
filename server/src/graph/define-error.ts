import {
  type AnyErrorStatus,
  type ErrorArgs,
  type ErrorDefinition,
  type ErrorExtra,
  type ErrorValue,
  fillIn,
  GraphError,
} from './graph-error.ts'

/** The names in a text's `{placeholders}`; braces around anything else, such as `{"a": 1}` or `{Account-ID}`, are text. */
type PlaceholdersOf<Text extends string> = Text extends `${string}{${infer Inside}}${infer Rest}`
  ? (Inside extends `${string}${'"' | '-' | ' '}${string}` ? never : Inside) | PlaceholdersOf<Rest>
  : never

/** The arguments that a text needs. */
export type ArgsOf<Text extends string> = { readonly [Name in PlaceholdersOf<Text>]: ErrorValue }

/** A text without placeholders needs no arguments. */
type Given<Text extends string> = [PlaceholdersOf<Text>] extends [never]
  ? [extra?: ErrorExtra]
  : [args: ArgsOf<Text>, extra?: ErrorExtra]

/** An entry of the catalogue, and the function that makes its error. */
export interface DefinedError<Text extends string = string> extends ErrorDefinition<Text> {
  (...given: Given<Text>): GraphError
}

/** The default code of each status. */
const usualCodes: Record<AnyErrorStatus, number> = {
  400: 100,
  401: 190,
  403: 200,
  404: 803,
  408: 2,
  416: 100,
  422: 100,
  429: 4,
  500: 2,
}

interface ErrorMembers<Text extends string> {
  /** Unique, in snake_case: `group_is_full`. */
  readonly id: string
  readonly status: AnyErrorStatus
  /** By default the usual one of the status. */
  readonly code?: number
  readonly subcode?: number
  /** One sentence: what is wrong, and what is right. The placeholder `{seconds}` is also sent as `Retry-After`. */
  readonly text: Text
}

/** Adds an error to the catalogue. Its arguments are typed by the placeholders of its text. */
export function defineError<const Text extends string>(members: ErrorMembers<Text>): DefinedError<Text> {
  const definition = complete(members)
  const takesArgs = /\{[a-z]\w*\}/.test(members.text)
  const make = (...given: unknown[]) => {
    const [args, extra] = takesArgs ? given : [{}, given[0]]
    return new GraphError(definition, args as ErrorArgs, extra as ErrorExtra | undefined)
  }
  return Object.assign(make, definition)
}

function complete<Text extends string>({
  id,
  status,
  code = usualCodes[status],
  subcode,
  text,
}: ErrorMembers<Text>): ErrorDefinition<Text> {
  return { id, status, code, subcode, text }
}

/** What is wrong with one argument: of a request, which becomes a 400, or of a world file, which becomes a line. */
export interface ArgumentProblem {
  /** `accounts[2].name`; empty for the value as a whole. */
  readonly place: string
  readonly problem: string
  readonly definition: ErrorDefinition
  readonly args: ErrorArgs
}

/** The sentence of a problem as an error. */
type OfArgument<Text extends string> = `{argument}: ${Text}`

/** An entry of the catalogue, and the function that makes its problem, given the place of the argument. */
export interface DefinedProblem<Text extends string = string> extends ErrorDefinition<OfArgument<Text>> {
  (place: string, ...given: [PlaceholdersOf<Text>] extends [never] ? [] : [args: ArgsOf<Text>]): ArgumentProblem
}

/** Adds a problem that any argument may have: a 400 whose sentence begins with the place of the argument. */
export function defineProblem<const Text extends string>(members: {
  readonly id: string
  readonly subcode?: number
  readonly text: Text
}): DefinedProblem<Text> {
  const { text } = members
  const definition = complete({ ...members, status: 400, text: `{argument}: ${text}` as OfArgument<Text> })
  const make = (place: string, args: ErrorArgs = {}) => ({ place, problem: fillIn(text, args), definition, args })
  return Object.assign(make, definition)
}

/** 400: one argument is missing, of the wrong type or form, or out of its range. */
export function badArgument({ definition, place, args }: ArgumentProblem): GraphError {
  return new GraphError(definition, { ...args, argument: place })
}
