import { addMissingAppTokens } from '../auth/app-tokens.ts'
import type { Random } from '../base/keys/random.ts'
import type { Log } from '../base/log/log.ts'
import { ScopedNumbers } from '../base/text/scoped-numbers.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { keyedHash } from '../db/secrets/keyed-hash.ts'
import { serviceSecret } from '../db/secrets/stored-secrets.ts'
import { readLastPlainDelivery } from '../delivery/post/webhook-id.ts'
import { DeliveryMetrics } from '../delivery/worker/delivery-metrics.ts'
import { loneWaker, NotificationWaker } from '../delivery/worker/waker.ts'
import { Egress } from '../egress/egress.ts'
import { makeDnsResolve, resolveBySystem } from '../egress/resolve.ts'
import { SendingHold } from '../egress/sending-hold.ts'
import { openFiles } from '../files/files.ts'
import { FileMetrics, meterStores } from '../files/metered.ts'
import { openFileStores } from '../files/open.ts'
import { nameOwner } from '../files/orphans.ts'
import { LinkSealer } from '../graph/sealed-links.ts'
import { chooseVocabulary } from '../graph/vocabulary.ts'
import { Metrics } from '../http/observe/http-metrics.ts'
import { addressClasses, rateClasses } from '../limits/classes.ts'
import { buildOperations } from '../operations.ts'
import { drawProcessId } from '../processes/heartbeat.ts'
import { takeSigningKey } from '../resources/encryption/signing-keys.ts'
import { describeItems } from '../resources/operators/watch/describe-items.ts'
import { showFeedItem } from '../resources/operators/watch/feed-items.ts'
import { tooManyStreams } from '../resources/users/errors.ts'
import { Faults } from '../sandbox/faults.ts'
import { SandboxClock } from '../sandbox/sandbox-clock.ts'
import { readSandboxState } from '../sandbox/state.ts'
import { hashSharedSettings } from '../settings/shared.ts'
import { Feed } from '../stream/feed.ts'
import { traceTransactions } from '../telemetry/traced-database.ts'
import { ClockGuard, type TimeSources } from '../timers/clock-guard.ts'
import { packageVersion } from '../version.ts'
import type { World } from '../world/list.ts'
import { readStartWorld } from '../world/start.ts'
import { watchClock } from './clock-metrics.ts'
import { watchProcess, watchTimers } from './process-metrics.ts'
import { watchSendingHold } from './sending-hold-metrics.ts'
import { openMetricsExport, openSpans } from './telemetry.ts'

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
  /** Names the process, in its log as well; by default a new one. */
  readonly processId?: string
  /** What the clock is compared with; by default the database's clock and the monotonic one of the system. */
  readonly timeSources?: TimeSources
}

/** What workers, sandbox and doors have in common. */
export type Foundation = Awaited<ReturnType<typeof layFoundation>>

export async function layFoundation({
  config,
  database: plainDatabase,
  clock: realClock,
  random,
  log,
  startWorld = () => readStartWorld(config),
  processId = drawProcessId(random),
  timeSources,
}: AppDeps) {
  const self = { id: processId, role: config.role, version: packageVersion() }
  const spans = await openSpans(config, { self, random, log })
  const database = spans ? traceTransactions(plainDatabase, realClock, spans) : plainDatabase
  // Outside a sandbox there is but the one clock.
  const sandboxClock = config.sandbox ? new SandboxClock(realClock) : undefined
  const sandboxState = await readSandboxState(database.read)
  sandboxClock?.setOffset(sandboxState.clock_offset)
  const clock = sandboxClock ?? realClock
  const toRealTime = sandboxClock?.toReal ?? ((time: number) => time)
  const metrics = new Metrics([...Object.keys(rateClasses), ...Object.keys(addressClasses)])
  watchProcess(metrics.registry, self, database)
  watchTimers(metrics.registry, database, clock)
  const clockGuard = new ClockGuard({
    database,
    clock: realClock,
    toRealTime,
    log,
    tolerance: config.clockTolerance,
    maxJump: config.clockJump,
    lease: config.webhookLease,
    ...(timeSources && { sources: timeSources }),
  })
  watchClock(metrics.registry, clockGuard)
  const sendingHold = new SendingHold({ database, clock, log })
  watchSendingHold(metrics.registry, sendingHold)
  const vocabulary = chooseVocabulary(config.vocabulary)

  const stores = await openFileStores(config, { clock: realClock, random, log })
  const { store, pieces } = meterStores(stores, new FileMetrics(metrics.registry))
  const owner = nameOwner(await serviceSecret(database, random, 'files'))
  await store.claim(owner)
  // Made at the first start; each upload uses the current one.
  await database.transaction((tx) => takeSigningKey(tx, clock, random))
  await addMissingAppTokens(database, { clock, random })

  const waker = database.notifications
    ? new NotificationWaker(database.notifications, random.trace(), { listens: true })
    : loneWaker
  const broadcaster = database.notifications ? waker : undefined
  const { maxStreams } = config
  const feed = new Feed({
    database,
    clock,
    log,
    broadcaster,
    show: showFeedItem,
    describe: describeItems,
    maxStreams,
    refuse: refuseStream,
  })
  /** Known once it listens. */
  const listening = { address: '' }
  return {
    config,
    database,
    realClock,
    clock,
    sandboxClock,
    sandboxState,
    toRealTime,
    clockGuard,
    sendingHold,
    lastPlainDelivery: await readLastPlainDelivery(database.read),
    random,
    log,
    startWorld,
    spans,
    metrics,
    deliveryMetrics: new DeliveryMetrics(metrics.registry, database, clock, { isHeld: () => !sendingHold.maySend() }),
    metricsExport: await openMetricsExport(config, { self, registry: metrics.registry, log }),
    vocabulary,
    table: buildOperations(vocabulary, config),
    listening,
    publicUrl: () => config.publicUrl ?? listening.address,
    store,
    pieces,
    owner,
    files: openFiles({ database, store, clock, random, owner }),
    waker,
    feed,
    linkSealer: new LinkSealer(await serviceSecret(database, random, 'links'), clock),
    userIds: vocabulary.habits.user_ids
      ? new ScopedNumbers(await serviceSecret(database, random, 'user ids'))
      : undefined,
    faults: config.sandbox ? new Faults({ database, random, log, clock, feed }) : undefined,
    egress: new Egress({
      allowInternal: config.allowInternalCallbacks,
      timeout: config.webhookTimeout,
      resolve: config.allowInternalCallbacks ? resolveBySystem : makeDnsResolve({ timeout: config.webhookTimeout }),
      clock: realClock,
      userAgent: `switchboard/${packageVersion()}`,
    }),
    /** What processes compare. */
    sharedSettings: hashSharedSettings(config, (text) => keyedHash(database.read, 'setting', text)),
    runsWorkers: config.role !== 'api',
    /** What other processes with the same store see of this one. */
    self: { ...self, started_time: clock.now() },
  }
}

export function refuseStream(): never {
  throw tooManyStreams({ seconds: 5 })
}
