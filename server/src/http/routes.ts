import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ClientAddresses } from './client-address.ts'
import { writeJson } from './json.ts'
import type { RequestObserver } from './observe.ts'
import { type Admission, admit, type GraphRequest, type PipelineParts, perform } from './pipeline.ts'
import type { Route } from './route-table.ts'

declare module 'fastify' {
  interface FastifyRequest {
    admission: Admission | undefined
    graphRequest: GraphRequest
    /** When it came in, in milliseconds of the process. */
    startedAt: number
  }
}

/**
 * Serves the routes of the table in a scope of their own: each request is let in before its body is read, and performed after.
 * The scope has no hooks. Most requests are for these routes, and what hooks would do for them costs a fraction when done here.
 */
export function serveRoutes(
  scope: FastifyInstance,
  routes: readonly Route[],
  parts: PipelineParts,
  observer: RequestObserver,
): void {
  scope.decorateRequest('admission')
  scope.decorateRequest('graphRequest')
  scope.decorateRequest('startedAt', 0)
  let running = 0
  let onIdle = (): void => undefined
  // A connection may be gone while its request is still writing; whoever closes the store does so after that.
  scope.addHook('onClose', async () => {
    if (running > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    }
  })
  const answerError = scope.errorHandler
  scope.setErrorHandler((error, request, reply) => {
    if (request.admission) reply.headers(request.admission.headers)
    answerError.call(scope, error, request, reply)
    observer.note(request, reply.statusCode, performance.now() - request.startedAt)
  })
  for (const route of routes) {
    const letIn = makeEntrance(route, parts)
    // A read has no body that could be read too early, so it is let in and performed in one go.
    const isRead = route.method === 'GET'
    scope.route({
      method: route.method,
      url: urlOf(route),
      ...(!isRead && { onRequest: letIn }),
      handler: async (request, reply) => {
        if (isRead) await letIn(request)
        const admission = request.admission as Admission
        running += 1
        try {
          const body = await perform(parts, admission, request.graphRequest)
          answer(request, reply, admission, writeJson(body), parts.words.trace_header)
          observer.note(request, 200, performance.now() - request.startedAt)
        } finally {
          running -= 1
          if (running === 0) onIdle()
          // What was not read of the bytes is thrown away as it comes, so that the connection stays usable.
          if (admission.row.operation.body === 'raw') request.raw.resume()
        }
      },
    })
  }
}

/** All headers in one go and past the framework, which would put them together one by one. */
function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers }: Admission,
  text: string,
  traceHeader: string,
): void {
  const head = [
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    Buffer.byteLength(text),
    'cache-control',
    'private, no-store',
    traceHeader,
    request.id,
  ]
  for (const name in headers) head.push(name, headers[name] as string)
  reply.hijack()
  reply.raw.writeHead(200, head as string[])
  reply.raw.end(text)
}

/** Lets a request in, and notes what is known of it by then, for the log line also of one that is refused. */
function makeEntrance(route: Route, parts: PipelineParts): (request: FastifyRequest) => Promise<void> {
  const name = nameOf(route)
  return async (request) => {
    request.startedAt = performance.now()
    request.operationName = name
    request.briefErrors = route.briefErrors
    const progress: Partial<Admission> = {}
    request.graphRequest = toGraphRequest(request, route, parts.addresses)
    try {
      const admission = await admit(parts, route, request.graphRequest, progress)
      request.admission = admission
      // Fastify would look at the type of the body first, and refuse one that is not well formed.
      if (admission.row.operation.body === 'raw') request.headers = { 'content-type': undefined }
    } finally {
      const { row, caller, node } = progress
      if (row) request.operationName = row.operation.name
      if (caller) request.logged = { business: caller.business_id, app: caller.app_id, node: node?.id }
    }
  }
}

/** What a refused request is called while the kind of its node is not known: the only row's name, or the shape. */
function nameOf(route: Route): string {
  const [first, ...others] = route.rows.values()
  return first && others.length === 0 ? first.operation.name : `${route.method} ${route.shape}`
}

/** `/{}/{}/message_qrdls/{}` → `/:version/:id/message_qrdls/:member0` */
function urlOf(route: Route): string {
  const names = ['version', 'id', ...route.pathMembers.map((_, index) => `member${index}`)]
  let index = 0
  return route.shape.replaceAll('{}', () => `:${names[index++]}`)
}

const noMembers = {}

function nameMembers(names: readonly string[], values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[`member${index}`] ?? '']))
}

function toGraphRequest(request: FastifyRequest, route: Route, addresses: ClientAddresses): GraphRequest {
  const params = request.params as Record<string, string>
  const members = route.pathMembers.length === 0 ? noMembers : nameMembers(route.pathMembers, params)
  return {
    raw: request.raw,
    headers: request.headers,
    path: { version: params['version'] ?? '', id: params['id'] ?? '', members },
    query: request.query as Record<string, unknown>,
    url: request.originalUrl,
    remote_address: addresses.of(request.raw),
    trace: request.id,
  }
}
