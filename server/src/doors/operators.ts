import type { FastifyInstance } from 'fastify'
import type { Database } from '../db/database.ts'
import { isMigrated, readMigrations } from '../db/migrate.ts'
import type { Metrics } from '../http/metrics.ts'

export const operatorPaths = ['healthz', 'readyz', 'metrics'] as const

/** `/healthz`, `/readyz`, `/metrics`: the operator's machines. Open, because they tell nothing of any tenant. */
export function openOperatorsDoor(server: FastifyInstance, database: Database, metrics: Metrics): void {
  const migrations = readMigrations()

  server.get('/healthz', async (request) => {
    request.operationName = 'operators.healthz'
    return { status: 'alive' }
  })

  server.get('/readyz', async (request, reply) => {
    request.operationName = 'operators.readyz'
    try {
      await database.ping()
      if (await isMigrated(database, migrations)) return { status: 'ready' }
      reply.status(503)
      return { status: 'not ready', reason: 'migrations are missing' }
    } catch (error) {
      request.logged = { err: (error as Error).message }
      reply.status(503)
      return { status: 'not ready', reason: 'the database does not answer' }
    }
  })

  server.get('/metrics', async (request, reply) => {
    request.operationName = 'operators.metrics'
    reply.header('content-type', metrics.registry.contentType)
    return metrics.registry.metrics()
  })
}
