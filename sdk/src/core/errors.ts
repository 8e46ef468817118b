/** Every error that the client throws. */
export class SwitchboardError extends Error {
  // Wider than those of its classes, so that the types know them apart.
  override name: string = 'SwitchboardError'
  /** What a message was sent under, or was meant to be: sent again with this `idempotencyKey`, it arrives once. */
  declare readonly idempotencyKey?: string
}

/** The envelope of an error, as far as it is known. */
interface Envelope {
  readonly message?: unknown
  readonly type?: unknown
  readonly code?: unknown
  readonly error_subcode?: unknown
  readonly is_transient?: unknown
  readonly error_data?: { readonly details?: unknown } | null
  readonly svctrace_id?: unknown
  readonly fbtrace_id?: unknown
}

/** The server answered with an error. */
export class APIError extends SwitchboardError {
  readonly status: number
  /** What the server says about it, without the status. */
  readonly detail: string
  /** The number by which programs distinguish errors; see the server's docs/errors.md. */
  readonly code: number | undefined
  readonly subcode: number | undefined
  readonly type: string | undefined
  /** The trace of the request, which the server's log has too. */
  readonly trace: string | undefined
  /** Whether it may go well later. */
  readonly isTransient: boolean
  /** The seconds that the server asks to wait (`Retry-After`), where it does. */
  readonly retryAfter: number | undefined
  readonly headers: Headers
  /** The body, its first 64 kB if it is longer: parsed if it is JSON. */
  readonly body: unknown

  constructor(status: number, body: unknown, headers: Headers) {
    const envelope = readEnvelope(body)
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    // With `VOCABULARY=whatsapp` the message is only a title.
    const detail = asText(envelope.error_data?.details) ?? asText(envelope.message) ?? text.slice(0, 200)
    // A success whose body cannot be read was sent by something in between.
    super(`${status} ${status < 300 ? 'with another body: ' : ''}${detail}`.trimEnd())
    this.name = findClass(status, envelope)[0]
    this.status = status
    this.detail = detail
    this.code = asNumber(envelope.code)
    this.subcode = asNumber(envelope.error_subcode)
    this.type = asText(envelope.type)
    this.trace = traceOf(headers) ?? asText(envelope.svctrace_id) ?? asText(envelope.fbtrace_id)
    this.isTransient = envelope.is_transient === true
    this.retryAfter = readRetryAfter(headers.get('retry-after'))
    this.headers = headers
    this.body = body
  }
}

/** 400: an argument is missing or wrong. */
export class BadRequestError extends APIError {
  declare readonly name: 'BadRequestError'
}

/** 401: there is no token, or it is not good. */
export class AuthenticationError extends APIError {
  declare readonly name: 'AuthenticationError'
}

/** 403: the token may not do it. */
export class PermissionDeniedError extends APIError {
  declare readonly name: 'PermissionDeniedError'
}

/** 404, or 400 with `VOCABULARY=whatsapp`: there is no such resource, or the token does not see it. */
export class NotFoundError extends APIError {
  declare readonly name: 'NotFoundError'
}

/** 408: nothing happened in the time that was waited. */
export class RequestTimeoutError extends APIError {
  declare readonly name: 'RequestTimeoutError'
}

/** 409: it was changed, or is used, by another request. */
export class ConflictError extends APIError {
  declare readonly name: 'ConflictError'
}

/** 416: the range of a download begins behind its end. */
export class RangeNotSatisfiableError extends APIError {
  declare readonly name: 'RangeNotSatisfiableError'
}

/** 422: a rule of the business forbids it. With `VOCABULARY=whatsapp` that is a `BadRequestError`. */
export class UnprocessableEntityError extends APIError {
  declare readonly name: 'UnprocessableEntityError'
}

/** 429: a limit is reached. */
export class RateLimitError extends APIError {
  declare readonly name: 'RateLimitError'
}

/** 500 and above: a fault of the service. */
export class InternalServerError extends APIError {
  declare readonly name: 'InternalServerError'
}

/** There was no response, or it broke off. */
export class APIConnectionError extends SwitchboardError {
  override name: string = 'APIConnectionError'
  /** Why, in a word: the code of the system where there is one. */
  readonly reason: string
  /** Whether the server surely did not get the request. */
  readonly isRefused: boolean

  constructor(message: string, reason: string, cause?: unknown, isRefused = false) {
    super(message, { cause })
    this.reason = reason
    this.isRefused = isRefused
  }
}

/** There was no whole response within `timeout`. */
export class APIConnectionTimeoutError extends APIConnectionError {
  override readonly name = 'APIConnectionTimeoutError'
}

/** `signal` ended the request. */
export class APIUserAbortError extends SwitchboardError {
  override readonly name = 'APIUserAbortError'
}

/** The class of each status, under its name: names of members outlast a minifier, names of classes do not. */
const classes: Readonly<Record<number, Readonly<Record<string, typeof APIError>>>> = {
  400: { BadRequestError },
  401: { AuthenticationError },
  403: { PermissionDeniedError },
  404: { NotFoundError },
  408: { RequestTimeoutError },
  409: { ConflictError },
  416: { RangeNotSatisfiableError },
  422: { UnprocessableEntityError },
  429: { RateLimitError },
}

function findClass(status: number, { code, error_subcode }: Envelope): [string, typeof APIError] {
  const isUnknown = code === 100 && error_subcode === 33
  const named = classes[isUnknown ? 404 : status] ?? (status >= 500 ? { InternalServerError } : {})
  return Object.entries(named)[0] ?? ['APIError', APIError]
}

/** The error for a response that is none of success. */
export function makeApiError(status: number, text: string, headers: Headers): APIError {
  const body = parseOrKeep(text)
  const [, Class] = findClass(status, readEnvelope(body))
  return new Class(status, body, headers)
}

export function traceOf(headers: Headers): string | undefined {
  return headers.get('x-svctrace-id') ?? headers.get('x-fbtrace-id') ?? undefined
}

/** Seconds, or a date; a date has words, while much else can be read as one. */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text)
  const time = /[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now()) / 1000
}

function parseOrKeep(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function readEnvelope(body: unknown): Envelope {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as { error?: unknown }
  return typeof error === 'object' && error !== null ? error : {}
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
