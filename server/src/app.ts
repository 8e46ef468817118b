import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isGrantValid } from './auth/allowed-operators.ts'
import { endStaleSessions } from './auth/sessions.ts'
import { isLoopbackUrl } from './base/addresses.ts'
import type { Clock } from './base/clock.ts'
import { day, hour } from './base/duration.ts'
import type { Log } from './base/log.ts'
import { Loop } from './base/loop.ts'
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
import { listErrors } from './errors.ts'
import { correctHolds, makeRemoveHandler, makeSweepHandler, openFiles, removeTimer, sweepTimer } from './files/files.ts'
import { FileMetrics, meterStores } from './files/metered.ts'
import { openFileStores } from './files/open.ts'
import { discardTimer, makeDiscardHandler } from './files/piece-store.ts'
import { nameOwner, removeStrays } from './files/strays.ts'
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
import { appendActivity, insertActivity } from './resources/audit/store.ts'
import { takeSigningKey } from './resources/encryption/signing-keys.ts'
import { LinkWorker } from './resources/messages/link-worker.ts'
import { MessageRetention } from './resources/messages/retention.ts'
import { showHappening } from './resources/operators/happenings.ts'
import { sweepPieces } from './resources/uploads/sweep.ts'
import { tooManyStreams } from './resources/users/errors.ts'
import { makeUsersStream } from './resources/users/stream-source.ts'
import { makeIntake } from './resources/webhooks/intake.ts'
import { SandboxClock } from './sandbox/clock.ts'
import { Faults } from './sandbox/faults.ts'
import { openSandbox } from './sandbox/sandbox.ts'
import { readSandboxState } from './sandbox/state.ts'
import { makeConsole } from './site/console.ts'
import { makeDocuments } from './site/documents.ts'
import type { OidcSettings } from './site/issuer.ts'
import { findReadiness } from './site/readiness.ts'
import { Feed } from './stream/feed.ts'
import { exportSpans } from './telemetry/export-spans.ts'
import { traceTransactions } from './telemetry/traced-database.ts'
import { ClockSteps } from './timers/clock-steps.ts'
import { correctTimers } from './timers/set.ts'
import { TimerWorker } from './timers/worker.ts'
import { packageVersion } from './version.ts'
import { prepareWorld } from './world/apply.ts'
import type { World } from './world/list.ts'
import { makeWorldPort } from './world/port.ts'
import { readGivenWorld } from './world/read.ts'
import { readStartWorld } from './world/start.ts'

/** What the service gets from outside. */
export interface AppDeps {
  readonly config: Config
  /** Open and migrated. Whoever opened it closes it. */
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** The world that the store begins with: a reset of a sandbox applies it again. By default that of the settings. */
  readonly startWorld?: () => Promise<World>
}

export interface App {
  /** Starts to serve and returns the address, `http://HOST:PORT`. */
  listen(): Promise<string>
  /** Resolves when everything that is due now has happened: for tests, which control the clock. */
  settle(): Promise<void>
  /** Stops accepting, finishes work under way (within a time limit), and releases everything. */
  close(graceMilliseconds: number): Promise<void>
}

/** How many connections may wait while the process is busy, if the system allows as many: others would have to try again a second later. */
const maxUnaccepted = 4096

/** The composition root: the one place that knows every dependency. */
export async function createApp({
  config,
  database: plainDatabase,
  clock: realClock,
  random,
  log,
  startWorld = () => readStartWorld(config),
}: AppDeps): Promise<App> {
  // Loaded only where it is used.
  const spans =
    config.otlpEndpoint === undefined
      ? undefined
      : await exportSpans({ endpoint: config.otlpEndpoint, version: packageVersion(), random, log })
  const database = spans ? traceTransactions(plainDatabase, realClock, spans) : plainDatabase
  // Outside a sandbox there is but the one clock.
  const sandboxClock = config.sandbox ? new SandboxClock(realClock) : undefined
  const sandboxState = await readSandboxState(database.read)
  sandboxClock?.setOffset(sandboxState.clock_offset)
  const clock = sandboxClock ?? realClock
  const vocabulary = chooseVocabulary(config.vocabulary)
  const metrics = new Metrics()
  let address = ''
  const publicUrl = () => config.publicUrl ?? address
  const ownUrl = config.publicUrl === undefined ? undefined : new URL(config.publicUrl)

  const stores = await openFileStores(config, { clock: realClock, random, log })
  const { store, pieces } = meterStores(stores, new FileMetrics(metrics.registry))
  const owner = nameOwner(await serviceSecret(database, random, 'files'))
  await store.claim(owner)
  const files = openFiles({ database, store, clock, random, owner })

  const runsWorkers = config.role !== 'api'
  const waker = database.notices ? new NoticeWaker(database.notices, random.trace(), { listens: true }) : loneWaker
  const { maxStreams } = config
  const refuse = (): never => {
    throw tooManyStreams({ seconds: 5 })
  }
  const voice = database.notices ? waker : undefined
  const feed = new Feed({ database, clock, log, voice, show: showHappening, maxStreams, refuse })

  const timers = new TimerWorker({
    database,
    clock,
    leaseClock: realClock,
    inOrder: config.sandbox,
    log,
    feed,
    lease: config.webhookLease,
    handlers: {
      [forgetTimer]: forgetHandler,
      ...(config.carrierUrl !== undefined && { [carrierTimer]: makeCarrierHandler(config.carrierUrl) }),
      [sweepTimer]: makeSweepHandler({ store, clock, random }),
      [removeTimer]: makeRemoveHandler(store),
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
    clock: realClock,
    userAgent: `switchboard/${packageVersion()}`,
  })
  const { webhookRetryDelays: delays, webhookGiveUpAfter: giveUpAfter, webhookKeep: keep } = config
  const deliveryMetrics = new DeliveryMetrics(metrics.registry, database.read, clock)
  const faults = config.sandbox ? new Faults({ database, random, log, clock, feed }) : undefined
  const deliveries = new DeliveryWorker({
    database,
    clock,
    leaseClock: realClock,
    toRealTime: sandboxClock?.toReal ?? ((time) => time),
    random,
    log,
    vocabulary,
    egress,
    lease: config.webhookLease,
    rules: { delays, giveUpAfter },
    metrics: deliveryMetrics,
    concurrency: config.webhookConcurrency,
    batch: config.webhookBatch,
    faults,
    spans,
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
    lease: config.webhookLease,
    leaseClock: realClock,
    settings: config,
  })
  const retention = new RetentionWorker(database, clock, log, { keep, giveUpAfter, auditKeep: config.auditKeep })
  const messageRetention = new MessageRetention({ database, clock, random, log, rules: config })
  const leftFiles: Loop = new Loop({
    async work() {
      const isStopped = () => leftFiles.isStopped
      await removeStrays({ database, store, owner, clock, realClock, random, log, isStopped })
      await sweepPieces(database, pieces, log)
    },
    pause: 0,
    every: day,
    onFailure(error) {
      if (!database.outageOf(error)) log.warn({ err: error }, 'files that nothing knows of could not be searched')
    },
  })
  const wakeWorkers = () => {
    timers.wake()
    deliveries.wake()
    links.wake()
  }
  const corrections = [correctTimers, correctHolds, correctDeliveries]
  const clockSteps = new ClockSteps(database, clock, log, corrections, wakeWorkers, realClock)
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
  const limitByAddress = (name: AddressClassName) =>
    new AddressLimit({ on: config.rateLimitsOn, clock, name, rates: config.rates[name] })
  const [guessLimit, openDoorLimit] = [limitByAddress('failures'), limitByAddress('open_doors')]
  const limiter = new Limiter({ on: config.rateLimitsOn, rates: config.rates, database, clock })
  const settle = async (): Promise<void> => {
    if (!runsWorkers) return
    await clockSteps.check()
    await timers.settle()
    await links.settle()
    await deliveries.settle()
  }
  const linkSealer = new LinkSealer(await serviceSecret(database, random, 'links'), clock)
  const usersStream = makeUsersStream({
    database,
    clock,
    log,
    publicUrl,
    settings: config,
    sealLink: (path, lifetime) => publicUrl() + linkSealer.seal(path, lifetime),
    readmit: (before) => readmitScoped({ database, clock }, before, 'gateway'),
    refuse,
  })
  const sandbox =
    sandboxClock &&
    faults &&
    openSandbox({
      database,
      clock: sandboxClock,
      random,
      log,
      state: sandboxState,
      faults,
      onFaultsReplaced() {
        if (runsWorkers) deliveries.releaseHeld()
      },
      errors: listErrors().map(({ definition }) => definition),
      hasOperation: (name) => table.some((row) => row.name === name),
      onClockMoved() {
        if (runsWorkers) wakeWorkers()
        heartbeat.wake()
        usersStream.wantAgain()
      },
      onStepBack: (milliseconds) => clockSteps.stepBack(milliseconds),
      async settle() {
        await settle()
        if (!runsWorkers) return
        await retention.sweep()
        await messageRetention.sweep()
      },
      onReplaced({ replaced_time: time, last_event: event, last_delivery: delivery, last_position: position }) {
        if (runsWorkers) {
          deliveries.startAnew()
          timers.wake()
        }
        heartbeat.wake()
        feed.reset({ time, event, delivery, position })
        usersStream.reset({ time, event, delivery, position })
        limiter.clear()
        guessLimit.clear()
        openDoorLimit.clear()
        database.counters.clear()
      },
      async clean() {
        if (runsWorkers) await timers.settle()
        await sweepPieces(database, pieces, log)
      },
      async prepareWorld(given, worldClock) {
        const world = given === undefined ? await startWorld() : await readGivenWorld(given)
        const warn = (line: string) => log.warn(line)
        return prepareWorld(worldClock, random, world, { production: config.production, warn })
      },
    })

  const addresses = new ClientAddresses(config.trustProxy, () =>
    log.warn(
      'a request came through a proxy that TRUST_PROXY does not name: its callers are counted and recorded as one',
    ),
  )
  const mayUseDemo = (request: IncomingMessage) => config.allowDemoTokens || addresses.isLocal(request)

  const table = buildOperations(vocabulary, config)
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
  const observer = new RequestObserver(log, metrics, requestLog, spans && { spans, clock: realClock })
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
    realClock,
    random,
    vocabulary,
    versions: config.versions,
    explainPath,
    limiter,
    guesses: new Guesses(guessLimit, log),
    openDoorLimit,
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
    faults,
    publicUrl,
    settings: config,
    requestLog,
    appendActivity,
    insertActivity,
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
        patience: 2 * config.databaseLockTimeout,
        readmit: (before) => readmitScoped({ database, clock }, before, 'gateway'),
      }),
      sandbox: sandbox?.port,
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
        oidc: readOidc(config),
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
      if (config.role !== 'worker' && config.consoleOn) await endStale(config, database, clock, log)
      await server.listen({ port: config.port, host: config.host, backlog: maxUnaccepted })
      address = writeAddress(server.server.address() as AddressInfo)
      if (!config.production && !isLoopbackUrl(address)) warnOfExposure(log, address)
      if (runsWorkers) {
        if (database.isEmbedded) await endLeases(database)
        await sweepPieces(database, pieces, log)
        await clockSteps.start()
        for (const worker of [timers, deliveries, links, retention, messageRetention, leftFiles]) worker.start()
        // Not only after a day: some are restarted more often.
        leftFiles.wakeIn(hour)
      }
      stopWaking = database.onDue(wakeDue)
      await sandbox?.watch.follow()
      sandbox?.watch.start()
      heartbeat.start()
      await heartbeat.settle()
      return address
    },
    settle,
    async close(graceMilliseconds) {
      // Streams never end by themselves.
      await Promise.all([usersStream.close(), feed.close()])
      const hasEnded = await connections.close(server, graceMilliseconds)
      if (!hasEnded) log.error('stopping: some requests did not end in time and are left behind')
      stopWaking()
      await sandbox?.watch.stop()
      await heartbeat.stop()
      await clockSteps.stop()
      await timers.stop()
      await links.stop()
      await linkEgress.close()
      await retention.stop()
      await messageRetention.stop()
      await leftFiles.stop()
      await deliveries.stop(graceMilliseconds, () => egress.close())
      await waker.close()
      await spans?.close()
      await store.close()
    },
  }
}

function readOidc(config: Config): OidcSettings | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcAllow: allow } = config
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined
  return { issuer, clientId, clientSecret, allow, scopes: config.oidcScopes, groupsClaim: config.oidcGroupsClaim }
}

/** Whoever is taken out of OIDC_ALLOW is signed out by the start that this takes. */
async function endStale({ oidcIssuer, oidcAllow }: Config, database: Database, clock: Clock, log: Log): Promise<void> {
  const ended = await endStaleSessions(database, clock, (grant) => isGrantValid(grant, oidcIssuer, oidcAllow))
  if (ended > 0) log.info({ ended }, 'ended sessions of the console whose entries are no longer in OIDC_ALLOW')
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
