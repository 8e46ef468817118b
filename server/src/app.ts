import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Clock } from './base/clock.ts'
import type { Log } from './base/log.ts'
import type { Random } from './base/random.ts'
import { forgetHandler } from './carrier/forget.ts'
import { makeCarrierHandler } from './carrier/post.ts'
import { carrierTimer, forgetTimer } from './carrier/send.ts'
import type { Config } from './config.ts'
import type { Database } from './db/database.ts'
import { endLeases } from './db/leases.ts'
import { serviceSecret } from './db/secrets.ts'
import { correctDeliveries } from './delivery/clock-step.ts'
import { Egress } from './delivery/egress.ts'
import { makeVerifyCallback } from './delivery/handshake.ts'
import { DeliveryMetrics } from './delivery/metrics.ts'
import { makeDnsResolve, resolveBySystem } from './delivery/resolve.ts'
import { RetentionWorker } from './delivery/retention.ts'
import { DeliveryWorker } from './delivery/worker.ts'
import { openBusinessDoor } from './doors/business.ts'
import { openGatewayDoor } from './doors/gateway.ts'
import { groupPaths, openGroupPages } from './doors/group-pages.ts'
import { mediaPaths, openMediaDoor } from './doors/media.ts'
import { openOperatorsDoor, operatorPaths } from './doors/operators.ts'
import { openPicturesDoor, picturePaths } from './doors/pictures.ts'
import { openPublicDoor, publicPaths } from './doors/public.ts'
import { openQrPages, qrPaths } from './doors/qr-pages.ts'
import { openReceiverDoor } from './doors/receiver.ts'
import { openFileSystemStore } from './files/file-system.ts'
import { correctHolds, makeSweepHandler, openFiles, sweepTimer } from './files/files.ts'
import { discardTimer, makeDiscardHandler, openPartFiles } from './files/part-files.ts'
import { CursorSealer } from './graph/cursors.ts'
import { LinkSealer } from './graph/links.ts'
import { chooseVocabulary } from './graph/vocabulary.ts'
import { Metrics } from './http/metrics.ts'
import { observeRequests, RequestObserver } from './http/observe.ts'
import type { PipelineParts } from './http/pipeline.ts'
import { answerUnknownPaths, createServer, type ServerParts } from './http/server.ts'
import { Limiter } from './limits/limiter.ts'
import { buildGatewayOperations, buildOperations } from './operations.ts'
import { ringOutTimer } from './resources/calls/progress.ts'
import { makeRingOutHandler } from './resources/calls/ring-out.ts'
import { takeSigningKey } from './resources/encryption/signing-keys.ts'
import { creationTimer, makeCreationHandler } from './resources/groups/creation.ts'
import { makeMediaExpiryHandler } from './resources/media/expiry.ts'
import { expiryTimer as mediaExpiryTimer } from './resources/media/store.ts'
import { makeExpiryHandler } from './resources/uploads/expiry.ts'
import { expiryTimer } from './resources/uploads/store.ts'
import { ClockSteps } from './timers/clock-steps.ts'
import { correctTimers } from './timers/set.ts'
import { TimerWorker } from './timers/worker.ts'
import { packageVersion } from './version.ts'

/** Everything that the service takes from outside itself. */
export interface AppParts {
  readonly config: Config
  /** Open and migrated. Closing it is for whoever opened it. */
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export interface App {
  /** Starts to serve and returns the address, `http://HOST:PORT`. */
  listen(): Promise<string>
  /** Resolves when everything that is due by now has happened: for tests, which move the clock by hand. */
  settle(): Promise<void>
  /** Stops accepting, finishes what runs (for so long at most), and lets go. */
  close(graceMilliseconds: number): Promise<void>
}

/** The composition root: the one place that knows every part. */
export async function createApp({ config, database, clock, random, log }: AppParts): Promise<App> {
  const words = chooseVocabulary(config.vocabulary)
  const metrics = new Metrics()
  let address = ''
  const publicUrl = () => config.publicUrl ?? address

  const store = await openFileSystemStore(join(config.dataDir, 'files'), clock, random)
  const files = openFiles({ database, store, clock, random })
  const parts = await openPartFiles(join(config.dataDir, 'uploads'))

  const timers = new TimerWorker({
    database,
    clock,
    log,
    lease: config.webhookLease,
    handlers: {
      [forgetTimer]: forgetHandler,
      ...(config.carrierUrl !== undefined && { [carrierTimer]: makeCarrierHandler(config.carrierUrl) }),
      [sweepTimer]: makeSweepHandler(store, clock),
      [discardTimer]: makeDiscardHandler(parts),
      [expiryTimer]: makeExpiryHandler({ clock, random }),
      [mediaExpiryTimer]: makeMediaExpiryHandler({ clock, random }),
      [creationTimer]: makeCreationHandler({ clock, random, words, publicUrl }),
      [ringOutTimer]: makeRingOutHandler({ clock, words }),
    },
  })

  // Made at the first start; uploads take whichever is in use by then.
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
    words,
    egress,
    lease: config.webhookLease,
    rules: { delays, giveUpAfter },
    metrics: deliveryMetrics,
  })
  const retention = new RetentionWorker(database, clock, log, { keep, giveUpAfter })
  const clockSteps = new ClockSteps(database, clock, log, [correctTimers, correctHolds, correctDeliveries], () => {
    timers.wake()
    deliveries.wake()
  })
  const runsWorkers = config.role !== 'api'

  let stopWaking = (): void => undefined

  const observer = new RequestObserver(log, metrics)
  const serverParts: ServerParts = {
    words,
    versions: config.versions,
    random,
    log,
    observer,
    onArrival: () => database.noticeArrival(),
    doors: [
      ...operatorPaths,
      ...publicPaths,
      ...picturePaths,
      ...mediaPaths,
      ...qrPaths,
      ...groupPaths,
      'gateway',
      words.product,
    ],
    outageOf: (error) => database.outageOf(error),
    headersTimeout: config.headersTimeout,
    requestTimeout: config.requestTimeout,
    idleTimeout: config.idleTimeout,
  }
  const server = createServer(serverParts)
  const pipeline: PipelineParts = {
    database,
    clock,
    random,
    words,
    versions: config.versions,
    doors: serverParts.doors,
    limiter: new Limiter({ on: config.rateLimitsOn, rates: config.rates, database, clock }),
    cursors: new CursorSealer(await serviceSecret(database, random, 'cursors')),
    links: new LinkSealer(await serviceSecret(database, random, 'links'), clock),
    maxBodyBytes: config.maxBodyBytes,
    publicUrl,
    settings: config,
    outside: {
      files,
      parts,
      transaction: (work, options) => database.transaction(work, options),
      verifyCallback: makeVerifyCallback({ egress, random, allowInternal: config.allowInternalCallbacks }),
    },
  }
  server.register(async (scope) => {
    observeRequests(scope, observer, words.trace_header)
    answerUnknownPaths(scope, serverParts)
    openOperatorsDoor(scope, database, metrics)
    if (config.role !== 'worker') openOtherDoors(scope)
  })
  const operations = buildOperations(words)
  if (config.role !== 'worker') openBusinessDoor(server, operations, pipeline, observer)

  function openOtherDoors(scope: FastifyInstance): void {
    const gatewayOperations = buildGatewayOperations()
    openPicturesDoor(scope, database.read, files)
    openPublicDoor(scope, {
      operations,
      gatewayOperations,
      words,
      versions: config.versions,
      rates: config.rates,
      packageVersion: packageVersion(),
      publicUrl: pipeline.publicUrl,
      database,
      clock,
      production: config.production,
    })
    openQrPages(scope, database, pipeline.publicUrl)
    openGroupPages(scope, database)
    openMediaDoor(scope, pipeline, log)
    openGatewayDoor(scope, gatewayOperations, pipeline)
    openReceiverDoor(scope, { ...pipeline, maxBodyBytes: config.webhookMaxBodyBytes, metrics: deliveryMetrics })
  }

  return {
    async listen() {
      await server.listen({ port: config.port, host: config.host })
      address = writeAddress(server.server.address() as AddressInfo)
      if (runsWorkers) {
        if (database.engine === 'sqlite') await endLeases(database)
        await clockSteps.start()
        for (const worker of [timers, deliveries, retention]) worker.start()
        // Workers of other processes poll by themselves.
        stopWaking = database.onDue((due) => {
          const timer = due.get('timers')
          if (timer !== undefined) timers.wakeAt(timer)
          if (due.has('deliveries')) deliveries.wake()
        })
      }
      return address
    },
    async settle() {
      if (!runsWorkers) return
      await clockSteps.check()
      await timers.settle()
      await deliveries.settle()
    },
    async close(graceMilliseconds) {
      const force = setTimeout(() => server.server.closeAllConnections(), graceMilliseconds)
      await server.close()
      clearTimeout(force)
      stopWaking()
      await clockSteps.stop()
      await timers.stop()
      await retention.stop()
      await deliveries.stop(graceMilliseconds, () => egress.close())
    },
  }
}

function writeAddress({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}
