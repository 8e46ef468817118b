import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { discardRestOf } from '../body/rest-of-body.ts'
import { notAProxy, tooManyConnections, tooManyWaiting } from '../errors.ts'
import {
  type BrokenRequestDeps,
  lateRequest,
  maxHeaderBytes,
  respondOnSocket,
  respondToBrokenRequest,
} from './broken-requests.ts'
import { limitConnections } from './connections.ts'
import { handleInTurn, maxWaiting } from './requests-in-turn.ts'
import type { Connections } from './stop.ts'

export interface HttpServerDeps extends BrokenRequestDeps {
  readonly connections: Connections
  /** Milliseconds for the head of a request. */
  readonly headersTimeout: number
  /** Milliseconds for a request with its body. */
  readonly requestTimeout: number
  /** Milliseconds without any bytes on a connection. */
  readonly idleTimeout: number
  readonly maxConnectionsPerAddress: number
  /** Whether an address is that of a proxy, which carries the connections of many clients. */
  readonly isProxy: (address: string) => boolean
}

/** How long a connection is kept for a next request, in milliseconds: longer than proxies keep theirs. */
const keepAliveTimeout = 72_000

/** The latest response on each connection. */
export type LatestResponses = WeakMap<Socket, ServerResponse>

/**
 * Node's server with everything that happens on a connection before and behind its requests: limits, timeouts and bytes other than HTTP.
 * The framework makes one for each address of the host that it listens on.
 */
export function makeHttpServer(handle: RequestListener, responses: LatestResponses, deps: HttpServerDeps): Server {
  // The head is part of the request.
  const headersTimeout = Math.min(deps.headersTimeout, deps.requestTimeout)
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    requireHostHeader: false,
    headersTimeout,
    requestTimeout: deps.requestTimeout,
    // Timeouts are detected up to this much late.
    connectionsCheckingInterval: Math.ceil(headersTimeout / 4),
    keepAliveTimeout,
  })
  server.setTimeout(deps.idleTimeout)
  deps.connections.watch(server)
  limitConnections(server, {
    maxPerAddress: deps.maxConnectionsPerAddress,
    isExempt: deps.isProxy,
    refuse: (socket) =>
      respondOnSocket(socket, tooManyConnections({ seconds: 1 }), 'too many connections', undefined, deps),
  })
  // Before it is handled.
  server.on('request', (request, response) => {
    responses.set(request.socket, response)
  })
  handleInTurn(server, handle, (socket) => refuseRest(socket, responses.get(socket), deps))
  // Node would close the connection without a response.
  server.on('timeout', (socket: Socket) => {
    // When this process was busy or paused, what came meanwhile is read in this turn of the event loop, after the timers.
    const { bytesRead } = socket
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) endIdle(socket, responses.get(socket), deps)
    })
  })
  // A server may ignore an unknown expectation (RFC 9110, 10.1.1); Node would respond with an empty 417.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_request, socket: Socket) => {
    destroyAtError(socket)
    respondOnSocket(socket, notAProxy({ method: 'CONNECT' }), 'CONNECT', undefined, deps)
    socket.destroySoon()
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const last = responses.get(socket)
    // The rest of a body whose request has its response already: a second response would be taken for the next request's.
    if (last?.headersSent && !last.req.complete) socket.destroySoon()
    // The fault follows a complete request whose response is still to come: respond after it, or the two would be confused.
    else if (last?.req.complete && !last.writableFinished && error.code !== 'ECONNRESET') {
      last.once('finish', () => respondToBrokenRequest(error, socket, undefined, deps))
    } else respondToBrokenRequest(error, socket, last, deps)
  })
  return server
}

function endIdle(socket: Socket, last: ServerResponse | undefined, deps: HttpServerDeps): void {
  const isArriving = last ? !last.req.complete && !last.headersSent : socket.bytesRead > 0
  if (isArriving) respondToBrokenRequest(lateRequest, socket, last, deps)
  else socket.destroy()
}

/** Answers a connection on which too many requests wait, after the last of them, and closes it. */
function refuseRest(socket: Socket, last: ServerResponse | undefined, deps: HttpServerDeps): void {
  destroyAtError(socket)
  discardRestOf(socket, deps.unauthenticatedBodyTimeout)
  const refuse = () =>
    respondOnSocket(socket, tooManyWaiting({ max: maxWaiting }), 'too many requests at once', undefined, deps)
  if (last && !last.writableFinished) last.once('finish', refuse)
  else refuse()
}

/** Node stops listening to a socket that leaves HTTP: without a listener, a client that resets it would end the process. */
function destroyAtError(socket: Socket): void {
  socket.on('error', () => socket.destroy())
}
