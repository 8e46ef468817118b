import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../../base/keys/random.ts'
import type { Log } from '../../base/log/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type ClockTrust, fullTrust } from '../../base/time/clock-trust.ts'
import { second } from '../../base/time/duration.ts'
import type { Database, DueLane, RaisedDeliveries } from '../../db/database.ts'
import type { Faults } from '../../sandbox/faults.ts'
import type { Spans } from '../../telemetry/spans.ts'
import type { AttemptDeps } from '../post/attempt.ts'
import type { Outcome } from '../rules/outcome.ts'
import type { RetryRules } from '../rules/schedule.ts'
import { type Lane, type Lease, listDueLanes } from '../store/lanes.ts'
import { Claimer } from './claimer.ts'
import { type Claim, ConcurrencyLimits } from './concurrency-limits.ts'
import type { DeliveryMetrics } from './delivery-metrics.ts'
import { HeldLane } from './held-lane.ts'
import type { WorkerEvent } from './lane-events.ts'
import { Reader } from './reader.ts'
import { Recorder } from './recorder.ts'
import { Sender } from './sender.ts'
import { type AnnouncedLane, silentWaker, type Waker } from './waker.ts'

/** How often a process polls without being woken: for work that another process, or the clock, made due. */
const pollMilliseconds = second
/** How often a stop tries to store and release lanes whose rows are locked, and the pause between: two seconds in all. */
const releaseTries = 40
const releasePause = 50

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

type EventHandlers = {
  readonly [Kind in WorkerEvent['kind']]: (event: Extract<WorkerEvent, { kind: Kind }>) => void
}

/**
 * Delivers webhooks. It claims lanes under a lease and sends many deliveries of each at once, those of one conversation one after
 * the other. `claimer` finds lanes, `reader` reads due deliveries, `sender` posts them, and `recorder` stores outcomes and releases
 * lanes. Each reports what happened as an event; the events are handled here, one after the other.
 */
export class DeliveryWorker {
  readonly #deps: WorkerDeps
  readonly #lease: Lease
  readonly #waker: Waker
  readonly #trust: ClockTrust
  readonly #concurrency = new ConcurrencyLimits()
  /** The lanes that are held, or were lost while posts were under way: these are not claimed again until their posts have ended. */
  readonly #lanes = new Map<string, HeldLane>()
  readonly #events: WorkerEvent[] = []
  readonly #claimer: Claimer
  readonly #reader: Reader
  readonly #sender: Sender
  readonly #recorder: Recorder
  #poll: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #isHandling = false
  #isStopped = false

  constructor(deps: WorkerDeps) {
    this.#deps = deps
    const { database, clock, metrics } = deps
    const [emit, concurrency] = [this.#emit, this.#concurrency]
    const lease: Lease = { owner: deps.random.trace(), milliseconds: deps.lease, clock: deps.leaseClock }
    this.#lease = lease
    this.#waker = deps.waker ?? silentWaker
    this.#trust = deps.trust ?? fullTrust
    const originOf = (url: string) => deps.egress.originOf(url)
    const isTaken = (id: string) => this.#lanes.has(id)
    const mayWork = () => this.#trust.mayWork()
    this.#claimer = new Claimer({ database, clock, lease, concurrency, originOf, mayClaim: mayWork, isTaken, emit })
    this.#reader = new Reader({ database, clock, emit })
    const isHalted = () => this.#isStopped || this.#recorder.isBehind || !this.#trust.mayWork()
    this.#sender = new Sender({ ...deps, concurrency, isHalted, emit })
    const held = () => this.#listHeld()
    const holdsIdle = () => !this.#isStopped && !this.#claimer.hasSkipped && this.#waker.isLive
    this.#recorder = new Recorder({ database, clock, lease, held, holdsIdle, mayWork, emit })
    metrics.watchWorker({ held: () => this.#listHeld().length, waiting: () => this.#sender.waitingForRoom })
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
    for (const lane of this.#listHeld()) {
      lane.want('all')
      this.#reader.want(lane)
    }
  }

  /** These lanes have new deliveries, raised by this process. */
  wakeLanes(lanes: Iterable<DueLane>): void {
    if (this.#isStopped) return
    const free: DueLane[] = []
    const elsewhere: AnnouncedLane[] = []
    for (const lane of lanes) {
      const held = this.#findHeld(lane.id)
      if (held) this.#emit({ kind: 'news', lane: held, raised: lane.raised })
      else if (this.#isHeldElsewhere(lane)) elsewhere.push(lane)
      else free.push(lane)
    }
    if (elsewhere.length > 0) this.#waker.announceLanes(elsewhere)
    if (free.length > 0) this.#claimer.hint(free)
  }

  /** These lanes have new deliveries, raised elsewhere; undefined: the lanes are unknown. */
  wakeFor(lanes: readonly AnnouncedLane[] | undefined): void {
    if (lanes === undefined) {
      this.wake()
      return
    }
    if (this.#isStopped) return
    const others: string[] = []
    let mayBeNoted = false
    for (const lane of lanes) {
      const held = this.#findHeld(lane.id)
      if (held) this.#emit({ kind: 'news', lane: held })
      else if (!this.#isHeldElsewhere(lane)) {
        others.push(lane.id)
        // Whoever raised the event still saw it as held by this process.
        if (lane.holder === this.#lease.owner) mayBeNoted = true
      }
    }
    if (others.length > 0) this.#claimer.hintIds(others, { mayBeNoted })
  }

  /** A process that raises an event sees who holds the lane: it need not try to claim it, and the holder alone is woken. */
  #isHeldElsewhere({ holder }: AnnouncedLane): boolean {
    return typeof holder === 'string' && holder !== this.#lease.owner
  }

  /** The store was replaced as a whole: nothing that is known of lanes holds any more. */
  reset(): void {
    for (const lane of this.#listHeld()) this.#emit({ kind: 'taken_over', lane })
    this.wake()
  }

  /** The rules that held deliveries are gone: these are due. */
  releaseHeld(): void {
    for (const lane of this.#listHeld()) lane.unblock()
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
    return due.length > 0 || !this.#claimer.isQuiet || this.#listHeld().some(({ isBlocked }) => !isBlocked)
  }

  async #whenQuiet(): Promise<void> {
    do {
      await this.#claimer.settle()
      await this.#reader.settle()
      await this.#sender.settle()
      await this.#recorder.settle()
    } while (!this.#claimer.isQuiet || !this.#reader.isQuiet || !this.#recorder.isQuiet || this.#sender.underWay > 0)
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
    await this.#releaseAll()
    clearInterval(this.#heartbeat)
  }

  /** What is not stored would be sent again, and what is not released stands still for the rest of its lease: both may meet a lock. */
  async #releaseAll(): Promise<void> {
    for (let tries = 0; tries < releaseTries; tries++) {
      for (const lane of this.#listHeld()) lane.stop()
      await this.#recorder.clear()
      if (this.#listHeld().length === 0) return
      await wait(releasePause)
    }
  }

  #tick(): void {
    this.wake()
    this.#recorder.tick()
  }

  #listHeld(): HeldLane[] {
    return [...this.#lanes.values()].filter(({ isHeld }) => isHeld)
  }

  #findHeld(lane_id: string): HeldLane | undefined {
    const lane = this.#lanes.get(lane_id)
    return lane?.isHeld ? lane : undefined
  }

  /** Handles an event, and then those that were reported meanwhile. */
  readonly #emit = (event: WorkerEvent): void => {
    this.#events.push(event)
    if (this.#isHandling) return
    this.#isHandling = true
    try {
      for (let next = this.#events.shift(); next; next = this.#events.shift()) this.#handleSafely(next)
    } finally {
      this.#isHandling = false
    }
  }

  /** A fault of our own in one lane must not stop the others. */
  #handleSafely(event: WorkerEvent): void {
    try {
      const handle = this.#handlers[event.kind] as (event: WorkerEvent) => void
      handle(event)
    } catch (error) {
      const lane = 'lane' in event && event.lane instanceof HeldLane ? event.lane : undefined
      this.#logFailure(error as Error, 'a lane of deliveries broke', lane)
      if (lane) this.#lose(lane)
    }
  }

  /** THE TABLE of what happens and what follows from it. */
  readonly #handlers: EventHandlers = {
    claimed: ({ lane, claim, leasedUntil }) => this.#hold(lane, claim, leasedUntil),
    held_elsewhere: ({ ids }) => this.#waker.announceLanes(ids.map((id) => ({ id }))),
    news: ({ lane, raised }) => this.#takeNews(lane, raised),
    read: ({ lane }) => this.#advance(lane),
    overtaken: ({ lane }) => this.#advance(lane),
    posted: ({ outcomes }) => this.#wakeForRetries(outcomes),
    turn_over: ({ lane }) => this.#endTurn(lane),
    confirmed: ({ lane, isBack }) => this.#goOn(lane, isBack),
    released: ({ lane, next_due }) => this.#release(lane, next_due),
    taken_over: ({ lane }) => this.#lose(lane),
    failed: ({ error, message, lane }) => this.#logFailure(error, message, lane),
  }

  /** Does what is to be done for a lane now. */
  #advance(lane: HeldLane): void {
    if (!lane.isHeld) return
    const { clock, leaseClock } = this.#deps
    this.#sender.pump(lane)
    if (lane.isLeaseOver(leaseClock.now())) this.#recorder.renew()
    if (lane.needsRead) lane.want('more')
    if (lane.wantsRead) this.#reader.want(lane, { atOnce: lane.needsRead })
    if (lane.hasChanges) this.#recorder.note(lane)
    if (lane.isDone(clock.now())) this.#recorder.wake()
  }

  #hold(lane: Lane, claim: Claim, leasedUntil: number): void {
    const { concurrency } = this.#deps
    const held = new HeldLane(lane, { claim, leasedUntil, concurrency })
    this.#lanes.set(lane.id, held)
    this.#reader.want(held, { atOnce: true })
  }

  #takeNews(lane: HeldLane, raised: RaisedDeliveries | undefined): void {
    if (raised && lane.takeRaised(raised, this.#deps.clock.now())) {
      this.#advance(lane)
      return
    }
    lane.noteMore()
    if (lane.wantsRead) this.#reader.want(lane)
  }

  /** Waiting lanes come before the lane whose post has ended. */
  #endTurn(lane: HeldLane): void {
    for (const idle of this.#sender.serveWaiting()) this.#advance(idle)
    if (lane.phase === 'ended') this.#lanes.delete(lane.id)
    this.#advance(lane)
    this.#claimer.retry()
  }

  #goOn(lane: HeldLane, isBack: boolean): void {
    if (isBack) lane.unblock()
    if (isBack || lane.hasRetryDue(this.#deps.clock.now())) lane.want('all')
    this.#advance(lane)
  }

  #release(lane: HeldLane, next_due: number | null): void {
    const { clock } = this.#deps
    const isNewer = lane.hasNews
    if (!lane.isHeld) return
    lane.noteReleased()
    this.#drop(lane)
    // Events that met the release have left a note.
    if (isNewer || (next_due !== null && next_due <= clock.now())) {
      const { id, app_id, callback_url } = lane
      this.#claimer.hint([{ id, app_id, callback_url, isNoted: isNewer }])
    } else if (next_due !== null) this.#wakeAt(next_due)
  }

  #lose(lane: HeldLane): void {
    if (!lane.isHeld) return
    lane.lose()
    this.#drop(lane)
  }

  #drop(lane: HeldLane): void {
    if (lane.phase === 'ended') this.#lanes.delete(lane.id)
    this.#recorder.forget(lane)
    this.#concurrency.releaseLane(lane, lane.claim.isFailing)
    this.#claimer.retry()
  }

  #wakeForRetries(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) if (outcome.kind === 'retry') this.#wakeAt(outcome.time)
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
