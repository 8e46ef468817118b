import type { RaisedDeliveries } from '../db/database.ts'
import type { Claim } from './claimer.ts'
import type { WaitingDelivery } from './due.ts'
import { LaneQueue, type Postponed } from './lane-queue.ts'
import { LaneWatch } from './lane-watch.ts'
import type { Lane } from './lanes.ts'
import type { Outcome } from './outcome.ts'
import { isDown, type LaneState } from './pause.ts'
import type { Destination } from './room.ts'
import type { StoredSecrets } from './secrets.ts'
import type { Secrets } from './sign.ts'
import { Window } from './window.ts'

/** How many posts may be under way to a subscriber that nothing is known about. */
const firstWindow = 4
/** How many deliveries are read ahead for each post that may be under way. */
const readAhead = 3
const leastRead = 16
/** A subscriber that is down gets one post at a time; a few more deliveries are read, because some may have to wait. */
const readWhenDown = 4

/** A lane that this process holds, with its state in memory. */
export class HeldLane implements Destination {
  readonly id: string
  readonly app_id: string
  readonly callback_url: string
  readonly origin: string
  /** The lane as it was when claimed. */
  readonly claim: Claim
  readonly queue = new LaneQueue()
  readonly window: Window
  readonly watch = new LaneWatch()
  state: LaneState
  /** By the clock; after this time another process may hold the lane. */
  leasedUntil: number
  /** The secrets that sign its posts. */
  secrets: Secrets = []
  /** What they were read from. */
  storedSecrets: StoredSecrets | undefined
  /** Whether the last read of its app's secrets failed. */
  isLocked = false
  underWay = 0
  /** How many posts have ended since it was claimed. */
  posts = 0
  /** Outcomes and postponements that are not stored yet. */
  unrecorded = 0
  wantsRead = true
  /** Whether that read begins with the first due delivery, and not behind those that are known. */
  wantsAll = true
  isReading = false
  /** When the last read ended, in milliseconds of this process. */
  readEnded = Number.POSITIVE_INFINITY
  /** Whether the last read returned as many deliveries as it asked for. */
  mayHaveMore = false
  /** Whether another process holds it now, or it broke: nothing more is sent or stored for it. */
  isLost = false
  /** Whether it is being released right now: nothing may be read or sent for it. */
  isLeaving = false
  /** Since when it has been idle, in milliseconds of this process; undefined while it is not. */
  idleSince: number | undefined
  readonly #recorded: number[] = []

  constructor(lane: Lane, { claim, leasedUntil, concurrency }: HeldLaneOptions) {
    this.id = lane.id
    this.app_id = lane.app_id
    this.callback_url = lane.callback_url
    this.origin = claim.origin
    this.claim = claim
    this.state = { failures: lane.failures, paused_until: 0 }
    this.leasedUntil = leasedUntil
    this.window = new Window({ initial: firstWindow, largest: concurrency })
  }

  /** Whether its subscriber failed last: then it gets less of its host's room. */
  get isFailing(): boolean {
    return this.state.failures > 0
  }

  /** How many posts may be under way. */
  get width(): number {
    return isDown(this.state) ? 1 : this.window.size
  }

  /** How many waiting deliveries a read asks for behind the known ones. */
  get appetite(): number {
    return isDown(this.state) ? readWhenDown : Math.max(leastRead, readAhead * this.width)
  }

  /** Whether a read now would keep it from running dry. */
  get isHungry(): boolean {
    return this.mayHaveMore && this.queue.queued < this.width
  }

  /** Whether it has more to send at once than it may: then it reads when it gets hungry. */
  get isFed(): boolean {
    return this.queue.hasReady && this.queue.queued >= this.width
  }

  /** Whether a conversation waits for a retry that is now due. */
  hasRetryDue(now: number): boolean {
    const next = this.queue.nextRetry()
    return next !== undefined && next <= now
  }

  isPaused(now: number): boolean {
    return this.state.paused_until > now
  }

  /** Whether it can be released: nothing is under way or unwritten, and there is nothing to send now. */
  isDone(now: number): boolean {
    if (this.underWay > 0 || this.unrecorded > 0 || this.isReading) return false
    return this.isPaused(now) || (this.queue.queued === 0 && !this.wantsRead && !this.mayHaveMore)
  }

  /**
   * Whether it can take deliveries that this process has just raised, without reading them. Not when it may have older ones to read, or
   * when a read was under way since they were stored, which may have found them: what it found may have been sent, stored and forgotten.
   */
  canTake({ deliveries, since, secret }: RaisedDeliveries, now: number): boolean {
    const { wantsRead, mayHaveMore, isReading, isLost, isLeaving, isLocked, storedSecrets: stored } = this
    if (wantsRead || mayHaveMore || isReading || isLost || isLeaving || isLocked || this.readEnded >= since)
      return false
    if (this.isPaused(now) || isDown(this.state) || this.queue.queued + deliveries.length > this.appetite) return false
    if (!stored || stored.secret !== secret) return false
    // The previous secret signs as well for a while after a rotation.
    return this.secrets.length === 1 || (stored.previous_secret_until ?? 0) > now
  }

  /** Adds the deliveries that were read; returns the conversations whose heads must be read before anything of them is sent. */
  take(
    deliveries: readonly WaitingDelivery[],
    now: number,
    readTime: number,
  ): { headless: Map<string, WaitingDelivery[]>; postponed: Postponed[] } {
    return this.queue.add(deliveries, now, readTime)
  }

  /** A post of this delivery has ended; returns the deliveries that must wait behind it. */
  finish(outcome: Outcome): Postponed[] {
    return this.queue.finish(outcome.delivery, outcome.kind === 'retry' ? outcome.time : undefined)
  }

  /** These are stored. A read under way may have begun before that, so they must stay known until it ends. */
  noteRecorded(ids: Iterable<number>): void {
    for (const id of ids) {
      this.unrecorded -= 1
      this.#recorded.push(id)
    }
    if (!this.isReading) this.endRead()
  }

  /** A read has ended, or none is under way. */
  endRead(): void {
    if (this.isReading) this.readEnded = performance.now()
    this.isReading = false
    this.queue.forget(this.#recorded.splice(0))
  }
}

interface HeldLaneOptions {
  readonly claim: Claim
  readonly leasedUntil: number
  readonly concurrency: number
}
