import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { once } from '../base/once.ts'
import { cutTrailingSlashes } from '../base/slashes.ts'
import type { Database } from '../db/database.ts'
import { readMigrations } from '../db/migrate.ts'
import type { GatewayOperation } from '../graph/gateway-operation.ts'
import { buildGatewayOpenApi } from '../http/openapi/gateway.ts'
import { buildOpenApi, type OpenApiOptions } from '../http/openapi.ts'
import { type Packed, pack, sendPacked } from '../http/packed.ts'
import { demoTokens } from './public/demo.ts'
import { composeDocsPage } from './public/docs-page.ts'
import { buildReference } from './public/operations-by-chapter.ts'
import type { Page } from './public/page.ts'
import { sendPage } from './public/send.ts'
import { composeStartPage } from './public/start-page.ts'
import { lookAtStore, type StoreState } from './public/store-state.ts'

export const publicPaths = ['docs', 'openapi.json', 'openapi-gateway.json'] as const

export interface PublicDoorOptions extends Omit<OpenApiOptions, 'serverUrl'> {
  readonly gatewayOperations: readonly GatewayOperation[]
  /** The base URL as the outside sees it; known once the server listens. */
  readonly publicUrl: () => string
  readonly database: Database
  readonly clock: Clock
  /** In production nothing of what the store holds is shown, and no token is filled in. */
  readonly production: boolean
}

/** `/`, `/docs`, `/openapi.json`, `/openapi-gateway.json`: anyone. What does not change is made at the first request that asks for it. */
export function openPublicDoor(server: FastifyInstance, options: PublicDoorOptions): void {
  const { publicUrl, packageVersion, gatewayOperations, database, clock, production, words, versions } = options
  const prefix = () => cutTrailingSlashes(new URL(publicUrl()).pathname)
  const about = production ? undefined : { engine: database.engine, startedTime: clock.now() }
  const migrations = readMigrations()

  const openApi = once(async () => {
    const document = buildOpenApi({ ...options, serverUrl: publicUrl() })
    return pack(Buffer.from(JSON.stringify(document)), 'application/json; charset=utf-8')
  })
  const gatewayOpenApi = once(async () => {
    const document = buildGatewayOpenApi({ ...options, operations: gatewayOperations, serverUrl: publicUrl() })
    return pack(Buffer.from(JSON.stringify(document)), 'application/json; charset=utf-8')
  })
  const chapters = once(async () => buildReference({ ...options, serverUrl: publicUrl() }))
  const docs = { bare: once(() => packDocs(undefined)), demo: once(() => packDocs(demoTokens)) }
  const look = shareWhileRunning(() => lookAtStore({ database, clock, migrations, showsDemo: !production }))

  async function packDocs(tokens: typeof demoTokens | undefined): Promise<PackedPage> {
    const reference = await chapters()
    // Each of the two takes tens of milliseconds, and others need not wait for both.
    await nextTurn()
    const page = composeDocsPage({
      chapters: reference,
      packageVersion,
      publicUrl: publicUrl(),
      prefix: prefix(),
      tokens,
    })
    return { headers: page.headers, packed: await pack(Buffer.from(page.html), 'text/html; charset=utf-8') }
  }

  server.get('/', async (request, reply) => {
    request.operationName = 'public.start'
    const state = await look()
    if (state.error !== undefined) request.logged = { err: state.error }
    const page = composeStartPage({
      prefix: prefix(),
      publicUrl: publicUrl(),
      packageVersion,
      versions,
      words,
      state,
      about,
    })
    return sendPage(reply, page)
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
    const { demo } = await look()
    const { headers, packed } = await (demo ? docs.demo() : docs.bare())
    reply.headers(headers)
    return sendPacked(request, reply, packed, 'no-cache')
  })
}

interface PackedPage {
  readonly headers: Page['headers']
  readonly packed: Packed
}

/** However many ask at once, one look answers them all. */
function shareWhileRunning(look: () => Promise<StoreState>): () => Promise<StoreState> {
  let running: Promise<StoreState> | undefined
  return () => {
    running ??= look().finally(() => {
      running = undefined
    })
    return running
  }
}
