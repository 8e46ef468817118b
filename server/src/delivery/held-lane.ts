import type { Claim } from './claimer.ts'
import type { WaitingDelivery } from './due.ts'
import { LaneQueue, type Postponed } from './lane-queue.ts'
import type { Lane } from './lanes.ts'
import type { Outcome } from './outcome.ts'
import { isDown, type LaneState } from './pause.ts'
import type { Destination } from './room.ts'
import type { Secrets } from './sign.ts'
import { Window } from './window.ts'

/** How many posts to a subscriber that nothing is known of may be under way. */
const firstWindow = 4
/** What is read ahead, for each post that may be under way. */
const readAhead = 3
/** A subscriber that is down is sent one: a few more are read, because some may have to wait. */
const readWhenDown = 4

/** A lane that this process works on, with everything that it keeps in memory of it. */
export class HeldLane implements Destination {
  readonly id: string
  readonly app_id: string
  readonly callback_url: string
  readonly origin: string
  /** As what it was claimed. */
  readonly claim: Claim
  readonly queue = new LaneQueue()
  readonly window: Window
  state: LaneState
  /** By the clock; what is sent after that could be another process's by then. */
  leasedUntil: number
  /** What posts are signed with. */
  secrets: Secrets = []
  /** Whether the secrets of its app could not be had the last time. */
  isLocked = false
  underWay = 0
  /** Outcomes, and what had to be postponed, that are not written down yet. */
  unrecorded = 0
  wantsRead = true
  isReading = false
  /** Whether the last read found as much as it asked for. */
  mayHaveMore = false
  /** Whether another process has it by now, or it broke: nothing more is sent or written for it. */
  isLost = false
  /** Whether it is being given back at this moment: nothing may be read or sent for it. */
  isLeaving = false
  /** Since when there has been nothing to do, in milliseconds of this process; undefined while there is. */
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

  /** Whether its subscriber failed last: then it has less of its host's room. */
  get isDoubtful(): boolean {
    return this.state.failures > 0
  }

  /** How many posts may be under way. */
  get width(): number {
    return isDown(this.state) ? 1 : this.window.size
  }

  /** How many waiting deliveries a read asks for: those that are known come again. */
  get readLimit(): number {
    return this.queue.known + (isDown(this.state) ? readWhenDown : Math.max(8, readAhead * this.width))
  }

  /** Whether reading now would keep it from running dry. */
  get isHungry(): boolean {
    return this.mayHaveMore && this.queue.queued < this.width
  }

  /** Whether a conversation waited for a retry whose time has come. */
  hasRetryDue(now: number): boolean {
    const next = this.queue.nextRetry()
    return next !== undefined && next <= now
  }

  isPaused(now: number): boolean {
    return this.state.paused_until > now
  }

  /** Whether it can be given back: nothing is under way or still to be written, and there is nothing to send. */
  isDone(now: number): boolean {
    if (this.underWay > 0 || this.unrecorded > 0 || this.isReading) return false
    return this.isPaused(now) || (this.queue.queued === 0 && !this.wantsRead && !this.mayHaveMore)
  }

  /** Takes up what was read; returns conversations whose first ones have to be read before anything of them is sent. */
  take(
    deliveries: readonly WaitingDelivery[],
    now: number,
    readTime: number,
  ): { headless: Map<string, WaitingDelivery[]>; postponed: Postponed[] } {
    return this.queue.add(deliveries, now, readTime)
  }

  /** A post of this delivery has ended; returns what has to wait behind it. */
  finish(outcome: Outcome): Postponed[] {
    return this.queue.finish(outcome.delivery, outcome.kind === 'retry' ? outcome.time : undefined)
  }

  /** These are written down. A read that goes on may have begun before, so it must still know them. */
  noteRecorded(ids: Iterable<number>): void {
    for (const id of ids) {
      this.unrecorded -= 1
      this.#recorded.push(id)
    }
    if (!this.isReading) this.endRead()
  }

  /** A read has come to its end, or none goes on. */
  endRead(): void {
    this.isReading = false
    this.queue.forget(this.#recorded.splice(0))
  }
}

interface HeldLaneOptions {
  readonly claim: Claim
  readonly leasedUntil: number
  readonly concurrency: number
}
