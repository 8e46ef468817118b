import { errors } from 'undici'

/** Why a callback could not be reached. */
export type EgressReason =
  | 'address_not_allowed'
  | 'name_not_found'
  | 'connection_refused'
  | 'connection_failed'
  | 'tls_failed'
  | 'timeout'
  | 'bad_answer'
  /** The service is stopping: this says nothing about the callback. */
  | 'closed'
  /** It may not be sent any more: this says nothing about the callback either. */
  | 'too_late'

/** A request without a complete response. The message is the end of a sentence, and names no internal address. */
export class EgressError extends Error {
  readonly reason: EgressReason

  constructor(reason: EgressReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.reason = reason
  }
}

const notHttp = ['bad_answer', 'its answer was not valid HTTP'] as const
const explanations: readonly (readonly [RegExp, EgressReason, string])[] = [
  [/^ECONNREFUSED$/, 'connection_refused', 'the connection was refused'],
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'timeout', 'no connection was made in time'],
  [/^UND_ERR_HEADERS_TIMEOUT$/, 'timeout', 'no answer came in time'],
  [/^UND_ERR_BODY_TIMEOUT$/, 'timeout', 'its answer did not end in time'],
  [
    /^(EPROTO|CERT_.+|ERR_TLS_.+|ERR_SSL_.+|UNABLE_TO_.+|DEPTH_ZERO_.+|SELF_SIGNED_.+|.+_CERT_.+|.*HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE))$/,
    'tls_failed',
    'no secure connection was made, because its certificate or its protocol was not accepted',
  ],
  [/^(HPE_.+|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES.+)$/, ...notHttp],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_INFO)$/,
    'connection_failed',
    'the connection was lost before the answer was complete',
  ],
  [/^(UND_ERR_DESTROYED|UND_ERR_CLOSED)$/, 'closed', 'the service is stopping'],
  // Faults of the network and of certificates are an open list.
  [/^(?!UND_ERR|ERR_)[A-Z]/, 'connection_failed', 'its address could not be reached'],
]

/**
 * Describes whatever ended a request. An error that is not known came from a response: the library asserts what its parser does not
 * check, a status below 100, say, or a 101 that was not asked for.
 */
export function explainFailure(error: unknown): EgressError {
  if (error instanceof EgressError) return error
  if (error instanceof errors.HTTPParserError) return new EgressError(...notHttp, error)
  const code = String((error as NodeJS.ErrnoException | undefined)?.code ?? '')
  const [, reason, message] = explanations.find(([codes]) => codes.test(code)) ?? [undefined, ...notHttp]
  return new EgressError(reason, message, error)
}
