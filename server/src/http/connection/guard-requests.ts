import type { FastifyInstance } from 'fastify'
import type { HostGuard } from './host-guard.ts'

/** Refuses requests that a browser makes on behalf of other websites, at every route of a scope. */
export function guardHosts(scope: FastifyInstance, hostGuard: HostGuard): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    hostGuard.check(request.raw)
    done()
  })
}
