import type { Vocabulary } from './vocabulary.ts'

/**
 * The catalogue of everything that can go wrong for a caller, and the one renderer. A message says in one sentence what is
 * wrong and what would be right; it never tells whether an id exists that the caller may not see.
 */
export class GraphError extends Error {
  readonly status: AnyErrorStatus
  readonly code: number
  readonly subcode: number | undefined
  /** Headers that go with the answer. */
  readonly headers: Readonly<Record<string, string>>

  constructor(status: AnyErrorStatus, code: number, message: string, extra: GraphErrorExtra = {}) {
    super(message)
    this.status = status
    this.code = code
    this.subcode = extra.subcode
    this.headers = extra.headers ?? {}
    if (extra.cause !== undefined) this.cause = extra.cause
  }
}

interface GraphErrorExtra {
  readonly subcode?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

export const errorStatuses = [400, 401, 403, 404, 422, 429, 500] as const
export type ErrorStatus = (typeof errorStatuses)[number]
/** Downloads are no operations of the API, and have one status more. */
type AnyErrorStatus = ErrorStatus | 416

const types: Record<AnyErrorStatus, string> = {
  400: 'OAuthException',
  401: 'OAuthException',
  403: 'OAuthException',
  404: 'GraphMethodException',
  416: 'OAuthException',
  422: 'GraphMethodException',
  429: 'OAuthException',
  500: 'GraphMethodException',
}

const codes = {
  transient: 2,
  rate: 4,
  featureOff: 10,
  argument: 100,
  noToken: 104,
  badToken: 190,
  permission: 200,
  unknown: 803,
}
const badTokenSubcode = 463
const challenge = { 'www-authenticate': 'Bearer' }

/** 400: one argument is missing, of the wrong type or form, or out of its range. */
export function badArgument(name: string, problem: string): GraphError {
  return new GraphError(400, codes.argument, `${name}: ${problem}`)
}

/** 400: the request as a whole cannot be read. */
export function malformedRequest(problem: string): GraphError {
  return new GraphError(400, codes.argument, problem)
}

export function unknownVersion(version: string, served: readonly string[]): GraphError {
  return malformedRequest(
    `${JSON.stringify(version.slice(0, 40))} is not a version that is served; start the path with ${served.map((known) => `/${known}/`).join(' or ')}.`,
  )
}

export function missingToken(): GraphError {
  const message = 'An access token is required; send it as the header "Authorization: Bearer <ACCESS_TOKEN>".'
  return new GraphError(401, codes.noToken, message, { headers: challenge })
}

/** 401: unknown, revoked and expired tokens get the same answer, so that nobody can probe for old ones. */
export function invalidToken(): GraphError {
  const message = 'The access token is unknown, expired or revoked; ask the operator for a new one.'
  return new GraphError(401, codes.badToken, message, { subcode: badTokenSubcode, headers: challenge })
}

/** 401: a token of the demo world, from another machine than the server's. */
export function demoTokenFromElsewhere(): GraphError {
  const message =
    'The tokens of the demo world work only on the machine of the server; make another with "./switchboard token create", or set ALLOW_DEMO_TOKENS=true there.'
  return new GraphError(401, codes.badToken, message, { subcode: badTokenSubcode, headers: challenge })
}

/** 401: a body that nobody is known to have signed who may hand it in; unknown accounts get the same answer. */
export function invalidSignature(): GraphError {
  const message =
    'The body is not signed by an app that hears of every account in it; sign its exact bytes with the secret of one that is linked to them, or send a token.'
  return new GraphError(401, codes.badToken, message, { subcode: badTokenSubcode, headers: challenge })
}

/** 401: a signature that was good once. */
export function staleSignature(minutes: number): GraphError {
  const message = `The webhook-timestamp lies more than ${minutes} minutes from now; sign the post with the time at which it is sent.`
  return new GraphError(401, codes.badToken, message, { subcode: badTokenSubcode, headers: challenge })
}

/** 404: the one answer for an unknown id and for another tenant's, so that nobody can probe for ids. */
export function notFound(headers: Readonly<Record<string, string>> = {}): GraphError {
  return new GraphError(
    404,
    codes.unknown,
    'No such object is visible to this token; check the id, and which accounts the token may see.',
    { headers },
  )
}

/** 404: the caller sees the object, but its kind does not have the operation. */
export function wrongKind(kind: string, offering: readonly string[]): GraphError {
  const wanted = offering.map((one) => writeKind(one)).join(' or ')
  return new GraphError(
    404,
    codes.unknown,
    `The id is that of ${writeKind(kind)}, which does not have this operation; use the id of ${wanted}.`,
  )
}

/** `phone_number` → `a phone number` */
function writeKind(kind: string): string {
  return `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind.replaceAll('_', ' ')}`
}

/** 404: no row of the table has this method and path; `hint` names what comes nearest. */
export function unknownOperation(method: string, hint: string): GraphError {
  return new GraphError(404, codes.unknown, `There is no such operation as this ${method}; ${hint}`)
}

/** 404: the caller sees the thing, but it has nothing of what is asked for. */
export function nothingThere(reason: string): GraphError {
  return new GraphError(404, codes.unknown, reason)
}

/** 404: an address that was good once. Whoever has it was given it, so it may be told. */
export function linkExpired(): GraphError {
  return new GraphError(
    404,
    codes.unknown,
    'The address has expired; read the object that it belongs to for a new one.',
  )
}

/** 416: what a range asks for begins behind the end. Only downloads have it. */
export function rangeNotSatisfiable(size: number): GraphError {
  return new GraphError(
    416,
    codes.argument,
    `The range begins behind the end; ask for one that begins within the ${size} bytes that there are.`,
    {
      headers: { 'content-range': `bytes */${size}` },
    },
  )
}

export function missingPermission(oneOf: readonly string[]): GraphError {
  const wanted = oneOf.map((scope) => `"${scope}"`).join(' or ')
  return new GraphError(403, codes.permission, `The token lacks the permission ${wanted}; use one that has it.`)
}

/** 403 for a reason other than a scope. */
export function forbidden(reason: string, code = codes.permission): GraphError {
  return new GraphError(403, code, reason)
}

/** 403: the feature is switched off for what was acted on. */
export function featureOff(reason: string): GraphError {
  return new GraphError(403, codes.featureOff, reason)
}

/** 422: well-formed, but a rule of the business forbids it. */
export function ruleBroken(reason: string, code = codes.argument): GraphError {
  return new GraphError(422, code, reason)
}

/** 429: a rate limit. `what` is the sentence up to the advice. */
export function rateLimited(
  what: string,
  subcode: number,
  retryAfterSeconds: number,
  headers: Readonly<Record<string, string>> = {},
): GraphError {
  const wait = Math.max(1, Math.ceil(retryAfterSeconds))
  return new GraphError(429, codes.rate, `${what}; try again in ${wait} s.`, {
    subcode,
    headers: { ...headers, 'retry-after': String(wait) },
  })
}

/** 429 for a limit of the business rules, with a code of its own. `what` is the sentence up to the advice. */
export function limitReached(what: string, code: number, retryAfterSeconds: number): GraphError {
  const wait = Math.max(1, Math.ceil(retryAfterSeconds))
  return new GraphError(429, code, `${what}; try again in ${wait} s.`, { headers: { 'retry-after': String(wait) } })
}

/** 500: our own fault. The cause goes to the log, never to the caller. */
export function internalFault(cause: unknown): GraphError {
  const message = 'Something went wrong on our side; try again, and quote the trace id if it stays so.'
  return new GraphError(500, codes.transient, message, { cause })
}

/** 500 while nothing can be stored: the disk is full, say. What cannot be stored was undone. */
export function cannotStore(cause: unknown): GraphError {
  return outage('Nothing can be stored at the moment, and nothing was changed', 30, cause)
}

/** 500 while the database does not answer. A write that was on its way to it may have happened. */
export function cannotReachStore(cause: unknown): GraphError {
  return outage('The service cannot reach its database', 5, cause)
}

/** 500 while others are in the way of a write for too long. It was undone, or never begun. */
export function storeBusy(cause: unknown): GraphError {
  return outage('Other writes were in the way of this one for too long, and nothing was changed', 5, cause)
}

function outage(what: string, retryAfterSeconds: number, cause: unknown): GraphError {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  return new GraphError(500, codes.transient, `${what}; try again in ${retryAfterSeconds} s.`, { headers, cause })
}

export interface ErrorBody {
  readonly error: Readonly<Record<string, string | number | boolean>>
}

/** Writes the envelope. `brief` is for the one operation that shows `message`, `type` and `code` alone. */
export function renderError(error: GraphError, words: Vocabulary, trace: string, brief: boolean): ErrorBody {
  const body = { message: error.message, type: types[error.status], code: error.code }
  if (brief) return { error: body }
  return {
    error: {
      ...body,
      ...(error.subcode !== undefined && { error_subcode: error.subcode }),
      ...((error.status === 429 || error.status === 500) && { is_transient: true }),
      [words.trace_member]: trace,
    },
  }
}
