import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Random } from '../../base/keys/random.ts'
import type { GraphError } from '../../graph/graph-error.ts'
import { renderError, usualForm } from '../../graph/shown-errors/render-error.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { discardRestOf } from '../body/rest-of-body.ts'
import { headersTooLarge, requestBrokeOff, requestNotHttp, requestTooLate } from '../errors.ts'
import type { RequestObserver } from '../observe/observe.ts'
import type { TracedMessage } from '../observe/trace.ts'
import { writeJson } from '../reply/json.ts'

/** Includes the request line, so no id or other part of a path is longer than this. */
export const maxHeaderBytes = 16_384

export interface BrokenRequestDeps {
  readonly vocabulary: Vocabulary
  readonly random: Random
  readonly observer: RequestObserver
  /** Milliseconds for the rest of a refused body of an unknown sender. */
  readonly unauthenticatedBodyTimeout: number
}

/** Milliseconds. Closed at once, the connection would break where bytes are still on their way, and the response with it. */
const lateRestTimeout = 250

/** Node's code for a request that did not arrive in time. */
export const lateRequest = Object.assign(new Error('a request did not arrive in time'), {
  code: 'ERR_HTTP_REQUEST_TIMEOUT',
})

/** A request that Node's parser refused never reaches a route: the response is written to the socket directly. */
export function respondToBrokenRequest(
  error: Error & { code?: string },
  socket: Socket,
  last: ServerResponse | undefined,
  deps: BrokenRequestDeps,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  // The route of a request still arriving has a trace, and will log it.
  const trace = last && !last.req.complete ? (last.req as TracedMessage).trace : undefined
  respondOnSocket(socket, explainBroken(error.code), error.code ?? error.message, trace, deps)
  // A client too slow to send is too slow to close, and handlers that wait for the rest of the request should not wait for that.
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  discardRestOf(
    socket,
    isLate ? Math.min(lateRestTimeout, deps.unauthenticatedBodyTimeout) : deps.unauthenticatedBodyTimeout,
  )
}

function explainBroken(code: string | undefined): GraphError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return headersTooLarge({ max: maxHeaderBytes })
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return requestTooLate()
    case 'HPE_INVALID_EOF_STATE':
      return requestBrokeOff()
    default:
      return requestNotHttp()
  }
}

export function respondOnSocket(
  socket: Socket,
  error: GraphError,
  reason: string,
  known: string | undefined,
  { vocabulary, random, observer }: BrokenRequestDeps,
): void {
  const trace = known ?? random.trace()
  if (known === undefined) observer.noteBroken(error.status, reason, { trace, socket })
  const { body: shown } = renderError(error, vocabulary, trace, usualForm)
  const body = writeJson(shown)
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'Content-Type: application/json; charset=utf-8',
    'Cache-Control: private, no-store',
    `${vocabulary.trace_header}: ${trace}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(error.headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
