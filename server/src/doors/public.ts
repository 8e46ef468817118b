import type { FastifyInstance } from 'fastify'
import { once } from '../base/once.ts'
import { notFound } from '../graph/errors.ts'
import type { GatewayOperation } from '../graph/gateway-operation.ts'
import { buildGatewayOpenApi } from '../http/openapi/gateway.ts'
import { buildOpenApi, type OpenApiOptions } from '../http/openapi.ts'
import { pack, sendPacked } from '../http/packed.ts'
import { composeDocsPage } from './public/docs-page.ts'
import { loadReference } from './public/reference.ts'
import { sendPage } from './public/send.ts'
import { composeStartPage } from './public/start-page.ts'

export const publicPaths = ['docs', 'openapi.json', 'openapi-gateway.json'] as const

export interface PublicDoorOptions extends Omit<OpenApiOptions, 'serverUrl'> {
  readonly gatewayOperations: readonly GatewayOperation[]
  /** The base URL as the outside sees it; known once the server listens. */
  readonly publicUrl: () => string
  /** Filled in on the docs page, so that a request can be tried at once. Never in production. */
  readonly demoToken?: string
}

// The name of a script holds the hash of its content: under one name it can never be another.
const forEver = 'public, max-age=31536000, immutable'

/** `/`, `/docs`, `/openapi.json`, `/openapi-gateway.json`: anyone. What they show is made at the first request that asks for it. */
export function openPublicDoor(server: FastifyInstance, options: PublicDoorOptions): void {
  const { publicUrl, demoToken, packageVersion, gatewayOperations } = options
  const prefix = () => new URL(publicUrl()).pathname.replace(/\/+$/, '')

  const openApi = once(async () => {
    const document = buildOpenApi({ ...options, serverUrl: publicUrl() })
    return pack(Buffer.from(JSON.stringify(document)), 'application/json; charset=utf-8')
  })
  const gatewayOpenApi = once(async () => {
    const document = buildGatewayOpenApi({ ...options, operations: gatewayOperations, serverUrl: publicUrl() })
    return pack(Buffer.from(JSON.stringify(document)), 'application/json; charset=utf-8')
  })
  const reference = once(async () => {
    const script = await loadReference()
    return { script, file: `reference-${script.hash}.js` }
  })

  server.get('/', (request, reply) => {
    request.operationName = 'public.start'
    return sendPage(reply, composeStartPage(prefix(), packageVersion))
  })

  server.get('/openapi.json', async (request, reply) => {
    request.operationName = 'public.openapi'
    return sendPacked(request, reply, await openApi(), 'no-cache')
  })

  server.get('/openapi-gateway.json', async (request, reply) => {
    request.operationName = 'public.openapi_gateway'
    return sendPacked(request, reply, await gatewayOpenApi(), 'no-cache')
  })

  server.get('/docs', async (request, reply) => {
    request.operationName = 'public.docs'
    const { file } = await reference()
    return sendPage(reply, composeDocsPage({ prefix: prefix(), scriptUrl: `${prefix()}/docs/${file}`, demoToken }))
  })

  server.get<{ Params: { file: string } }>('/docs/:file', async (request, reply) => {
    request.operationName = 'public.docs_file'
    const { script, file } = await reference()
    if (request.params.file !== file) throw notFound()
    return sendPacked(request, reply, script, forEver)
  })
}
