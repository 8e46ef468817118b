import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { writeJson } from './json.ts'
import { type Admission, admit, type GraphRequest, type PipelineParts, perform } from './pipeline.ts'
import type { Route } from './route-table.ts'

declare module 'fastify' {
  interface FastifyRequest {
    admission: Admission
    graphRequest: GraphRequest
  }
}

/** Serves the routes of the table: each request is let in before its body is read, and performed after. */
export function serveRoutes(server: FastifyInstance, routes: readonly Route[], parts: PipelineParts): void {
  server.decorateRequest('admission')
  server.decorateRequest('graphRequest')
  const running = new Set<Promise<unknown>>()
  // A connection may be gone while its request is still writing; whoever closes the store does so after that.
  server.addHook('onClose', async () => {
    await Promise.allSettled(running)
  })
  for (const route of routes) {
    const letIn = makeEntrance(route, parts)
    // A read has no body that could be read too early, so it is let in and performed in one go.
    const isRead = route.method === 'GET'
    server.route({
      method: route.method,
      url: urlOf(route),
      ...(!isRead && { onRequest: letIn }),
      handler: async (request, reply) => {
        if (isRead) await letIn(request, reply)
        const work = perform(parts, request.admission, request.graphRequest)
        running.add(work)
        try {
          const body = await work
          reply.header('content-type', 'application/json; charset=utf-8')
          return writeJson(body)
        } finally {
          running.delete(work)
          // What was not read of the bytes is thrown away as it comes, so that the connection stays usable.
          if (request.admission.row.operation.body === 'raw') request.raw.resume()
        }
      },
    })
  }
}

/** Lets a request in, and notes what is known of it by then, for the log line also of one that is refused. */
function makeEntrance(
  route: Route,
  parts: PipelineParts,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const name = nameOf(route)
  return async (request, reply) => {
    request.operationName = name
    request.briefErrors = route.briefErrors
    reply.header('cache-control', 'private, no-store')
    const progress: Partial<Admission> = {}
    request.graphRequest = toGraphRequest(request, route)
    try {
      const admission = await admit(parts, route, request.graphRequest, progress)
      request.admission = admission
      reply.headers(admission.headers)
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

function toGraphRequest(request: FastifyRequest, route: Route): GraphRequest {
  const { version, id, ...others } = request.params as Record<string, string>
  const members = route.pathMembers.length === 0 ? noMembers : nameMembers(route.pathMembers, others)
  return {
    raw: request.raw,
    headers: request.headers,
    path: { version: version ?? '', id: id ?? '', members },
    query: request.query as Record<string, unknown>,
    url: request.originalUrl,
    remote_address: request.ip,
    trace: request.id,
  }
}
