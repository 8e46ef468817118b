import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../base/log/log.ts'
import type { Row } from '../graph/operation.ts'
import { PushReply, Reply } from '../graph/reply.ts'
import { ResponseWithHeaders } from '../graph/result.ts'
import type { Admission, AdmissionProgress, DoorPolicies, DoorPolicy, GraphRequest } from './admission.ts'
import { keepBodyOf } from './body/kept-body.ts'
import { discardRest } from './body/rest-of-body.ts'
import type { ClientAddresses } from './connection/client-address.ts'
import type { RequestObserver } from './observe/observe.ts'
import type { TracedMessage } from './observe/trace.ts'
import { perform } from './pipeline.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { type CompressedJson, compressedFrom, compressJson } from './reply/compress-json.ts'
import { writeJson } from './reply/json.ts'
import { sendPush } from './reply/push-stream.ts'
import { sendReply } from './reply/send-reply.ts'
import { faultHeader } from './request-fault.ts'
import { buildRoutes, type Route } from './route-table.ts'

declare module 'fastify' {
  interface FastifyRequest {
    admission: Admission | undefined
    graphRequest: GraphRequest
    /** When the request arrived, in milliseconds of the process. */
    startedAt: number
    /** Why it was refused. */
    failure: unknown
    /** The response, where operators may see it. */
    responseText: string | undefined
  }
}

export interface Router {
  /** The admission of each door. */
  readonly policies: DoorPolicies
  readonly deps: PipelineDeps
  readonly observer: RequestObserver
  readonly log: Log
}

/**
 * Serves the table for all doors: each request is admitted before its body is read, and performed afterwards. The scope has no
 * hooks: most requests come to these routes, and the same work costs a fraction when done here.
 */
export function serveTable(server: FastifyInstance, operations: readonly Row[], router: Router): void {
  // Built now, so that a table that cannot be served is found before the server gets ready.
  const routes = buildRoutes(operations, router.deps.vocabulary.habits)
  server.register(async (scope) => serveRoutes(scope, routes, router))
}

function serveRoutes(scope: FastifyInstance, routes: readonly Route[], router: Router): void {
  const { policies, deps, observer, log } = router
  const traceHeader = deps.vocabulary.trace_header
  const keepsResponses = deps.requestLog?.keepsBodies === true
  scope.decorateRequest('admission')
  scope.decorateRequest('graphRequest')
  scope.decorateRequest('startedAt', 0)
  let running = 0
  let onIdle = (): void => undefined
  // A connection may close while its request still writes; the store is closed only after the write.
  scope.addHook('onClose', async () => {
    if (running > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    }
  })
  const sendError = scope.errorHandler
  scope.setErrorHandler((error, request, reply) => {
    if (request.admission) reply.headers(headersOf(request, request.admission.headers))
    sendError.call(scope, error, request, reply)
    request.failure = error
    observer.note(request, reply.statusCode, performance.now() - request.startedAt)
  })
  for (const route of routes) {
    const policy = policies[route.door]
    const begin = makeBeginning(route, deps)
    const admit = makeAdmission(route, policy, deps)
    // A read has no body, so admission and execution happen in one step.
    const isRead = route.method === 'GET'
    const isAdmittedLate = isRead || policy.readsBody === true
    for (const url of urlsOf(route))
      scope.route({
        method: route.method,
        url,
        // Whoever asks for the headers alone would use up what is given once.
        exposeHeadRoute: !returnsSecret(route),
        ...(!isRead && {
          onRequest: async (request: FastifyRequest) => {
            begin(request)
            if (!isAdmittedLate) await admit(request)
          },
        }),
        handler: async (request, reply) => {
          if (isRead) begin(request)
          if (isAdmittedLate) {
            const admitting = admit(request)
            if (admitting) await admitting
          }
          const admission = request.admission as Admission
          running += 1
          try {
            const body = await perform(deps, policy, admission, request.graphRequest)
            if (body instanceof PushReply) {
              observer.note(request, 200, performance.now() - request.startedAt)
              await sendPush(reply, body, { [traceHeader]: request.id })
              return
            }
            if (body instanceof Reply) {
              if (body.fault !== undefined) request.logged = { ...request.logged, err: body.fault }
              await sendReply(reply, body, headersOf(request, { [traceHeader]: request.id }), (err) =>
                log.error({ ...request.logged, trace: request.id, err }, 'a download broke off'),
              )
              observer.note(request, body.status, performance.now() - request.startedAt)
              return
            }
            const own = body instanceof ResponseWithHeaders ? body : undefined
            const text = writeJson(own?.body ?? body)
            if (keepsResponses) request.responseText = text
            const headers = own ? { ...admission.headers, ...own.headers } : admission.headers
            const compressing = compress(request, admission, text)
            const compressed = compressing && (await compressing)
            sendResponse(request, reply, headersOf(request, headers), text, traceHeader, compressed)
            observer.note(request, 200, performance.now() - request.startedAt)
          } finally {
            running -= 1
            if (running === 0) onIdle()
            // The unread rest of the body is discarded as it arrives, so that the connection stays usable.
            if (admission.row.operation.body === 'raw') request.raw.resume()
            else if (admission.row.operation.door === 'open') discardRest(request.raw, deps.unauthenticatedBodyTimeout)
          }
        },
      })
  }
}

/** With the fault rule that the request was hit by, if any. */
function headersOf({ graphRequest: { fault } }: FastifyRequest, headers: Admission['headers']): Admission['headers'] {
  return fault === undefined ? headers : { ...headers, [faultHeader]: fault }
}

/** Not where a secret may stand beside what the caller wrote: the size of the response would tell of both. */
function compress({ headers }: FastifyRequest, { row: { operation } }: Admission, text: string) {
  if (text.length < compressedFrom || operation.returnsSecret || operation.isConfidential) return undefined
  const accepted = headers['accept-encoding']
  return compressJson(text, Array.isArray(accepted) ? accepted.join() : accepted)
}

/** Writes all headers at once, bypassing the framework, which would set them one by one. */
function sendResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Admission['headers'],
  text: string,
  traceHeader: string,
  compressed: CompressedJson | undefined,
): void {
  const head = [
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    compressed ? compressed.body.length : Buffer.byteLength(text),
    'cache-control',
    'private, no-store',
    traceHeader,
    request.id,
  ]
  if (text.length >= compressedFrom) head.push('vary', 'accept-encoding')
  if (compressed) head.push('content-encoding', compressed.encoding)
  for (const name in headers) head.push(name, headers[name] as string)
  reply.hijack()
  reply.raw.writeHead(200, head as string[])
  reply.raw.end(compressed?.body ?? text)
}

/** Records what is known of a request at once, for its log line even when it is refused, and keeps out other websites. */
function makeBeginning(route: Route, deps: PipelineDeps): (request: FastifyRequest) => void {
  const name = nameOf(route)
  const isGuarded = !isForEveryRole(route)
  // A read has no body.
  const keepsBodies = route.method !== 'GET' && deps.requestLog?.keepsBodies === true
  return (request) => {
    request.startedAt = performance.now()
    request.operationName = name
    request.errorForm = route.errorForm
    if (keepsBodies) keepBodyOf(request.raw)
    request.graphRequest = toGraphRequest(request, route, deps.addresses)
    if (isGuarded) deps.hostGuard.check(request.raw)
  }
}

/** Admits a request, at once where nothing has to be waited for, and records what is known for its log line, also when it is refused. */
function makeAdmission(
  route: Route,
  policy: DoorPolicy,
  deps: PipelineDeps,
): (request: FastifyRequest) => undefined | Promise<undefined> {
  return (request) => {
    const progress: AdmissionProgress = { row: undefined, caller: undefined, node: undefined }
    let admitting: Admission | Promise<Admission>
    try {
      admitting = policy.admit(deps, route, request.graphRequest, progress)
    } catch (error) {
      describe(request, progress, deps)
      throw error
    }
    if (admitting instanceof Promise) return waitForAdmission(request, progress, admitting, deps)
    describe(request, progress, deps)
    accept(request, admitting)
    return undefined
  }
}

async function waitForAdmission(
  request: FastifyRequest,
  progress: AdmissionProgress,
  admitting: Promise<Admission>,
  deps: PipelineDeps,
): Promise<undefined> {
  try {
    accept(request, await admitting)
  } finally {
    describe(request, progress, deps)
  }
}

function accept(request: FastifyRequest, admission: Admission): void {
  request.admission = admission
  // Fastify would check the content type first, and refuse a malformed one.
  if (admission.row.operation.body === 'raw') request.headers = { 'content-type': undefined }
}

function describe(
  request: FastifyRequest,
  { row, caller, node }: AdmissionProgress,
  { tokenUses }: PipelineDeps,
): void {
  if (row) request.operationName = row.operation.name
  if (!caller) return
  request.logged = { business: caller.business_id, app: caller.app_id, node: node?.id }
  if (caller.token_id !== undefined) tokenUses.note(caller.token_id)
}

function isForEveryRole({ rows }: Route): boolean {
  const [row] = rows.values()
  return row?.operation.door === 'open' && row.operation.everyRole === true
}

function returnsSecret({ rows }: Route): boolean {
  return [...rows.values()].some(({ operation }) => operation.returnsSecret === true)
}

/** The name of a refused request when the kind of its node is unknown: the only row's name, or the shape. */
function nameOf(route: Route): string {
  const [first, ...others] = route.rows.values()
  return first && others.length === 0 ? first.operation.name : `${route.method} ${route.shape}`
}

/** `/{}/{}/message_qrdls/{}` → `/:version/:id/message_qrdls/:member0`; where a version is optional, also with one before it. */
function urlsOf({ shape, version, namesNode, pathMembers }: Route): string[] {
  const names = [
    ...(version === 'required' ? ['version'] : []),
    ...(namesNode ? ['id'] : []),
    ...pathMembers.map((_, index) => `member${index}`),
  ]
  let index = 0
  const url = shape.replaceAll('{}', () => `:${names[index++]}`)
  return version === 'optional' ? [url, `/:version${url}`] : [url]
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
    span: (request.raw as TracedMessage).span,
    fault: undefined,
  }
}
