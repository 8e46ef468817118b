import type { Random } from '../../base/keys/random.ts'
import type { RaisedDeliveries } from '../../db/database.ts'
import { decideOutcome, type Outcome, type PostResult } from '../rules/outcome.ts'
import { isDown, type LaneState, noteOutcome } from '../rules/pause.ts'
import { gone, type RetryRules } from '../rules/schedule.ts'
import type { WaitingDelivery } from '../rules/waiting-delivery.ts'
import { asWaiting, type DuePosition, maxRead } from '../store/due-deliveries.ts'
import type { Lane } from '../store/lanes.ts'
import type { Postponed } from '../store/record-outcomes.ts'
import type { Secrets, StoredSecrets } from '../store/signing-secrets.ts'
import type { Claim, Destination } from './concurrency-limits.ts'
import { Window } from './host-window.ts'
import { type LaneChange, LaneChanges } from './lane-changes.ts'
import { type Entry, type Found, LaneQueue } from './lane-queue.ts'
import { LaneReads } from './lane-reads.ts'
import { type LaneEvent, type LanePhase, moveLane } from './lane-states.ts'

/** How many posts may be under way to a subscriber that nothing is known about. */
const firstWindow = 4
/** How many deliveries are read ahead for each post that may be under way. */
const readAhead = 3
const leastRead = 16
/** A subscriber that is down gets one post at a time; a few more deliveries are read, because some may have to wait. */
const readWhenDown = 4
/** Milliseconds: a delivery that was read longer ago is read again before it is sent, because it may have been ended meanwhile. */
const freshMilliseconds = 2000

export interface HeldLaneOptions {
  /** The lane as it was when claimed. */
  readonly claim: Claim
  readonly leasedUntil: number
  readonly concurrency: number
}

/** A read of a lane that has begun. */
export interface PlannedRead {
  readonly lane: HeldLane
  /** Undefined: all that is due is read. */
  readonly behind: DuePosition | undefined
  readonly limit: number
  /** What need not be read again. */
  readonly known: readonly number[]
}

/** A post that has begun. */
export interface BegunPost {
  readonly entries: readonly Entry[]
  /** Its number in the window of the lane. */
  readonly number: number
  readonly wasProbe: boolean
}

/** How outcomes are decided. */
export interface JudgeTools {
  readonly now: number
  readonly rules: RetryRules
  readonly random: Random
}

/**
 * A lane that this process holds, with its state in memory. Its methods are what happens to it; each changes this lane alone, and
 * whoever calls it finds out afterwards what is to be done (`wantsRead`, `canSend`, `hasChanges`, `isDone`).
 */
export class HeldLane implements Destination {
  readonly id: string
  readonly app_id: string
  readonly callback_url: string
  readonly origin: string
  readonly claim: Claim
  readonly #queue = new LaneQueue()
  readonly #reads = new LaneReads()
  readonly #changes = new LaneChanges()
  readonly #window: Window
  #phase: LanePhase = 'working'
  #subscriber: LaneState
  #leasedUntil: number
  /** The secrets that sign its posts, and what they were read from. */
  #signing: { readonly secrets: Secrets; readonly stored: StoredSecrets } | undefined
  #isUnsignable = false
  #underWay = 0
  #posts = 0
  #idleSince: number | undefined
  /** Deliveries that can neither be sent nor ended now: not read again before everything is. */
  readonly #leftOut = new Set<number>()
  /** Stored while a read was under way, which may have begun before: they stay known until it ends. */
  readonly #stored: number[] = []

  constructor(lane: Lane, { claim, leasedUntil, concurrency }: HeldLaneOptions) {
    this.id = lane.id
    this.app_id = lane.app_id
    this.callback_url = lane.callback_url
    this.origin = claim.origin
    this.claim = claim
    this.#subscriber = { failures: lane.failures, paused_until: 0 }
    this.#leasedUntil = leasedUntil
    this.#window = new Window({ initial: firstWindow, largest: concurrency })
  }

  get phase(): LanePhase {
    return this.#phase
  }

  /** Whether it is ours, as far as is known. */
  get isHeld(): boolean {
    return this.#phase !== 'lost' && this.#phase !== 'ended'
  }

  /** Whether its subscriber failed last: then it gets less of its host's limit. */
  get isFailing(): boolean {
    return this.#subscriber.failures > 0
  }

  /** Whether nothing can be done for it: its rows are locked, or its app's secrets cannot be read. */
  get isBlocked(): boolean {
    const hasOnlyLeftOut = this.#leftOut.size > 0 && this.#queue.queued + this.#underWay === 0
    return this.#phase === 'stuck' || this.#isUnsignable || hasOnlyLeftOut
  }

  get subscriber(): LaneState {
    return this.#subscriber
  }

  get secrets(): Secrets {
    return this.#signing?.secrets ?? []
  }

  /** Whether a post is under way. */
  get isPosting(): boolean {
    return this.#underWay > 0
  }

  /** How many posts have ended since it was claimed. */
  get posts(): number {
    return this.#posts
  }

  /** How many posts may be under way. */
  get #width(): number {
    return isDown(this.#subscriber) ? 1 : this.#window.size
  }

  /** How many waiting deliveries a read asks for behind the known ones. */
  get #readLimit(): number {
    if (isDown(this.#subscriber)) return readWhenDown
    return Math.min(maxRead, Math.max(leastRead, readAhead * this.#width))
  }

  isPaused(now: number): boolean {
    return this.#subscriber.paused_until > now
  }

  isLeaseOver(leaseNow: number): boolean {
    return this.#leasedUntil <= leaseNow
  }

  // Reading.

  get wantsRead(): boolean {
    return this.#phase === 'working' && !this.#isUnsignable && this.#reads.isWanted
  }

  /** Whether somebody has asked for a read, whatever the phase. */
  get hasNews(): boolean {
    return this.#reads.isWanted
  }

  /** Whether a read now would keep it from running dry. */
  get needsRead(): boolean {
    return this.#phase === 'working' && this.#reads.mayHaveMore && this.#queue.queued < this.#width
  }

  /** Whether it has more to send at once than it may: then it reads when it needs to. */
  get hasEnough(): boolean {
    return this.#queue.hasReady && this.#queue.queued >= this.#width
  }

  want(scope: 'more' | 'all'): void {
    this.#reads.want(scope)
  }

  /** There are new deliveries behind the known ones. */
  noteMore(): void {
    if (this.hasEnough) this.#reads.noteMore()
    else this.#reads.want('more')
  }

  /** Whether it can be read now. A lane that is paused is not read at all. */
  canRead(now: number): boolean {
    if (this.isPaused(now)) this.#reads.cancel()
    else return this.#phase === 'working'
    return false
  }

  /** Whether a conversation waits for a retry that is now due. */
  hasRetryDue(now: number): boolean {
    const next = this.#queue.nextRetry()
    return next !== undefined && next <= now
  }

  /**
   * Of the embedded store, what is new is behind everything that was read: it has one writer. Elsewhere a transaction may commit events
   * that are older than those read, so everything is read that is not known.
   */
  beginRead(isEmbedded: boolean): PlannedRead {
    const scope = this.#reads.begin()
    const limit = this.#readLimit
    if (scope === 'all') this.#leftOut.clear()
    const known = [...this.#queue.listKnown(), ...this.#leftOut]
    if (!isEmbedded) return { lane: this, behind: undefined, limit, known }
    const behind = scope === 'all' ? undefined : this.#queue.readUpTo
    return { lane: this, behind, limit: limit + (behind ? 0 : this.#queue.known), known: [] }
  }

  /** Queues deliveries that were read. `headless` are conversations whose first delivery must be read before anything of them is sent. */
  queueFound(found: readonly WaitingDelivery[], now: number, readTime: number): Found['headless'] {
    if (!this.isHeld) return new Map()
    const { headless, postponed } = this.#queue.add(found, now, readTime)
    this.#postpone(postponed)
    return headless
  }

  /**
   * Queues the first deliveries of a conversation, and lets those behind wait for one that is not due. When the subscriber is down and
   * there is nothing else to probe it with, the retry comes early.
   */
  queueFirst(
    conversation: string,
    first: readonly WaitingDelivery[],
    behind: readonly WaitingDelivery[],
    now: number,
    readTime: number,
  ): void {
    if (!this.isHeld) return
    const notDue = first.findIndex(({ due_time }) => due_time > now)
    const blocking = first[notDue]
    this.queueFound(blocking ? first.slice(0, notDue) : first, now, readTime)
    if (!blocking) return
    const isIdle = this.#queue.queued + this.#underWay === 0
    if (isDown(this.#subscriber) && blocking.previous_id === null && isIdle) {
      this.#queue.add([blocking], blocking.due_time, readTime)
    }
    const waiting = behind.filter(({ id }) => id > blocking.id)
    this.#postpone(this.#queue.block(conversation, blocking.due_time, waiting))
  }

  /** The app may not receive these any more, and somebody else has locked them, so that they could not be ended. */
  leaveOut(ids: Iterable<number>): void {
    for (const id of ids) this.#leftOut.add(id)
  }

  endRead({ limit }: PlannedRead, found: readonly DuePosition[]): void {
    this.#isUnsignable = false
    this.#queue.readUpTo = found.at(-1) ?? this.#queue.readUpTo
    this.#reads.end(found.length >= limit, performance.now())
    this.#forgetStored()
  }

  /** `unsignable`: its app's secrets cannot be read. */
  failRead(reason: 'unreadable' | 'unsignable'): void {
    this.#isUnsignable = reason === 'unsignable'
    this.#reads.fail(performance.now())
    this.#forgetStored()
  }

  sign(secrets: Secrets, stored: StoredSecrets): void {
    this.#signing = { secrets, stored }
  }

  /** Takes deliveries that this process has just raised, without reading them; returns false when they must be read. */
  takeRaised(raised: RaisedDeliveries, now: number): boolean {
    if (!this.#canTake(raised, now)) return false
    const deliveries = raised.deliveries.map((delivery) => asWaiting(this.id, delivery))
    if (this.queueFound(deliveries, now, raised.since).size > 0) this.want('all')
    return true
  }

  /**
   * Not when it may have older ones to read, or when a read was under way since they were stored, which may have found them: what it
   * found may have been sent, stored and forgotten.
   */
  #canTake({ deliveries, since, secret }: RaisedDeliveries, now: number): boolean {
    if (this.#phase !== 'working' || this.#isUnsignable || !this.#reads.isQuietSince(since)) return false
    if (this.isPaused(now) || isDown(this.#subscriber)) return false
    if (this.#queue.queued + deliveries.length > this.#readLimit) return false
    if (!this.#signing || this.#signing.stored.secret !== secret) return false
    // The previous secret signs as well for a while after a rotation.
    const { secrets, stored } = this.#signing
    return secrets.length === 1 || (stored.previous_secret_until ?? 0) > now
  }

  // Sending.

  /** Whether its next delivery may be sent now. */
  canSend(now: number): boolean {
    if (this.#phase !== 'working' || this.isPaused(now)) return false
    const next = this.#queue.peek()
    if (!next || this.#underWay >= this.#width) return false
    if (performance.now() - next.readTime <= freshMilliseconds) return true
    this.#queue.dropQueued()
    this.#reads.noteMore()
    return false
  }

  /** The next delivery, and with batches more first attempts of the same account. A retry goes alone: its failure delays no other. */
  beginPost(batch: number): BegunPost {
    const first = this.#queue.take()
    const more = first && batch > 1 && !isRetry(first) ? this.#queue.takeMore(first, batch - 1, canShare) : []
    this.#underWay += 1
    this.#idleSince = undefined
    const entries = first ? [first, ...more] : []
    return { entries, number: this.#window.start(), wasProbe: isDown(this.#subscriber) }
  }

  /** Whether its subscriber is down: then one post at a time asks whether it is back. */
  get isDown(): boolean {
    return isDown(this.#subscriber)
  }

  /** A post has ended with a result, which is judged here. */
  endPost({ entries, number, wasProbe }: BegunPost, result: PostResult, { now, rules, random }: JudgeTools): Outcome[] {
    if (result.problem === undefined) this.#window.grow(this.#underWay)
    else if (result.status !== gone) this.#window.cut(number)
    this.#leavePost()
    const wasDown = isDown(this.#subscriber)
    const outcomes = entries.map(({ delivery }) => decideOutcome(delivery, result, rules, random))
    const [first] = outcomes
    // One post counts once for the subscriber, however many deliveries it carried.
    if (first) this.#subscriber = noteOutcome(this.#subscriber, first, { now, wasProbe, delays: rules.delays })
    if (!this.isHeld) return outcomes
    const postponed = outcomes.flatMap((outcome) =>
      this.#queue.finish(outcome.delivery, outcome.kind === 'retry' ? outcome.time : undefined),
    )
    this.#changes.add({ outcomes, postponed, isBack: wasDown && !isDown(this.#subscriber) })
    if (this.isPaused(now)) this.#queue.dropQueued()
    return outcomes
  }

  /** A post did not leave: its deliveries wait as before. */
  abortPost({ entries }: BegunPost): void {
    this.#leavePost()
    this.#queue.releaseUnsent(entries.map(({ delivery }) => delivery))
    this.want('all')
  }

  /** A fault rule holds a post, with all that is behind its deliveries in their conversations. */
  holdPost({ entries }: BegunPost, until: number): void {
    this.#leavePost()
    if (!this.isHeld) return
    const postponed = entries.flatMap(({ delivery }) => [
      { id: delivery.id, attempts: delivery.attempts, until },
      ...this.#queue.finish(delivery, until),
    ])
    this.#postpone(postponed)
  }

  /** Others of the conversations may go first, although this post has not ended. */
  overtake({ entries }: BegunPost): void {
    for (const { delivery } of entries) this.#queue.overtake(delivery)
  }

  /** Every conversation that waits for a retry is due. */
  unblock(): void {
    this.#queue.unblock()
  }

  // Storing.

  get hasChanges(): boolean {
    return this.isHeld && this.#changes.hasPending
  }

  /** How many outcomes and postponements are not stored yet. */
  get unrecorded(): number {
    return this.isHeld ? this.#changes.count : 0
  }

  takeChanges(): LaneChange {
    return this.#changes.take()
  }

  /** What was taken is stored, except deliveries that somebody else has locked. */
  noteStored(leasedUntil: number, locked: ReadonlySet<number>): void {
    const { stored, left } = this.#changes.settle((id) => !locked.has(id))
    this.#leasedUntil = leasedUntil
    this.#stored.push(...stored)
    if (!this.#reads.isUnderWay) this.#forgetStored()
    this.#move(left > 0 ? 'locked' : 'stored')
  }

  /** Nothing of what was taken is stored, because somebody else has locked the row of the lane. */
  noteLocked(): void {
    this.keepChanges()
    this.#move('locked')
  }

  /** Nothing of what was taken is stored. */
  keepChanges(): void {
    this.#changes.settle(() => false)
  }

  renew(leasedUntil: number): void {
    this.#leasedUntil = leasedUntil
  }

  // Leaving.

  /** Whether it can be released: nothing is under way or unwritten, and there is nothing to send now. */
  isDone(now: number): boolean {
    if (this.#phase !== 'working' || this.#underWay > 0 || this.#changes.count > 0 || this.#reads.isUnderWay)
      return false
    return this.isPaused(now) || (this.#queue.queued + this.#leftOut.size === 0 && this.#reads.isDone)
  }

  /** Since when it has been idle, in milliseconds of this process; undefined when it is not. */
  idleSince(now: number): number | undefined {
    if (!this.isDone(now)) return undefined
    this.#idleSince ??= performance.now()
    return this.#idleSince
  }

  leave(): void {
    this.#move('leave')
  }

  /** It was not released: an event is being raised for it, it is no longer ours, or the store failed. */
  stay(): void {
    this.#move('kept')
    this.want('all')
  }

  noteReleased(): void {
    this.#move('released')
  }

  lose(): void {
    this.#move('taken_over')
    if (this.#phase === 'lost' && this.#underWay === 0) this.#move('posts_ended')
  }

  /** The service stops: only what is under way is finished. */
  stop(): void {
    this.#queue.dropQueued()
    this.#leftOut.clear()
    this.#reads.cancel()
  }

  // What all of these share.

  #postpone(postponed: readonly Postponed[]): void {
    if (postponed.length > 0) this.#changes.add({ outcomes: [], postponed, isBack: false })
  }

  #forgetStored(): void {
    this.#queue.forget(this.#stored.splice(0))
  }

  #leavePost(): void {
    this.#underWay -= 1
    this.#posts += 1
    if (this.#phase === 'lost' && this.#underWay === 0) this.#move('posts_ended')
  }

  #move(event: LaneEvent): void {
    this.#phase = moveLane(this.#phase, event)
  }
}

function isRetry({ delivery }: Entry): boolean {
  return delivery.attempts > delivery.earlier_attempts
}

/** A value too large to be read ahead goes alone. */
function canShare(entry: Entry): boolean {
  return !isRetry(entry) && entry.delivery.value !== null
}
