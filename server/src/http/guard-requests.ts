import type { FastifyInstance } from 'fastify'
import type { AddressLimit } from '../limits/address-limit.ts'
import type { ClientAddresses } from './client-address.ts'
import type { HostGuard } from './host-guard.ts'

/** Refuses what a browser asks for other websites, at every route of a scope. */
export function guardHosts(scope: FastifyInstance, hostGuard: HostGuard): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    hostGuard.check(request.raw)
    done()
  })
}

/** Counts the requests of a scope that anyone may make, by address, and refuses those over the limit. */
export function limitOpenDoors(scope: FastifyInstance, limit: AddressLimit, addresses: ClientAddresses): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    const address = addresses.of(request.raw)
    limit.refuse(address)
    limit.count(address)
    done()
  })
}
