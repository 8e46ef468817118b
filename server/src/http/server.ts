import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { Outage } from '../db/database.ts'
import { type GraphError, renderError } from '../graph/graph-error.ts'
import { versionPattern } from '../graph/versions.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import { limitConnections } from './connections.ts'
import {
  headersTooLarge,
  notAProxy,
  requestBrokeOff,
  requestNotHttp,
  requestTooLate,
  tooManyConnections,
} from './errors.ts'
import { explainFault, translate } from './explain-fault.ts'
import { writeJson } from './json.ts'
import type { RequestObserver } from './observe.ts'
import { closeBehind, discardRest, discardRestOf } from './rest-of-body.ts'
import type { Connections } from './stop.ts'
import { traceOf } from './trace.ts'

declare module 'fastify' {
  interface FastifyRequest {
    briefErrors: boolean
    errorData: boolean
  }
}

/** Includes the request line, so no id or other part of a path is longer than this. */
const maxHeaderBytes = 16_384
/** How long a 429 to a stranger is delayed, and how many at once: each holds a piece of its body. */
const holdMilliseconds = 1000
const maxHeld = 64

export interface ServerDeps {
  readonly vocabulary: Vocabulary
  readonly versions: readonly string[]
  readonly random: Random
  readonly log: Log
  readonly observer: RequestObserver
  readonly connections: Connections
  /** First path segments that are doors, never ids. */
  readonly doors: readonly string[]
  /** Whether an error is an outage of the store as a whole, which has been logged already. */
  readonly outageOf: (error: unknown) => Outage | undefined
  /** Milliseconds for the head of a request. */
  readonly headersTimeout: number
  /** Milliseconds for a request with its body. */
  readonly requestTimeout: number
  /** Milliseconds without any bytes on a connection. */
  readonly idleTimeout: number
  /** Milliseconds for the rest of a refused body of an unknown sender. */
  readonly unprovenBodyTimeout: number
  readonly maxConnectionsPerAddress: number
  /** Whether an address is that of a proxy, which carries the connections of many clients. */
  readonly isProxy: (address: string) => boolean
}

/** A request with its trace, for errors that are answered outside its route. */
type TracedMessage = IncomingMessage & { trace?: string }

/**
 * An HTTP server without routes that answers everything in the error envelope, including what Node or Fastify would answer by
 * themselves: unknown paths, malformed URLs, broken headers.
 */
export function createServer(deps: ServerDeps): FastifyInstance {
  const { vocabulary, random, log } = deps
  // The head is part of the request.
  const headersTimeout = Math.min(deps.headersTimeout, deps.requestTimeout)

  /** The latest response on each connection. */
  const answers = new WeakMap<Socket, ServerResponse>()

  const server = fastify({
    logger: false,
    // The pipeline validates rows; by default Fastify would load two libraries for it at every start.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    genReqId: (raw: TracedMessage) => {
      const trace = traceOf(raw.headers.traceparent, random)
      raw.trace = trace
      return trace
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: maxHeaderBytes },
    ...(vocabulary.habits.version_optional && {
      rewriteUrl: ({ url = '/' }: { url?: string }) => withVersion(url, deps),
    }),
    // Requests under way during a stop are answered, and their connections closed afterwards.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: deps.requestTimeout,
    connectionTimeout: deps.idleTimeout,
    http: {
      maxHeaderSize: maxHeaderBytes,
      requireHostHeader: false,
      headersTimeout,
      // Repeated here, because Node compares the two timeouts when it creates the server.
      requestTimeout: deps.requestTimeout,
      // Timeouts are detected up to this much late.
      connectionsCheckingInterval: Math.ceil(headersTimeout / 4),
    },
    frameworkErrors: (error, request, reply) => {
      const known = translate(error)
      sendError(reply as unknown as FastifyReply, known, request.id, plainForm)
      deps.observer.noteBroken(known.status, error.code, request.id)
    },
    clientErrorHandler: (error, socket) => {
      const last = answers.get(socket)
      // The rest of a body whose request was already answered: a second response would be taken for the next request's.
      if (last?.headersSent && !last.req.complete) socket.destroySoon()
      // The fault follows a complete request whose response is still to come: answer after it, or the two would be confused.
      else if (last?.req.complete && !last.writableFinished && error.code !== 'ECONNRESET') {
        last.once('finish', () => answerBrokenRequest(error, socket, undefined, deps))
      } else answerBrokenRequest(error, socket, last, deps)
    },
  })

  server.decorateRequest('operationName', 'unknown')
  server.decorateRequest('briefErrors', false)
  server.decorateRequest('errorData', false)
  server.decorateRequest('logged')

  // The pipeline reads bodies after admission; Fastify's own parsers are not used.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined))

  server.setErrorHandler((error, request, reply) => {
    const { known, isLogged } = explainFault(error, deps.outageOf)
    if (known.status === 500 && !isLogged) {
      log.error({ operation: request.operationName, trace: request.id, err: known.cause }, 'a request failed')
    }
    reply.status(known.status)
    const send = (said: GraphError) => sendError(reply, said, request.id, request)
    const isStranger = request.logged?.app === undefined
    if (isStranger && !request.raw.complete) refuseStranger(request.raw, known, send)
    else send(known)
  })

  // Before the framework, which checks it at once.
  server.server.prependListener('request', (request, response) => {
    answers.set(request.socket, response)
  })
  deps.connections.watch(server, answers)
  limitConnections(server.server, {
    maxPerAddress: deps.maxConnectionsPerAddress,
    isExempt: deps.isProxy,
    refuse: (socket) =>
      answerOnSocket(socket, tooManyConnections({ seconds: 1 }), 'too many connections', undefined, deps),
  })
  // Node would close the connection without a response.
  server.server.on('timeout', (socket: Socket) => {
    // When this process was busy or paused, what came meanwhile is read in this turn of the event loop, after the timers.
    const { bytesRead } = socket
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) endIdle(socket)
    })
  })
  function endIdle(socket: Socket): void {
    const last = answers.get(socket)
    const isArriving = last ? !last.req.complete && !last.headersSent : socket.bytesRead > 0
    if (isArriving) answerBrokenRequest(lateRequest, socket, last, deps)
    else socket.destroy()
  }
  // A server may ignore an unknown expectation (RFC 9110, 10.1.1); Node would answer with an empty 417.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response))
  server.server.on('connect', (_request, socket: Socket) => {
    // Node stops listening to the socket here: without a listener, a client that resets it would end the process.
    socket.on('error', () => socket.destroy())
    answerOnSocket(socket, notAProxy({ method: 'CONNECT' }), 'CONNECT', undefined, deps)
    socket.destroySoon()
  })

  let held = 0
  /**
   * Refuses a stranger whose body is still arriving. A part of the body is read, so that the client reads the response. A 429 is
   * different: its body is not read, and the response is delayed (unless too many already are), so that the client does not return
   * at once.
   */
  function refuseStranger(request: IncomingMessage, error: GraphError, send: (error: GraphError) => void): void {
    if (error.status !== 429) {
      discardRest(request, deps.unprovenBodyTimeout)
      send(error)
      return
    }
    const closing = closeBehind(error)
    if (held >= maxHeld) {
      send(closing)
      return
    }
    held += 1
    setTimeout(() => {
      held -= 1
      send(closing)
    }, holdMilliseconds)
  }

  function sendError(reply: FastifyReply, error: GraphError, trace: string, form: ErrorForm): void {
    reply.status(error.status)
    reply.headers({
      [vocabulary.trace_header]: trace,
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'private, no-store',
      ...error.headers,
    })
    reply.send(writeJson(renderError(error, vocabulary, trace, form.briefErrors, form.errorData)))
  }

  return server
}

/** How the errors of a route are written. */
type ErrorForm = Pick<FastifyRequest, 'briefErrors' | 'errorData'>

const plainForm: ErrorForm = { briefErrors: false, errorData: false }

/** Milliseconds. Closed at once, the connection would break where bytes are still on their way, and the response with it. */
const lateRestTimeout = 250

/** Node's code for a request that did not arrive in time. */
const lateRequest = Object.assign(new Error('a request did not arrive in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

function refuseSchema(): never {
  throw new Error('a route was given a schema: the schemas of rows belong to the pipeline')
}

/** Adds the newest version to a path without one, for vocabularies whose clients omit it. */
function withVersion(url: string, { versions, doors }: ServerDeps): string {
  const first = url.split(/[/?]/, 2)[1] ?? ''
  if (first === '' || versionPattern.test(first) || doors.includes(first)) return url
  return `/${versions.at(-1)}${url}`
}

/** A request that Node's parser refused never reaches a route: the response is written to the socket directly. */
function answerBrokenRequest(
  error: Error & { code?: string },
  socket: Socket,
  last: ServerResponse | undefined,
  deps: ServerDeps,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  // The route of a request still arriving has a trace, and will log it.
  const trace = last && !last.req.complete ? (last.req as TracedMessage).trace : undefined
  answerOnSocket(socket, explainBroken(error.code), error.code ?? error.message, trace, deps)
  // A client too slow to send is too slow to close, and handlers that wait for the rest of the request should not wait for that.
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  discardRestOf(socket, isLate ? Math.min(lateRestTimeout, deps.unprovenBodyTimeout) : deps.unprovenBodyTimeout)
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

function answerOnSocket(
  socket: Socket,
  error: GraphError,
  reason: string,
  known: string | undefined,
  { vocabulary, random, observer }: ServerDeps,
): void {
  const trace = known ?? traceOf(undefined, random)
  if (known === undefined) observer.noteBroken(error.status, reason, trace)
  const body = writeJson(renderError(error, vocabulary, trace, false))
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
