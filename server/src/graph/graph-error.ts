export const errorStatuses = [400, 401, 403, 404, 422, 429, 500] as const
export type ErrorStatus = (typeof errorStatuses)[number]
/** Downloads, and waiting for something to happen, have one more status each. */
export type AnyErrorStatus = ErrorStatus | 408 | 416

/** A value for a placeholder in the sentence of an error; a list is joined with commas. */
export type ErrorValue = string | number | readonly (string | number | boolean)[]
export type ErrorArgs = Readonly<Record<string, ErrorValue>>

/** An entry of the catalogue: everything fixed about an error. */
export interface ErrorDefinition<Text extends string = string> {
  /** Names the error in code, tests and docs; it is not sent. */
  readonly id: string
  readonly status: AnyErrorStatus
  readonly code: number
  readonly subcode: number | undefined
  /** The sentence, with `{placeholders}`. */
  readonly text: Text
}

export interface ErrorExtra {
  /** Response headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** For the log; never sent. */
  readonly cause?: unknown
  /** The rate limit that was reached: for the metrics. */
  readonly limit?: string
}

/** A refusal as the caller sees it: an entry of the catalogue with its placeholders filled in. */
export class GraphError extends Error {
  readonly definition: ErrorDefinition
  readonly args: ErrorArgs
  readonly headers: Readonly<Record<string, string>>
  readonly limit: string | undefined

  constructor(definition: ErrorDefinition, args: ErrorArgs, { headers = {}, cause, limit }: ErrorExtra = {}) {
    const filled = 'seconds' in args ? { ...args, seconds: wholeSeconds(args['seconds']) } : args
    super(fillIn(definition.text, filled))
    this.definition = definition
    this.args = filled
    this.limit = limit
    this.headers = { ...headers, ...ownHeaders(definition, filled) }
    if (cause !== undefined) this.cause = cause
  }

  get id(): string {
    return this.definition.id
  }

  get status(): AnyErrorStatus {
    return this.definition.status
  }

  get code(): number {
    return this.definition.code
  }

  get subcode(): number | undefined {
    return this.definition.subcode
  }
}

/** The headers of every error of a kind: how to authenticate, and when to try again. */
function ownHeaders({ status }: ErrorDefinition, { seconds }: ErrorArgs): Record<string, string> {
  return {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(seconds !== undefined && { 'retry-after': String(seconds) }),
  }
}

function wholeSeconds(seconds: ErrorValue | undefined): number {
  return Math.max(1, Math.ceil(Number(seconds)))
}

/** Fills in `{placeholders}`; other braces are part of the sentence. */
export function fillIn(text: string, args: ErrorArgs): string {
  return text.replaceAll(/\{([a-z]\w*)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined
    return value === undefined ? whole : typeof value === 'object' ? value.join(', ') : String(value)
  })
}
