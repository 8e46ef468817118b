import type { FastifyInstance } from 'fastify'
import { shareWhileRunning } from '../base/share.ts'
import type { Database } from '../db/database.ts'
import { readMigrations } from '../db/migrate.ts'
import type { Metrics } from '../http/metrics.ts'
import { findReadiness } from './readiness.ts'

export const operatorPaths = ['healthz', 'readyz', 'metrics'] as const

/**
 * `/healthz`, `/readyz`, `/metrics`: the operator's machines. Open, because they tell nothing of any tenant, and without limits,
 * so that nobody can make them fail; however many ask at once, the database is asked once.
 */
export function openOperatorsDoor(server: FastifyInstance, database: Database, metrics: Metrics): void {
  const migrations = readMigrations()
  const findShared = shareWhileRunning(() => findReadiness(database, migrations))
  const writeMetrics = shareWhileRunning(() => metrics.registry.metrics())

  server.get('/healthz', async (request) => {
    request.operationName = 'operators.healthz'
    return { status: 'alive' }
  })

  server.get('/readyz', async (request, reply) => {
    request.operationName = 'operators.readyz'
    const { reason, warning, error } = await findShared()
    if (reason === undefined) return { status: 'ready', ...(warning !== undefined && { warning }) }
    if (error !== undefined) request.logged = { err: error }
    reply.status(503)
    return { status: 'not ready', reason }
  })

  server.get('/metrics', async (request, reply) => {
    request.operationName = 'operators.metrics'
    reply.header('content-type', metrics.registry.contentType)
    return writeMetrics()
  })
}
