import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { type ClockTrust, fullTrust } from '../base/clock-trust.ts'
import { second } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { Database, DueLane } from '../db/database.ts'
import { heldUntil } from '../sandbox/fault-rules.ts'
import type { Faults } from '../sandbox/faults.ts'
import type { Spans } from '../telemetry/spans.ts'
import type { AttemptDeps } from './attempt.ts'
import { type Claim, Claimer } from './claimer.ts'
import { HeldLane } from './held-lane.ts'
import type { Entry } from './lane-queue.ts'
import type { LaneAddress } from './lane-rows.ts'
import { type Lane, type Lease, listDueLanes } from './lanes.ts'
import type { DeliveryMetrics } from './metrics.ts'
import type { Outcome } from './outcome.ts'
import { Reader } from './reader.ts'
import { Recorder } from './recorder.ts'
import { Room } from './room.ts'
import type { RetryRules } from './schedule.ts'
import { Sender } from './sender.ts'
import { type AnnouncedLane, silentWaker, type Waker } from './waker.ts'

/** How often a process polls without being woken: for work that another process, or the clock, made due. */
const pollMilliseconds = second

export interface WorkerDeps extends AttemptDeps {
  readonly database: Database
  readonly clock: Clock
  /** The clock of leases, which no sandbox moves. */
  readonly leaseClock: Clock
  readonly random: Random
  readonly log: Log
  readonly rules: RetryRules
  readonly metrics: DeliveryMetrics
  /** Milliseconds until a lane can be taken from a process that does not renew its lease. */
  readonly lease: number
  /** How many posts to one subscriber may be under way. */
  readonly concurrency: number
  /** How many changes of one account may share a post. */
  readonly batch: number
  /** Undefined where there is no sandbox. */
  readonly faults?: Faults | undefined
  /** Undefined where traces are not exported. */
  readonly spans?: Spans | undefined
  /** How processes wake each other; by default they do not. */
  readonly waker?: Waker
  /** Whether the clock can be relied on, by which leases and retries go; by default it can. */
  readonly trust?: ClockTrust
}

/**
 * Delivers webhooks. It claims lanes under a lease and sends many deliveries of each at once, those of one conversation one after
 * the other. `claimer` finds lanes, `reader` reads due deliveries, `sender` posts them, and `recorder` stores outcomes and releases
 * lanes.
 */
export class DeliveryWorker {
  readonly #deps: WorkerDeps
  readonly #lease: Lease
  readonly #waker: Waker
  readonly #trust: ClockTrust
  readonly #room = new Room()
  readonly #held = new Map<string, HeldLane>()
  /** Lost to another process while posts were under way: not claimed again until these have ended. */
  readonly #lost = new Map<string, HeldLane>()
  readonly #claimer: Claimer
  readonly #reader: Reader
  readonly #sender: Sender
  readonly #recorder: Recorder
  #poll: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(deps: WorkerDeps) {
    this.#deps = deps
    const { database, clock, metrics } = deps
    this.#lease = { owner: deps.random.trace(), milliseconds: deps.lease, clock: deps.leaseClock }
    this.#waker = deps.waker ?? silentWaker
    this.#trust = deps.trust ?? fullTrust
    const onFailure = (error: Error, message: string) => this.#logFailure(error, message)
    this.#claimer = new Claimer({
      database,
      clock,
      lease: this.#lease,
      room: this.#room,
      originOf: (url) => deps.egress.originOf(url),
      mayClaim: () => this.#trust.mayWork(),
      isTaken: (id) => this.#held.has(id) || this.#isEnding(id),
      onClaimed: (lane, claim) => this.#hold(lane, claim),
      onHeldElsewhere: (ids) => this.#waker.announceLanes(ids.map((id) => ({ id }))),
      onFailure,
    })
    this.#reader = new Reader({
      database,
      clock,
      onRead: (lane, postponed) => {
        if (postponed.length > 0) this.#recorder.add(lane, [], postponed)
        this.#goOn(lane)
      },
      onWatch: ({ id }) => this.#waker.announceWatch(this.#lease.owner, id),
      onFailure,
    })
    this.#sender = new Sender({
      ...deps,
      room: this.#room,
      events: {
        isHalted: () => this.#isStopped || this.#recorder.isBehind || !this.#trust.mayWork(),
        onLeaseOver: () => this.#recorder.renew(),
        onHungry: (lane) => this.#reader.want(lane, { atOnce: true, all: false }),
        onOutcomes: (lane, outcomes, isBack) => this.#noteOutcomes(lane, outcomes, isBack),
        onHeld: (lane, entries) => this.#holdEntries(lane, entries),
        onOvertaken: (lane, { delivery }) => {
          lane.queue.finish(delivery, undefined)
          queueMicrotask(() => this.#sender.pump(lane))
        },
        onRoom: () => this.#claimer.retry(),
        onAbandoned: (lane) => this.#drop(lane),
        onBroken: (lane, error) => {
          this.#logFailure(error, 'a lane of deliveries broke', lane)
          this.#drop(lane)
        },
      },
    })
    this.#recorder = new Recorder({
      database,
      clock,
      lease: this.#lease,
      held: this.#held,
      lingers: () => !this.#isStopped && !this.#claimer.hasSkipped && this.#waker.isLive,
      onDrop: (lane, nextDue) => this.#drop(lane, nextDue),
      onRecorded: (lane, isBack) => {
        if (isBack) lane.queue.unblock()
        if (isBack || lane.hasRetryDue(clock.now())) this.#reader.want(lane)
        this.#goOn(lane)
      },
      onFailure,
    })
    metrics.watchWorker({ held: () => this.#held.size, waiting: () => this.#sender.waitingForRoom })
  }

  start(): void {
    this.#waker.onLanes((lanes) => this.wakeFor(lanes))
    this.#poll = setInterval(() => this.#tick(), pollMilliseconds)
    this.#heartbeat = setInterval(() => this.#recorder.renew(), this.#deps.lease / 4)
    this.wake()
  }

  /** Polls for due lanes. */
  wake(): void {
    if (this.#isStopped) return
    this.#claimer.poll()
    for (const lane of this.#held.values()) this.#reader.want(lane)
  }

  /** These lanes have new deliveries, raised by this process. */
  wakeLanes(lanes: Iterable<DueLane>): void {
    if (this.#isStopped) return
    const free: LaneAddress[] = []
    const elsewhere: AnnouncedLane[] = []
    for (const lane of lanes) {
      const held = this.#held.get(lane.id)
      if (held) {
        if (lane.raised && this.#reader.take(held, lane.raised)) continue
        held.watch.noteOwn(lane.raised?.deliveries.length ?? 0)
        this.#noteNews(held)
      } else if (this.#isHeldElsewhere(lane)) elsewhere.push(lane)
      else free.push(lane)
    }
    if (elsewhere.length > 0) this.#waker.announceLanes(elsewhere)
    if (free.length > 0) this.#claimer.hint(free)
  }

  /** There are new deliveries behind the known ones; a lane that has enough to send reads them later. */
  #noteNews(lane: HeldLane): void {
    if (lane.isFed) lane.mayHaveMore = true
    else this.#reader.want(lane, { all: false })
  }

  /** A process that raises an event sees who holds the lane: it need not try to claim it, and the holder alone is woken. */
  #isHeldElsewhere({ holder }: AnnouncedLane): boolean {
    return typeof holder === 'string' && holder !== this.#lease.owner
  }

  /** These lanes have new deliveries, raised elsewhere; undefined: the lanes are unknown. */
  wakeFor(lanes: readonly AnnouncedLane[] | undefined): void {
    if (lanes === undefined) {
      this.wake()
      return
    }
    if (this.#isStopped) return
    const others: string[] = []
    for (const lane of lanes) {
      const held = this.#held.get(lane.id)
      if (held) this.#noteNews(held)
      else if (!this.#isHeldElsewhere(lane)) others.push(lane.id)
    }
    if (others.length > 0) this.#claimer.hintIds(others)
  }

  /** The store was replaced as a whole: nothing that is known of lanes holds any more. */
  startAnew(): void {
    for (const lane of [...this.#held.values()]) this.#recorder.drop(lane)
    this.wake()
  }

  /** Resolves when every delivery that is due now was attempted. */
  async settle(): Promise<void> {
    do {
      this.wake()
      await this.#whenQuiet()
      await this.#recorder.clear()
    } while (!this.#isStopped && (await this.#hasWork()))
  }

  async #hasWork(): Promise<boolean> {
    if (!this.#trust.mayWork()) return false
    const { database, clock } = this.#deps
    const due = await listDueLanes(database.read, this.#lease, clock.now(), { limit: 1 })
    // Checked after the read: a lane that was claimed meanwhile is not among the due ones.
    return due.length > 0 || !this.#claimer.isQuiet || [...this.#held.values()].some(({ isLocked }) => !isLocked)
  }

  /**
   * Begins nothing new, and lets the posts under way finish within a time limit; then `abandon` aborts them, and the next holder of
   * the lanes sends them again.
   */
  async stop(graceMilliseconds: number, abandon: () => Promise<void>): Promise<void> {
    clearInterval(this.#poll)
    this.#isStopped = true
    await this.#claimer.stop()
    await this.#reader.stop()
    const timer = new AbortController()
    const done = this.#sender.settle()
    await Promise.race([done, wait(graceMilliseconds, undefined, { signal: timer.signal }).catch(() => undefined)])
    timer.abort()
    await abandon()
    await done
    for (const lane of this.#held.values()) {
      lane.queue.dropQueued()
      Object.assign(lane, { wantsRead: false, mayHaveMore: false })
    }
    await this.#recorder.clear()
    clearInterval(this.#heartbeat)
  }

  #tick(): void {
    this.wake()
    this.#recorder.tick()
  }

  async #whenQuiet(): Promise<void> {
    do {
      await this.#claimer.settle()
      await this.#reader.settle()
      await this.#sender.settle()
      await this.#recorder.settle()
    } while (!this.#claimer.isQuiet || !this.#reader.isQuiet || !this.#recorder.isQuiet || this.#sender.underWay > 0)
  }

  #hold(lane: Lane, claim: Claim): void {
    const { leaseClock, concurrency } = this.#deps
    const leasedUntil = leaseClock.now() + this.#lease.milliseconds
    const held = new HeldLane(lane, { claim, leasedUntil, concurrency })
    this.#held.set(lane.id, held)
    this.#reader.want(held, { atOnce: true })
  }

  /** A lane was released, with the time of its next work; or it is no longer ours. */
  #drop(lane: HeldLane, nextDue?: number | null): void {
    if (this.#held.get(lane.id) !== lane) return
    const isNewer = lane.wantsRead && nextDue !== undefined
    lane.isLost = true
    this.#held.delete(lane.id)
    this.#room.drop(lane, lane.claim.isFailing)
    this.#claimer.retry()
    if (lane.underWay > 0) this.#lost.set(lane.id, lane)
    if (isNewer || (typeof nextDue === 'number' && nextDue <= this.#deps.clock.now())) this.#claimer.hint([lane])
    else if (typeof nextDue === 'number') this.#wakeAt(nextDue)
  }

  #isEnding(lane_id: string): boolean {
    const lane = this.#lost.get(lane_id)
    if (lane && lane.underWay === 0) this.#lost.delete(lane_id)
    return lane !== undefined && lane.underWay > 0
  }

  #goOn(lane: HeldLane): void {
    if (lane.isLost) return
    if (lane.wantsRead) this.#reader.want(lane, { all: false })
    this.#sender.pump(lane)
    if (lane.isDone(this.#deps.clock.now())) this.#recorder.tick()
  }

  #noteOutcomes(lane: HeldLane, outcomes: readonly Outcome[], isBack: boolean): void {
    const postponed = outcomes.flatMap((outcome) => lane.finish(outcome))
    this.#recorder.add(lane, outcomes, postponed, isBack)
    for (const outcome of outcomes) if (outcome.kind === 'retry') this.#wakeAt(outcome.time)
  }

  /** With all that is behind them in their conversations. */
  #holdEntries(lane: HeldLane, entries: readonly Entry[]): void {
    const postponed = entries.flatMap(({ delivery }) => [
      { id: delivery.id, attempts: delivery.attempts, until: heldUntil },
      ...lane.queue.finish(delivery, heldUntil),
    ])
    this.#recorder.add(lane, [], postponed)
  }

  /** The rules that held deliveries are gone: these are due. */
  releaseHeld(): void {
    for (const lane of this.#held.values()) lane.queue.unblock()
    this.wake()
  }

  /** Work that is due before the next poll does not wait for the poll. */
  #wakeAt(time: number): void {
    const delay = time - this.#deps.clock.now()
    if (delay > 0 && delay < pollMilliseconds) setTimeout(() => this.wake(), delay).unref()
  }

  #logFailure(error: Error, message: string, lane?: HeldLane): void {
    const { database, log } = this.#deps
    if (!database.outageOf(error)) log.error({ ...(lane && { app: lane.app_id }), err: error }, message)
  }
}
