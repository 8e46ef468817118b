import type { ClockTrust } from '../base/time/clock-trust.ts'
import { day, hour, minute, second } from '../base/time/duration.ts'
import { Loop } from '../base/work/loop.ts'
import { forgetHandler } from '../carrier/forget.ts'
import { makeCarrierHandler } from '../carrier/post.ts'
import { carrierTimer, forgetTimer } from '../carrier/send.ts'
import type { Due } from '../db/database.ts'
import { endLeases } from '../db/leases.ts'
import { RetentionWorker } from '../delivery/history/delivery-retention.ts'
import { endWaitingTimer, makeEndWaitingHandler } from '../delivery/history/end-waiting.ts'
import { correctDeliveries } from '../delivery/store/clock-step.ts'
import { wakeNotedLanes } from '../delivery/store/lane-wakes.ts'
import { DeliveryWorker } from '../delivery/worker/worker.ts'
import { Egress } from '../egress/egress.ts'
import { makeDnsResolve, resolveBySystem } from '../egress/resolve.ts'
import { correctHolds, makeRemoveHandler, makeSweepHandler, removeTimer, sweepTimer } from '../files/files.ts'
import { removeOrphans } from '../files/orphans.ts'
import { discardTimer, makeDiscardHandler } from '../files/piece-store.ts'
import { gatherTimers } from '../operations.ts'
import { LinkWorker } from '../resources/messages/links/link-worker.ts'
import { MessageRetention } from '../resources/messages/retention/message-retention.ts'
import { WordIndexer } from '../resources/operators/find/indexer.ts'
import { sweepPieces } from '../resources/uploads/sweep.ts'
import { ContactRetention } from '../resources/users/retention.ts'
import { ClockSteps } from '../timers/clock-steps.ts'
import { correctTimers } from '../timers/set.ts'
import { TimerWorker } from '../timers/worker.ts'
import { packageVersion } from '../version.ts'
import type { Foundation } from './foundation.ts'

/** The last try of a delivery begins when its time is over, at the next poll, and has its own time for a response. */
const spareForLastTry = minute

/**
 * What happens by itself, later or again: timers, deliveries, links, retention. A process with the role `api` starts none of it, but it
 * takes in the notes that it leaves.
 */
export class Workers {
  readonly #foundation: Foundation
  readonly #timers: TimerWorker
  readonly #deliveries: DeliveryWorker
  readonly #linkEgress: Egress
  readonly #links: LinkWorker
  readonly #retention: RetentionWorker
  readonly #messageRetention: MessageRetention
  readonly #contactRetention: ContactRetention
  readonly #words: WordIndexer
  readonly #leftFiles: Loop
  readonly #ownNotes: Loop
  readonly #clockSteps: ClockSteps

  constructor(foundation: Foundation) {
    this.#foundation = foundation
    const { config, database, clock, realClock, random, log, waker, clockGuard: trust, sendingHold } = foundation
    this.#timers = makeTimers(foundation)
    this.#deliveries = makeDeliveries(foundation)
    this.#linkEgress = makeLinkEgress(foundation)
    this.#links = makeLinks(foundation, this.#linkEgress)
    const { webhookKeep: keep, auditKeep } = config
    const rules = {
      keep,
      auditKeep,
      get giveUpAfter() {
        return sendingHold.extend(config.webhookGiveUpAfter) + config.webhookTimeout + spareForLastTry
      },
    }
    this.#retention = new RetentionWorker({ database, clock, log, rules, trust })
    this.#messageRetention = new MessageRetention({ database, clock, random, log, rules: config, trust })
    this.#contactRetention = new ContactRetention({ database, clock, log, rules: config, trust })
    this.#words = new WordIndexer({ database, clock, log })
    this.#leftFiles = makeLeftFiles(foundation)
    this.#ownNotes = makeOwnNotes(foundation)
    const corrections = [correctTimers, correctHolds, correctDeliveries]
    this.#clockSteps = new ClockSteps(database, clock, log, corrections, () => this.wake(), realClock, trust)
    if (!this.runs) return
    // Links have no notice of their own: they are rare, and both polls are cheap.
    waker.onTimers(() => {
      this.#timers.wake()
      this.#links.wake()
    })
  }

  get runs(): boolean {
    return this.#foundation.runsWorkers
  }

  async start(): Promise<void> {
    if (!this.runs) return
    const { database, pieces, log, clockGuard, sendingHold } = this.#foundation
    if (database.isEmbedded) await endLeases(database)
    await sweepPieces(database, pieces, log)
    await this.#clockSteps.start()
    for (const guard of [clockGuard, sendingHold]) guard.onReleased(() => this.wake())
    for (const worker of [this.#timers, this.#deliveries, this.#links]) worker.start()
    for (const worker of [this.#retention, this.#messageRetention, this.#contactRetention]) worker.start()
    this.#words.start()
    this.#leftFiles.start()
    // Not only after a day: some are restarted more often.
    this.#leftFiles.wakeIn(hour)
  }

  /** Everything that may be due is looked for. */
  wake(): void {
    if (!this.runs) return
    this.#timers.wake()
    this.#deliveries.wake()
    this.#links.wake()
  }

  /** Wakes the worker for what a commit made due: here, or in the processes with workers. */
  wakeDue({ timers, links, lanes }: Due): void {
    if (this.runs) {
      if (timers !== undefined) this.#timers.wakeAt(timers)
      if (links) this.#links.wake()
      if (lanes.length > 0) this.#deliveries.wakeLanes(lanes)
    } else {
      const { waker } = this.#foundation
      if (timers !== undefined || links) waker.announceTimers()
      if (lanes.length > 0) waker.announceLanes(lanes)
      if (lanes.some(({ isNoted }) => isNoted)) this.#ownNotes.wake()
    }
  }

  /** Resolves when everything that is due now has happened, as far as the clock can be relied on. */
  async settle(): Promise<void> {
    await this.#foundation.clockGuard.check()
    await this.#foundation.sendingHold.check()
    if (!this.runs) return
    await this.#clockSteps.check()
    await this.#timers.settle()
    await this.#links.settle()
    await this.#deliveries.settle()
  }

  async settleTimers(): Promise<void> {
    if (this.runs) await this.#timers.settle()
  }

  /** The kinds of timers that do not fire now, although they may be due. */
  get heldTimers(): readonly string[] {
    return this.#timers.heldKinds
  }

  /** Deletes what is older than it is kept, and lists words that are not listed yet. */
  async sweep(): Promise<void> {
    if (!this.runs) return
    await this.#words.run()
    await this.#retention.sweep()
    await this.#messageRetention.sweep()
    await this.#contactRetention.sweep()
  }

  async stepBack(milliseconds: number): Promise<void> {
    await this.#clockSteps.stepBack(milliseconds)
  }

  /** The rules that held deliveries are gone. */
  releaseHeld(): void {
    if (this.runs) this.#deliveries.releaseHeld()
  }

  /** The store was replaced as a whole. */
  reset(): void {
    if (!this.runs) return
    this.#deliveries.reset()
    this.#timers.wake()
  }

  /** Posts under way may finish within a time limit. */
  async stop(graceMilliseconds: number): Promise<void> {
    await this.#clockSteps.stop()
    await this.#timers.stop()
    await this.#links.stop()
    await this.#linkEgress.close()
    await this.#retention.stop()
    await this.#messageRetention.stop()
    await this.#contactRetention.stop()
    await this.#words.stop()
    await this.#leftFiles.stop()
    await this.#ownNotes.stop()
    await this.#deliveries.stop(graceMilliseconds, () => this.#foundation.egress.close())
  }
}

/** For workers that do nothing but send: while an operator holds that, they do as if the clock could not be relied on. */
function trustToSend({ clockGuard, sendingHold }: Foundation): ClockTrust {
  return { mayWork: () => clockGuard.mayWork() && sendingHold.maySend(), mayDelete: clockGuard.mayDelete }
}

function makeTimers(foundation: Foundation): TimerWorker {
  const { config, database, clock, clockGuard, random, log, feed, store, pieces, vocabulary, publicUrl, userIds } =
    foundation
  const { sendingHold } = foundation
  return new TimerWorker({
    database,
    owner: random.trace(),
    clock,
    leaseClock: clockGuard.leaseClock,
    trust: clockGuard,
    maySend: sendingHold.maySend,
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
      ...gatherTimers({ clock, random, vocabulary, publicUrl, userIds, settings: config }),
    },
  })
}

function makeDeliveries(foundation: Foundation): DeliveryWorker {
  const { config, database, clock, toRealTime, random, log, clockGuard, sendingHold } = foundation
  const { vocabulary, egress, deliveryMetrics: metrics, faults, spans, waker } = foundation
  return new DeliveryWorker({
    database,
    clock,
    leaseClock: clockGuard.leaseClock,
    toRealTime,
    lastPlainDelivery: foundation.lastPlainDelivery,
    trust: trustToSend(foundation),
    random,
    log,
    vocabulary,
    egress,
    lease: config.webhookLease,
    rules: {
      delays: config.webhookRetryDelays,
      get giveUpAfter() {
        return clockGuard.mayDelete() ? sendingHold.extend(config.webhookGiveUpAfter) : Number.POSITIVE_INFINITY
      },
    },
    metrics,
    concurrency: config.webhookConcurrency,
    batch: config.webhookBatch,
    faults,
    spans,
    waker,
  })
}

function makeLinkEgress({ config, clock }: Foundation): Egress {
  return new Egress({
    allowInternal: config.allowInternalCallbacks,
    allowHttp: true,
    timeout: config.linkFetchTimeout,
    resolve: config.allowInternalCallbacks ? resolveBySystem : makeDnsResolve({ timeout: config.linkFetchTimeout }),
    clock,
    userAgent: `switchboard/${packageVersion()}`,
  })
}

function makeLinks(foundation: Foundation, egress: Egress): LinkWorker {
  const { config, database, clock, clockGuard, random, log, files, vocabulary, publicUrl, userIds } = foundation
  return new LinkWorker({
    ...{ database, clock, random, log, files, vocabulary, publicUrl, userIds, egress },
    lease: config.webhookLease,
    leaseClock: clockGuard.leaseClock,
    trust: trustToSend(foundation),
    settings: config,
  })
}

/**
 * For a process without workers: takes in notes of lanes, until none is left. During an upgrade the workers may still be of a version
 * that does not know of them, and these find a lane only when its row says that it is due.
 */
function makeOwnNotes({ database, log }: Foundation): Loop {
  const loop: Loop = new Loop({
    async work() {
      if (await wakeNotedLanes(database)) loop.wakeIn(second)
    },
    pause: second,
    onFailure(error) {
      if (!database.outageOf(error)) log.warn({ err: error }, 'notes of lanes could not be taken in')
      loop.wakeIn(second)
    },
  })
  return loop
}

/**
 * Searches for files that nothing knows of, once a day. Not while sending is held: of a store that was restored these may be files that are
 * missed, or those of the store that it is a copy of.
 */
function makeLeftFiles(foundation: Foundation): Loop {
  const { database, store, pieces, owner, clock, realClock, random, log, clockGuard, sendingHold } = foundation
  const loop: Loop = new Loop({
    async work() {
      const isStopped = () => loop.isStopped || !clockGuard.mayDelete() || !sendingHold.maySend()
      if (isStopped()) return
      await removeOrphans({ database, store, owner, clock, realClock, random, log, isStopped })
      await sweepPieces(database, pieces, log)
    },
    pause: 0,
    every: day,
    onFailure(error) {
      if (!database.outageOf(error)) log.warn({ err: error }, 'files that nothing knows of could not be searched')
    },
  })
  return loop
}
