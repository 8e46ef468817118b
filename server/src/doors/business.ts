import type { FastifyInstance } from 'fastify'
import type { Operation } from '../graph/operation.ts'
import type { RequestObserver } from '../http/observe.ts'
import type { PipelineParts } from '../http/pipeline.ts'
import { buildRoutes } from '../http/route-table.ts'
import { serveRoutes } from '../http/routes.ts'

/** `/{Version}/…`: businesses and partners, by the token of an app. */
export function openBusinessDoor(
  server: FastifyInstance,
  operations: readonly Operation[],
  parts: PipelineParts,
  observer: RequestObserver,
): void {
  // A table that cannot be served is found now, and not when the server gets ready.
  const routes = buildRoutes(operations)
  server.register(async (scope) => serveRoutes(scope, routes, parts, observer))
}
