import type { IncomingMessage } from 'node:http'
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import type { Outage } from '../db/database.ts'
import type { GraphError } from '../graph/graph-error.ts'
import { type ErrorForm, renderError, usualForm } from '../graph/shown-errors/render-error.ts'
import { type ServedVersions, versionPattern } from '../graph/versions.ts'
import type { Spans } from '../telemetry/spans.ts'
import { closeBehind, discardRest } from './body/rest-of-body.ts'
import { maxHeaderBytes } from './connection/broken-requests.ts'
import { type HttpServerDeps, type LatestResponses, makeHttpServer } from './connection/http-server.ts'
import { type TracedMessage, traceRequest } from './observe/trace.ts'
import { explainFault, translate } from './reply/explain-fault.ts'
import { writeJson } from './reply/json.ts'
import { type IsUnknownPage, unknownPageUrl } from './reply/unknown-pages.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the route that matched. */
    errorForm?: ErrorForm
  }
}

/** How long a 429 to a stranger is delayed, and how many at once: each holds a piece of its body. */
const holdMilliseconds = 1000
const maxHeld = 64

export interface ServerDeps extends HttpServerDeps {
  readonly versions: ServedVersions
  /** Undefined where traces are not exported. */
  readonly spans?: Pick<Spans, 'begin'> | undefined
  /** First path segments that are doors, never ids. */
  readonly doors: readonly string[]
  readonly isUnknownPage: IsUnknownPage
  /** Whether an error is an outage of the store as a whole, which has been logged already. */
  readonly outageOf: (error: unknown) => Outage | undefined
}

/**
 * An HTTP server without routes that responds to everything in the error envelope, including what Node or Fastify would respond to by
 * themselves: unknown paths, malformed URLs, broken headers.
 */
export function createServer(deps: ServerDeps): FastifyInstance {
  const { vocabulary, random } = deps
  const responses: LatestResponses = new WeakMap()

  const server = fastify({
    logger: false,
    // The pipeline validates rows; by default Fastify would load two libraries for it at every start.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    genReqId: (raw: TracedMessage) => traceRequest(raw, random, deps.spans),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: maxHeaderBytes },
    rewriteUrl: (raw) => {
      if (deps.isUnknownPage(raw)) return unknownPageUrl
      const { url = '/' } = raw
      return vocabulary.habits.version_optional ? withVersion(url, deps) : url
    },
    // Requests under way during a stop get their responses, and their connections closed afterwards.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    serverFactory: (handle) => makeHttpServer(handle, responses, deps),
    frameworkErrors: (error, request, reply) => {
      const known = translate(error)
      sendError(reply as unknown as FastifyReply, known, request.id, usualForm)
      deps.observer.noteBroken(known.status, error.code, { trace: request.id, socket: request.raw.socket })
    },
    // Each HTTP server has its own.
    clientErrorHandler: () => undefined,
  })

  server.decorateRequest('operationName', 'unknown')
  server.decorateRequest('errorForm')
  server.decorateRequest('logged')
  server.decorateRequest('fault')

  // The pipeline reads bodies after admission; Fastify's own parsers are not used.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined))

  server.setErrorHandler((error, request, reply) => {
    const { known, isLogged } = explainFault(error, deps.outageOf)
    if (known.status === 500 && !isLogged) {
      request.fault = known.cause ?? known
    }
    if (known.limit !== undefined) deps.observer.countRefusal(known.limit)
    const send = (refusal: GraphError) => sendError(reply, refusal, request.id, request.errorForm ?? usualForm)
    const isStranger = request.logged?.app === undefined
    if (isStranger && !request.raw.complete) refuseStranger(request.raw, known, send)
    else send(known)
  })

  deps.connections.releaseAtClose(server, responses)

  let held = 0
  /**
   * Refuses a stranger whose body is still arriving. A part of the body is read, so that the client reads the response. A 429 is
   * different: its body is not read, and the response is delayed (unless too many already are), so that the client does not return
   * at once.
   */
  function refuseStranger(request: IncomingMessage, error: GraphError, send: (error: GraphError) => void): void {
    if (error.status !== 429) {
      discardRest(request, deps.unauthenticatedBodyTimeout)
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
    const { status, body } = renderError(error, vocabulary, trace, form)
    // With titled errors the details say what is wrong.
    const { message, error_data } = body.error
    const said = typeof error_data === 'object' ? error_data['details'] : message
    const page = form.page?.({ status, message: String(said), trace })
    reply.status(status)
    reply.headers({
      [vocabulary.trace_header]: trace,
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'private, no-store',
      ...page?.headers,
      ...error.headers,
    })
    reply.send(page?.html ?? writeJson(body))
  }

  return server
}

function refuseSchema(): never {
  throw new Error('a route was given a schema: the schemas of rows belong to the pipeline')
}

/** Adds the newest version to a path without one, for vocabularies whose clients omit it. */
function withVersion(url: string, { versions, doors }: ServerDeps): string {
  const first = url.split(/[/?]/, 2)[1] ?? ''
  if (first === '' || versionPattern.test(first) || doors.includes(first)) return url
  return `/${versions.newest}${url}`
}
