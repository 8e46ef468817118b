import type { FastifyInstance } from 'fastify'
import type { TokenUses } from '../auth/token-uses.ts'
import type { ClockTrust } from '../base/time/clock-trust.ts'
import type { Config } from '../config.ts'
import { serviceSecret } from '../db/secrets/stored-secrets.ts'
import { businessDoor } from '../doors/business.ts'
import { edgeLinkDoor } from '../doors/edge-link.ts'
import { gatewayDoor } from '../doors/gateway.ts'
import { makeHandshakeDoor } from '../doors/handshake.ts'
import { linkDoor } from '../doors/link.ts'
import { openDoor } from '../doors/open.ts'
import { operatorDoor } from '../doors/operator.ts'
import { makeReceiverDoor } from '../doors/receiver.ts'
import { tokenDoor } from '../doors/token.ts'
import { CursorSealer } from '../graph/lists/cursors.ts'
import type { Row } from '../graph/operation.ts'
import { BodyBudget } from '../http/body/body-budget.ts'
import { UnauthenticatedBodies } from '../http/body/unauthenticated-bodies.ts'
import { ClientAddresses } from '../http/connection/client-address.ts'
import { guardHosts } from '../http/connection/guard-requests.ts'
import { HostGuard } from '../http/connection/host-guard.ts'
import { Connections } from '../http/connection/stop.ts'
import { observeRequests, RequestObserver } from '../http/observe/observe.ts'
import { RequestLog } from '../http/observe/request-log.ts'
import type { PipelineDeps } from '../http/pipeline-deps.ts'
import { makeIsUnknownPage } from '../http/reply/unknown-pages.ts'
import { makeExplainPath } from '../http/reply/unknown-paths.ts'
import { makeDoorFinder, segmentsOf } from '../http/route-table.ts'
import { serveTable } from '../http/routes.ts'
import { createServer } from '../http/server.ts'
import { Guesses } from '../limits/guesses.ts'
import { findInboundAdmission } from '../operations.ts'
import { appendActivity, insertActivity } from '../resources/audit/store.ts'
import type { Foundation } from './foundation.ts'
import type { Limits } from './limits.ts'
import { makePorts, type PortParts } from './ports.ts'

interface WebServerParts {
  readonly limits: Limits
  readonly tokenUses: TokenUses
}

interface WebServer {
  readonly server: FastifyInstance
  readonly connections: Connections
}

/** The HTTP server with every row that this process serves, each behind its door. */
export async function makeWebServer(
  foundation: Foundation,
  { limits, tokenUses, ...parts }: Omit<PortParts, 'requestLog'> & WebServerParts,
): Promise<WebServer> {
  const { config, clock, realClock, log, metrics, table, feed, spans, vocabulary, self } = foundation
  const requestLog = new RequestLog({
    clock,
    size: config.requestLog,
    keepsBodies: config.sandbox,
    feed,
    doorOf: makeDoorFinder(table),
    process: self.id,
  })
  const addresses = watchAddresses(foundation)
  const observer = new RequestObserver({
    log,
    metrics,
    requests: requestLog,
    tracing: spans && { spans, clock: realClock },
    addressOf: (request) => addresses.of(request),
  })
  const connections = new Connections()
  const unauthenticatedBodies = new UnauthenticatedBodies({
    maxBytesPerAddress: config.maxUnauthenticatedBytesPerAddress,
    timeout: config.unauthenticatedBodyTimeout,
  })
  const receptions = { limits, tokenUses, addresses, unauthenticatedBodies }
  const deps = await makePipelineDeps(foundation, receptions, { ...parts, requestLog })
  const isUnknownPage = config.role === 'worker' ? () => false : makeIsUnknownPage(table, vocabulary)
  const server = createServer({
    vocabulary,
    isUnknownPage,
    versions: config.versions,
    random: foundation.random,
    spans,
    observer,
    connections,
    doors: segmentsOf(table),
    outageOf: (error) => foundation.database.outageOf(error),
    headersTimeout: config.headersTimeout,
    requestTimeout: config.requestTimeout,
    idleTimeout: config.idleTimeout,
    unauthenticatedBodyTimeout: config.unauthenticatedBodyTimeout,
    maxConnectionsPerAddress: config.maxConnectionsPerAddress,
    isProxy: (peer) => deps.addresses.isProxy(peer),
  })
  const isServed = config.role === 'worker' ? (row: Row) => row.door === 'open' && row.everyRole === true : () => true
  serveTable(server, table.filter(isServed), {
    policies: makeDoors(foundation, unauthenticatedBodies),
    deps,
    observer,
    log,
  })
  server.register(async (scope) => {
    observeRequests(scope, observer, vocabulary.trace_header)
    scope.setNotFoundHandler(async (request, reply) => {
      const remote_address = deps.addresses.of(request.raw)
      deps.strangerLimit.take(remote_address)
      const { method, originalUrl: url, headers, id: trace } = request
      if (isUnknownPage({ method, url, headers })) {
        const visitor = { headers, isLocal: deps.addresses.isLocal(request.raw), remote_address, trace }
        const page = await deps.ports.console.missing(visitor, url.split(/[/?]/, 2)[1] ?? '')
        return reply.status(page.status).headers(page.headers).send(page.body)
      }
      throw deps.explainPath(request.method, request.url)
    })
    if (config.role !== 'worker') guardHosts(scope, deps.hostGuard)
  })
  return { server, connections }
}

function watchAddresses({ config, log }: Foundation): ClientAddresses {
  return new ClientAddresses(config.trustProxy, () =>
    log.warn(
      'a request came through a proxy that TRUST_PROXY does not name: its callers are counted and recorded as one',
    ),
  )
}

async function makePipelineDeps(
  foundation: Foundation,
  {
    limits,
    tokenUses,
    addresses,
    unauthenticatedBodies,
  }: WebServerParts & Pick<PipelineDeps, 'addresses' | 'unauthenticatedBodies'>,
  parts: PortParts,
): Promise<PipelineDeps> {
  const { config, database, random, log, vocabulary, table } = foundation
  const ownUrl = config.publicUrl === undefined ? undefined : new URL(config.publicUrl)
  return {
    database,
    clock: foundation.clock,
    realClock: foundation.realClock,
    random,
    vocabulary,
    versions: config.versions,
    explainPath: makeExplainPath({
      operations: table,
      vocabulary,
      versions: config.versions,
      clock: foundation.realClock,
    }),
    limiter: limits.limiter,
    tokenUses,
    guesses: new Guesses(limits.guesses, log),
    openDoorLimit: limits.openDoors,
    strangerLimit: limits.strangers,
    unauthenticatedBodyTimeout: config.unauthenticatedBodyTimeout,
    unauthenticatedBodies,
    isSecure: ownUrl?.protocol === 'https:',
    mayUseDemo: (request) => config.allowDemoTokens || addresses.isLocal(request),
    addresses,
    hostGuard: new HostGuard({
      isOn: !config.production || config.allowedHosts.length > 0,
      hosts: [...config.allowedHosts, config.host, ...(ownUrl ? [ownUrl.hostname] : [])],
      origin: ownUrl?.origin,
    }),
    cursors: new CursorSealer(await serviceSecret(database, random, 'cursors')),
    links: foundation.linkSealer,
    userIds: foundation.userIds,
    maxBodyBytes: config.maxBodyBytes,
    bodyBudget: new BodyBudget(config.maxBodyBytesPerToken),
    faults: foundation.faults,
    publicUrl: foundation.publicUrl,
    settings: keepWhileHeld(config, foundation.clockGuard),
    requestLog: parts.requestLog,
    appendActivity,
    insertActivity,
    ports: await makePorts(foundation, parts, limits),
  }
}

/** While the clock may be wrong no key is over: whoever repeats a request must get its first response. */
function keepWhileHeld(config: Config, { mayDelete }: ClockTrust): Config {
  return Object.defineProperty({ ...config }, 'idempotencyKeep', {
    get: () => (mayDelete() ? config.idempotencyKeep : Number.MAX_SAFE_INTEGER),
  })
}

function makeDoors({ config, random }: Foundation, unauthenticatedBodies: UnauthenticatedBodies) {
  const admission = findInboundAdmission()
  return {
    business: businessDoor,
    token: tokenDoor,
    gateway: gatewayDoor,
    operator: operatorDoor,
    receiver: makeReceiverDoor({
      admission,
      random,
      maxBodyBytes: config.webhookMaxBodyBytes,
      unauthenticatedBodies,
    }),
    handshake: makeHandshakeDoor(admission),
    open: openDoor,
    link: linkDoor,
    edge_link: edgeLinkDoor,
  }
}
