import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authenticate } from '../auth/bearer.ts'
import type { Caller } from '../graph/caller.ts'
import { missingPermission } from '../graph/errors.ts'
import type { GatewayOperation } from '../graph/gateway-operation.ts'
import { type Arguments, compileInput, type InputReader } from '../graph/input.ts'
import { readBodyArguments } from './body.ts'
import { writeJson } from './json.ts'
import type { PipelineParts } from './pipeline.ts'

declare module 'fastify' {
  interface FastifyRequest {
    gatewayCaller: Caller
  }
}

/**
 * The same steps as for businesses, as far as the gateway has them: token (401) → scope (403) → input (400) → run. There is
 * no version, no tenant and no limit: the network's edge is part of the platform.
 */
export function serveGateway(
  server: FastifyInstance,
  operations: readonly GatewayOperation[],
  parts: PipelineParts,
): void {
  server.decorateRequest('gatewayCaller')
  for (const operation of operations) {
    const readInput = compileInput(operation.input)
    server.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      onRequest: async (request, reply) => {
        request.operationName = operation.name
        reply.header('cache-control', 'private, no-store')
        const caller = await authenticate(parts.database.read, parts.clock, request.headers.authorization)
        request.logged = { business: caller.business_id, app: caller.app_id }
        if (!caller.scopes.has('gateway')) throw missingPermission(['gateway'])
        request.gatewayCaller = caller
      },
      handler: async (request, reply) => {
        const body = await performForGateway(operation, readInput, request, parts)
        reply.header('content-type', 'application/json; charset=utf-8')
        return writeJson(body)
      },
    })
  }
}

async function performForGateway(
  operation: GatewayOperation,
  readInput: InputReader,
  request: FastifyRequest,
  parts: PipelineParts,
): Promise<object> {
  const { database, clock, random, words, settings } = parts
  const input = readInput(await readSources(request, parts.maxBodyBytes))
  const { accounts, app_id: share } = request.gatewayCaller
  const sees = (account_id: string) => accounts === undefined || accounts.has(account_id)
  const context = { clock, random, words, settings, publicUrl: parts.publicUrl(), sees }
  if (operation.effect === 'read') return operation.run({ ...context, db: database.read }, input)
  return database.transaction((tx) => operation.run({ ...context, db: tx }, input), { share })
}

async function readSources(request: FastifyRequest, maxBytes: number): Promise<Arguments[]> {
  const path = { typed: false, values: request.params as Record<string, string> }
  const query = { typed: false, values: request.query as Record<string, unknown> }
  if (request.method === 'GET' || request.method === 'HEAD') return [path, query]
  return [path, await readBodyArguments(request.raw, maxBytes), query]
}
