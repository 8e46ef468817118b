import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { isLoopbackUrl } from './base/addresses.ts'
import type { Clock } from './base/clock.ts'
import type { Log } from './base/log.ts'
import type { Random } from './base/random.ts'
import { shareWhileRunning } from './base/share.ts'
import { forgetHandler } from './carrier/forget.ts'
import { makeCarrierHandler } from './carrier/post.ts'
import { carrierTimer, forgetTimer } from './carrier/send.ts'
import type { Config } from './config.ts'
import type { Database, Due } from './db/database.ts'
import { endLeases } from './db/leases.ts'
import { readMigrations } from './db/migrate.ts'
import { serviceSecret } from './db/secrets.ts'
import { checkCallbackUrl } from './delivery/callback-url.ts'
import { correctDeliveries } from './delivery/clock-step.ts'
import { Egress } from './delivery/egress.ts'
import { endWaitingTimer, makeEndWaitingHandler } from './delivery/end-waiting.ts'
import { makeVerifyCallback } from './delivery/handshake.ts'
import { DeliveryMetrics } from './delivery/metrics.ts'
import { makeDnsResolve, resolveBySystem } from './delivery/resolve.ts'
import { RetentionWorker } from './delivery/retention.ts'
import { loneWaker, NoticeWaker } from './delivery/waker.ts'
import { DeliveryWorker } from './delivery/worker.ts'
import { businessDoor } from './doors/business.ts'
import { edgeLinkDoor } from './doors/edge-link.ts'
import { gatewayDoor } from './doors/gateway.ts'
import { handshakeDoor } from './doors/handshake.ts'
import { linkDoor } from './doors/link.ts'
import { openDoor } from './doors/open.ts'
import { operatorDoor } from './doors/operator.ts'
import { makeReceiverDoor } from './doors/receiver.ts'
import { readmitScoped } from './doors/scoped.ts'
import { openFileSystemStore } from './files/file-system.ts'
import { correctHolds, makeSweepHandler, openFiles, sweepTimer } from './files/files.ts'
import { discardTimer, makeDiscardHandler, openPieceStore } from './files/piece-store.ts'
import { CursorSealer } from './graph/cursors.ts'
import { LinkSealer } from './graph/links.ts'
import type { Row } from './graph/operation.ts'
import { chooseVocabulary } from './graph/vocabulary.ts'
import { ClientAddresses } from './http/client-address.ts'
import { guardHosts } from './http/guard-requests.ts'
import { HostGuard } from './http/host-guard.ts'
import { Metrics } from './http/metrics.ts'
import { observeRequests, RequestObserver } from './http/observe.ts'
import type { PipelineDeps } from './http/pipeline-deps.ts'
import { RequestLog } from './http/request-log.ts'
import { makeDoorFinder, segmentsOf } from './http/route-table.ts'
import { serveTable } from './http/routes.ts'
import { createServer, type ServerDeps } from './http/server.ts'
import { Connections } from './http/stop.ts'
import { makeExplainPath } from './http/unknown-paths.ts'
import { UnprovenBodies } from './http/unproven-bodies.ts'
import { AddressLimit } from './limits/address-limit.ts'
import type { AddressClassName } from './limits/classes.ts'
import { Guesses } from './limits/guesses.ts'
import { Limiter } from './limits/limiter.ts'
import { buildOperations, gatherTimers, nodeKinds } from './operations.ts'
import { Heartbeat } from './processes/heartbeat.ts'
import { appendActivity } from './resources/audit/store.ts'
import { takeSigningKey } from './resources/encryption/signing-keys.ts'
import { LinkWorker } from './resources/messages/link-worker.ts'
import { MessageRetention } from './resources/messages/retention.ts'
import { sweepPieces } from './resources/uploads/sweep.ts'
import { makeUsersStream } from './resources/users/stream.ts'
import { makeIntake } from './resources/webhooks/intake.ts'
import { makeConsole } from './site/console.ts'
import { makeDocuments } from './site/documents.ts'
import { findReadiness } from './site/readiness.ts'
import { Feed } from './stream/feed.ts'
import { ClockSteps } from './timers/clock-steps.ts'
import { correctTimers } from './timers/set.ts'
import { TimerWorker } from './timers/worker.ts'
import { packageVersion } from './version.ts'
import { makeWorldPort } from './world/port.ts'

/** What the service gets from outside. */
export interface AppDeps {
  readonly config: Config
  /** Open and migrated. Whoever opened it closes it. */
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export interface App {
  /** Starts to serve and returns the address, `http://HOST:PORT`. */
  listen(): Promise<string>
  /** Resolves when everything that is due now has happened: for tests, which control the clock. */
  settle(): Promise<void>
  /** Stops accepting, finishes work under way (within a time limit), and releases everything. */
  close(graceMilliseconds: number): Promise<void>
}

/** The composition root: the one place that knows every dependency. */
export async function createApp({ config, database, clock, random, log }: AppDeps): Promise<App> {
  const vocabulary = chooseVocabulary(config.vocabulary)
  const metrics = new Metrics()
  let address = ''
  const publicUrl = () => config.publicUrl ?? address
  const ownUrl = config.publicUrl === undefined ? undefined : new URL(config.publicUrl)

  const store = await openFileSystemStore(join(config.dataDir, 'files'), clock, random)
  const files = openFiles({ database, store, clock, random })
  const pieces = await openPieceStore(join(config.dataDir, 'uploads'))

  const runsWorkers = config.role !== 'api'
  const waker = database.notices ? new NoticeWaker(database.notices, random.trace(), { listens: true }) : loneWaker
  const feed = new Feed({ database, clock, log, voice: database.notices ? waker : undefined })

  const timers = new TimerWorker({
    database,
    clock,
    log,
    feed,
    lease: config.webhookLease,
    handlers: {
      [forgetTimer]: forgetHandler,
      ...(config.carrierUrl !== undefined && { [carrierTimer]: makeCarrierHandler(config.carrierUrl) }),
      [sweepTimer]: makeSweepHandler(store, clock),
      [discardTimer]: makeDiscardHandler(pieces),
      [endWaitingTimer]: makeEndWaitingHandler({ clock, random }),
      ...gatherTimers({ clock, random, vocabulary, publicUrl, settings: config }),
    },
  })

  // Made at the first start; each upload uses the current one.
  await database.transaction((tx) => takeSigningKey(tx, clock, random))

  const egress = new Egress({
    allowInternal: config.allowInternalCallbacks,
    timeout: config.webhookTimeout,
    resolve: config.allowInternalCallbacks ? resolveBySystem : makeDnsResolve({ timeout: config.webhookTimeout }),
    clock,
    userAgent: `switchboard/${packageVersion()}`,
  })
  const { webhookRetryDelays: delays, webhookGiveUpAfter: giveUpAfter, webhookKeep: keep } = config
  const deliveryMetrics = new DeliveryMetrics(metrics.registry, database.read, clock)
  const deliveries = new DeliveryWorker({
    database,
    clock,
    random,
    log,
    vocabulary,
    egress,
    lease: config.webhookLease,
    rules: { delays, giveUpAfter },
    metrics: deliveryMetrics,
    concurrency: config.webhookConcurrency,
    batch: config.webhookBatch,
    waker,
  })
  const linkEgress = new Egress({
    allowInternal: config.allowInternalCallbacks,
    allowHttp: true,
    timeout: config.linkFetchTimeout,
    resolve: config.allowInternalCallbacks ? resolveBySystem : makeDnsResolve({ timeout: config.linkFetchTimeout }),
    clock,
    userAgent: `switchboard/${packageVersion()}`,
  })
  const links = new LinkWorker({
    ...{ database, clock, random, log, files, vocabulary, publicUrl },
    egress: linkEgress,
    settings: config,
  })
  const retention = new RetentionWorker(database, clock, log, { keep, giveUpAfter, auditKeep: config.auditKeep })
  const messageRetention = new MessageRetention({ database, clock, random, log, rules: config })
  const clockSteps = new ClockSteps(database, clock, log, [correctTimers, correctHolds, correctDeliveries], () => {
    timers.wake()
    deliveries.wake()
    links.wake()
  })
  // Links have no notice of their own: they are rare, and both polls are cheap.
  if (runsWorkers) {
    waker.onTimers(() => {
      timers.wake()
      links.wake()
    })
  }
  /** Wakes the worker for what a commit made due: here, or in the processes with workers. */
  const wakeDue = (due: Due): void => {
    if (runsWorkers) {
      if (due.timers !== undefined) timers.wakeAt(due.timers)
      if (due.links) links.wake()
      if (due.lanes.length > 0) deliveries.wakeLanes(due.lanes)
    } else {
      if (due.timers !== undefined || due.links) waker.announceTimers()
      if (due.lanes.length > 0) waker.announceLanes(due.lanes)
    }
  }
  const self = { id: random.trace(), role: config.role, version: packageVersion(), started_time: clock.now() }
  const heartbeat = new Heartbeat(database, clock, log, self)
  let stopWaking = (): void => undefined

  const linkSealer = new LinkSealer(await serviceSecret(database, random, 'links'), clock)
  const usersStream = makeUsersStream({
    database,
    clock,
    log,
    publicUrl,
    settings: config,
    sealLink: (path, lifetime) => publicUrl() + linkSealer.seal(path, lifetime),
    readmit: (before) => readmitScoped({ database, clock }, before, 'gateway'),
  })
  const addresses = new ClientAddresses(config.trustProxy, () =>
    log.warn(
      'a request came through a proxy that TRUST_PROXY does not name: its callers are counted and recorded as one',
    ),
  )
  const mayUseDemo = (request: IncomingMessage) => config.allowDemoTokens || addresses.isLocal(request)
  const limitByAddress = (name: AddressClassName) =>
    new AddressLimit({ on: config.rateLimitsOn, clock, name, rates: config.rates[name] })

  const table = buildOperations(vocabulary)
  const migrations = readMigrations()
  const explainPath = makeExplainPath({ operations: table, vocabulary, versions: config.versions })
  const requestLog = new RequestLog({
    clock,
    size: config.requestLog,
    keepsBodies: config.sandbox,
    feed,
    doorOf: makeDoorFinder(table),
    process: self.id,
  })
  const observer = new RequestObserver(log, metrics, requestLog)
  const connections = new Connections()
  const serverDeps: ServerDeps = {
    vocabulary,
    versions: config.versions,
    random,
    log,
    observer,
    connections,
    doors: segmentsOf(table),
    outageOf: (error) => database.outageOf(error),
    headersTimeout: config.headersTimeout,
    requestTimeout: config.requestTimeout,
    idleTimeout: config.idleTimeout,
    unprovenBodyTimeout: config.unprovenBodyTimeout,
    maxConnectionsPerAddress: config.maxConnectionsPerAddress,
    isProxy: (peer) => addresses.isProxy(peer),
  }
  const server = createServer(serverDeps)
  const deps: PipelineDeps = {
    database,
    clock,
    random,
    vocabulary,
    versions: config.versions,
    explainPath,
    limiter: new Limiter({ on: config.rateLimitsOn, rates: config.rates, database, clock }),
    guesses: new Guesses(limitByAddress('failures'), log),
    openDoorLimit: limitByAddress('open_doors'),
    mayUseDemo,
    addresses,
    hostGuard: new HostGuard({
      isOn: !config.production || config.allowedHosts.length > 0,
      hosts: [...config.allowedHosts, config.host, ...(ownUrl ? [ownUrl.hostname] : [])],
      origin: ownUrl?.origin,
    }),
    cursors: new CursorSealer(await serviceSecret(database, random, 'cursors')),
    links: linkSealer,
    maxBodyBytes: config.maxBodyBytes,
    publicUrl,
    settings: config,
    requestLog,
    appendActivity,
    ports: {
      files,
      pieces,
      takePost: makeIntake({
        database,
        clock,
        random,
        vocabulary,
        publicUrl,
        metrics: deliveryMetrics,
        readmit: (before) => readmitScoped({ database, clock }, before, 'gateway'),
      }),
      service: {
        version: packageVersion(),
        versions: config.versions,
        vocabulary: config.vocabulary,
        store: database.product,
        process: self,
        nodeKinds,
      },
      feed,
      listRequests: () => requestLog.list(),
      readmitOperator: (before) => readmitScoped({ database, clock }, before, 'operator'),
      world: makeWorldPort({ database, clock, random, production: config.production }),
      checkCallbackUrl: (url, member) =>
        void checkCallbackUrl(url, { allowInternal: config.allowInternalCallbacks, member }),
      usersStream,
      verifyCallback: makeVerifyCallback({ egress, random, allowInternal: config.allowInternalCallbacks }),
      documents: makeDocuments({
        operations: table,
        vocabulary,
        versions: config.versions,
        rates: config.rates,
        packageVersion: packageVersion(),
        publicUrl,
        database,
        clock,
        production: config.production,
      }),
      console: makeConsole({
        ...{ database, clock, random, log, publicUrl },
        isOn: config.consoleOn,
        sandbox: config.sandbox,
        production: config.production,
        lifetime: config.consoleSession,
        secret: await serviceSecret(database, random, 'console'),
      }),
      health: {
        findReadiness: shareWhileRunning(() => findReadiness(database, migrations)),
        readMetrics: shareWhileRunning(async () => ({
          contentType: metrics.registry.contentType,
          text: await metrics.registry.metrics(),
        })),
      },
    },
  }
  const isServed = config.role === 'worker' ? (row: Row) => row.door === 'open' && row.everyRole === true : () => true
  const policies = {
    business: businessDoor,
    gateway: gatewayDoor,
    operator: operatorDoor,
    receiver: makeReceiverDoor({
      random,
      maxBodyBytes: config.webhookMaxBodyBytes,
      unprovenBodies: new UnprovenBodies({
        maxBytes: config.maxUnprovenBytes,
        maxBytesPerAddress: config.maxUnprovenBytesPerAddress,
        timeout: config.unprovenBodyTimeout,
      }),
    }),
    handshake: handshakeDoor,
    open: openDoor,
    link: linkDoor,
    edge_link: edgeLinkDoor,
  }
  serveTable(server, table.filter(isServed), { policies, deps, observer, log })
  server.register(async (scope) => {
    observeRequests(scope, observer, vocabulary.trace_header)
    scope.setNotFoundHandler((request) => {
      throw explainPath(request.method, request.url)
    })
    if (config.role !== 'worker') guardHosts(scope, deps.hostGuard)
  })

  return {
    async listen() {
      await server.listen({ port: config.port, host: config.host })
      address = writeAddress(server.server.address() as AddressInfo)
      if (!config.production && !isLoopbackUrl(address)) warnOfExposure(log, address)
      if (runsWorkers) {
        if (database.isEmbedded) await endLeases(database)
        await sweepPieces(database, pieces, log)
        await clockSteps.start()
        for (const worker of [timers, deliveries, links, retention, messageRetention]) worker.start()
      }
      stopWaking = database.onDue(wakeDue)
      heartbeat.start()
      await heartbeat.settle()
      return address
    },
    async settle() {
      if (!runsWorkers) return
      await clockSteps.check()
      await timers.settle()
      await links.settle()
      await deliveries.settle()
    },
    async close(graceMilliseconds) {
      // Streams never end by themselves.
      await Promise.all([usersStream.close(), feed.stop()])
      const hasEnded = await connections.close(server, graceMilliseconds)
      if (!hasEnded) log.error('stopping: some requests did not end in time and are left behind')
      stopWaking()
      await heartbeat.stop()
      await clockSteps.stop()
      await timers.stop()
      await links.stop()
      await linkEgress.close()
      await retention.stop()
      await messageRetention.stop()
      await deliveries.stop(graceMilliseconds, () => egress.close())
      await waker.close()
    },
  }
}

/** Outside production many things are allowed that only the person running the trial should reach. */
function warnOfExposure(log: Log, address: string): void {
  log.warn(
    { address },
    'other machines can reach this server, which is not in production: callbacks may lead to internal addresses; set NODE_ENV=production, or HOST=127.0.0.1',
  )
}

function writeAddress({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}
