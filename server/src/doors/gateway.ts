import type { FastifyInstance } from 'fastify'
import type { GatewayOperation } from '../graph/gateway-operation.ts'
import { serveGateway } from '../http/gateway-routes.ts'
import type { PipelineParts } from '../http/pipeline.ts'

/** `/gateway/…`: the network's edge, acting for the users' phones, by a token with the scope `gateway`. */
export function openGatewayDoor(
  server: FastifyInstance,
  operations: readonly GatewayOperation[],
  parts: PipelineParts,
): void {
  serveGateway(server, operations, parts)
}
