import type { FastifyInstance } from 'fastify'
import type { Operation } from '../graph/operation.ts'
import type { PipelineParts } from '../http/pipeline.ts'
import { buildRoutes } from '../http/route-table.ts'
import { serveRoutes } from '../http/routes.ts'

/** `/{Version}/…`: businesses and partners, by the token of an app. */
export function openBusinessDoor(
  server: FastifyInstance,
  operations: readonly Operation[],
  parts: PipelineParts,
): void {
  serveRoutes(server, buildRoutes(operations), parts)
}
