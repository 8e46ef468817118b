import type { Clock } from '../base/clock.ts'
import { second } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { Database } from '../db/database.ts'
import type { FaultEffect } from '../sandbox/fault-rules.ts'
import type { Faults } from '../sandbox/faults.ts'
import type { Spans } from '../telemetry/spans.ts'
import { type AttemptDeps, attemptPost } from './attempt.ts'
import type { Post, PostedDelivery } from './compose-post.ts'
import { readValue, type WaitingDelivery } from './due.ts'
import type { HeldLane } from './held-lane.ts'
import type { Entry } from './lane-queue.ts'
import { findPostFault, pretendResult, waitForFault } from './meet-fault.ts'
import type { DeliveryMetrics } from './metrics.ts'
import { decideOutcome, type Outcome, type PostResult } from './outcome.ts'
import { isDown, noteOutcome } from './pause.ts'
import type { Place, PostEnd, Room } from './room.ts'
import type { RetryRules } from './schedule.ts'

/** A delivery that was read longer ago is read again before it is sent: it may have been ended meanwhile. */
const freshMilliseconds = 2 * second

export interface SenderDeps extends AttemptDeps {
  readonly database: Database
  readonly clock: Clock
  /** The clock of leases, which no sandbox moves. */
  readonly leaseClock: Clock
  readonly random: Random
  readonly log: Log
  readonly rules: RetryRules
  readonly metrics: DeliveryMetrics
  readonly room: Room
  /** How many changes of one account may share a post. */
  readonly batch: number
  /** Undefined where there is no sandbox. */
  readonly faults?: Faults | undefined
  /** Undefined where traces are not exported. */
  readonly spans?: Spans | undefined
  readonly events: SenderEvents
}

/** Callbacks for what happens here. */
export interface SenderEvents {
  /** Whether nothing may be sent: the service stops, or outcomes are not being stored. */
  isHalted(): boolean
  /** The lease of a lane has expired by the clock. */
  onLeaseOver(lane: HeldLane): void
  /** A lane can send more than it has in memory. */
  onHungry(lane: HeldLane): void
  onOutcomes(lane: HeldLane, outcomes: readonly Outcome[], isBack: boolean): void
  /** A fault rule holds these: they are not sent until it is gone. */
  onHeld(lane: HeldLane, entries: readonly Entry[]): void
  /** Others of the conversation may go first. */
  onOvertaken(lane: HeldLane, entry: Entry): void
  /** A place became free, and no held lane waits for it. */
  onRoom(): void
  /** A delivery of a lane was not sent, because its lease is over. */
  onAbandoned(lane: HeldLane): void
  /** A lane can no longer be worked on. */
  onBroken(lane: HeldLane, error: Error): void
}

/** Posts the queued deliveries of held lanes, as many at once as the lane, its app, its host and the process have room for. */
export class Sender {
  readonly #deps: SenderDeps
  readonly #posts = new Set<Promise<void>>()
  /** Lanes that wait for room, in turn. */
  readonly #waiting = new Set<HeldLane>()

  constructor(deps: SenderDeps) {
    this.#deps = deps
  }

  get underWay(): number {
    return this.#posts.size
  }

  get waitingForRoom(): number {
    return this.#waiting.size
  }

  /** Resolves when the posts now under way have ended. */
  async settle(): Promise<void> {
    await Promise.all(this.#posts)
  }

  /** Sends what may be sent. */
  pump(lane: HeldLane): void {
    this.#waiting.delete(lane)
    while (this.#maySend(lane)) {
      if (this.#sendOne(lane)) continue
      this.#waiting.add(lane)
      return
    }
    if (lane.isHungry && !lane.isLost) this.#deps.events.onHungry(lane)
  }

  #maySend(lane: HeldLane): boolean {
    const { clock, leaseClock, events } = this.#deps
    const now = clock.now()
    if (lane.isLost || lane.isLeaving || lane.isPaused(now) || events.isHalted()) return false
    const next = lane.queue.peek()
    if (!next || lane.underWay >= lane.width) return false
    if (lane.leasedUntil <= leaseClock.now()) {
      events.onLeaseOver(lane)
      return false
    }
    if (performance.now() - next.readTime > freshMilliseconds) {
      lane.queue.dropQueued()
      lane.mayHaveMore = true
      return false
    }
    return true
  }

  /** False when there is no room. */
  #sendOne(lane: HeldLane): boolean {
    const place = this.#deps.room.enter(lane, lane.isFailing)
    if (!place) return false
    const entries = this.#takeEntries(lane)
    lane.underWay += 1
    lane.idleSince = undefined
    const post = this.#send(lane, entries, place)
      .catch((error: Error) => this.#deps.events.onBroken(lane, error))
      .finally(() => {
        this.#posts.delete(post)
        this.#serve(lane)
      })
    this.#posts.add(post)
    return true
  }

  /** Waiting lanes come before the lane whose post has ended. */
  #serve(lane: HeldLane): void {
    for (const waiting of [...this.#waiting]) this.#giveTurn(waiting)
    this.pump(lane)
    this.#deps.events.onRoom()
  }

  /** One post for each, so that every waiting lane gets a turn; a lane that still waits goes to the end. */
  #giveTurn(lane: HeldLane): void {
    if (!this.#maySend(lane)) {
      this.pump(lane)
      return
    }
    if (!this.#sendOne(lane)) return
    this.#waiting.delete(lane)
    if (this.#maySend(lane)) this.#waiting.add(lane)
  }

  /** The next delivery, and with batches more first attempts of the same account. A retry goes alone: its failure delays no other. */
  #takeEntries(lane: HeldLane): Entry[] {
    const first = lane.queue.take()
    if (!first) return []
    const { batch } = this.#deps
    if (batch === 1 || isRetry(first)) return [first]
    return [first, ...lane.queue.takeMore(first, batch - 1, canShare)]
  }

  async #send(lane: HeldLane, entries: readonly Entry[], place: Place): Promise<void> {
    const { metrics } = this.#deps
    const wasProbe = isDown(lane.state)
    const number = lane.window.start()
    let result: PostResult | undefined
    let isHeld = false
    metrics.inFlight += 1
    try {
      // The lease was checked before, but a process that is paused at this point wakes up with it over.
      const mayLeave = () => !lane.isLost && this.#deps.leaseClock.now() < lane.leasedUntil
      const { faults } = this.#deps
      const effect = faults?.areCallbacksOn ? await this.#meetFault(faults, lane, entries) : undefined
      isHeld = effect?.hold === true
      if (!isHeld) {
        const built = this.#buildPost(lane, entries)
        const post = built instanceof Promise ? await built : built
        result = effect && pretendResult(effect, this.#deps.clock.now())
        result ??= await attemptPost(this.#deps, post, mayLeave)
        if (effect?.duplicate) await attemptPost(this.#deps, post, mayLeave)
      }
    } finally {
      metrics.inFlight -= 1
      place.leave(describeEnd(result))
      this.#noteWidth(lane, number, result)
      lane.underWay -= 1
      lane.posts += 1
    }
    if (isHeld) this.#deps.events.onHeld(lane, entries)
    else if (result) this.#finish(lane, entries, result, wasProbe)
    // Aborted by a stop, or because the lease is over: the next holder of the lane sends it again.
    else if (!this.#deps.events.isHalted()) this.#deps.events.onAbandoned(lane)
  }

  /** Waits here if a rule delays the post or lets others overtake it. */
  async #meetFault(faults: Faults, lane: HeldLane, entries: readonly Entry[]): Promise<FaultEffect | undefined> {
    const effect = await findPostFault(faults, lane, entries)
    if (!effect) return undefined
    if (effect.reorder !== undefined) for (const entry of entries) this.#deps.events.onOvertaken(lane, entry)
    await waitForFault(effect, () => lane.posts)
    return effect
  }

  #buildPost({ callback_url, secrets }: HeldLane, entries: readonly Entry[]): Post | Promise<Post> {
    const deliveries: PostedDelivery[] = []
    for (const { delivery } of entries) {
      if (!hasValue(delivery)) return this.#buildWithValues({ callback_url, secrets }, entries)
      deliveries.push(delivery)
    }
    return { callback_url, secrets, deliveries }
  }

  async #buildWithValues(to: Pick<HeldLane, 'callback_url' | 'secrets'>, entries: readonly Entry[]): Promise<Post> {
    const { read } = this.#deps.database
    const deliveries = entries.map(async ({ delivery }) => ({
      ...delivery,
      value: delivery.value ?? (await readValue(read, delivery.event_id)),
    }))
    return { ...to, deliveries: await Promise.all(deliveries) }
  }

  #noteWidth(lane: HeldLane, number: number, result: PostResult | undefined): void {
    if (!result || result.status === gone) return
    if (result.problem === undefined) lane.window.grow(lane.underWay)
    else lane.window.cut(number)
  }

  #finish(lane: HeldLane, entries: readonly Entry[], result: PostResult, wasProbe: boolean): void {
    const { clock, rules, random, metrics, events, spans } = this.#deps
    if (spans) this.#exportTries(spans, lane, entries, result)
    const wasDown = isDown(lane.state)
    const now = clock.now()
    const outcomes = entries.map(({ delivery }) => decideOutcome(delivery, result, rules, random))
    for (const [index, outcome] of outcomes.entries()) {
      metrics.countAttempt(outcome.kind)
      this.#log(lane, outcome)
      // One post counts once for the subscriber, however many deliveries it carried.
      if (index === 0) lane.state = noteOutcome(lane.state, outcome, { now, wasProbe, delays: rules.delays })
    }
    events.onOutcomes(lane, outcomes, wasDown && !isDown(lane.state))
    if (lane.isPaused(now)) lane.queue.dropQueued()
  }

  #exportTries(
    spans: Spans,
    { app_id: app, callback_url }: HeldLane,
    entries: readonly Entry[],
    { duration: milliseconds, status, problem }: PostResult,
  ): void {
    const start = this.#deps.leaseClock.now() - milliseconds
    const { host } = new URL(callback_url)
    for (const { delivery } of entries) {
      const { id, trace, attempts } = delivery
      if (trace === null) continue
      spans.noteTry({ trace, start, milliseconds, delivery: id, number: attempts + 1, app, host, status, problem })
    }
  }

  #log({ app_id }: HeldLane, { kind, delivery, result: { status, problem, fault } }: Outcome): void {
    const { log } = this.#deps
    const about = { delivery: delivery.id, app: app_id }
    if (fault !== undefined) log.error({ ...about, err: fault }, 'a delivery could not be sent')
    else if (kind !== 'delivered') log.warn({ ...about, status, problem, next: kind }, 'a delivery failed')
  }
}

const gone = 410

function describeEnd(result: PostResult | undefined): PostEnd {
  if (result?.status !== undefined) return 'responded'
  return result?.isSilent ? 'silent' : 'neither'
}

function isRetry({ delivery }: Entry): boolean {
  return delivery.attempts > delivery.earlier_attempts
}

function hasValue(delivery: WaitingDelivery): delivery is WaitingDelivery & { readonly value: string } {
  return delivery.value !== null
}

/** A value too large to be read ahead goes alone. */
function canShare(entry: Entry): boolean {
  return !isRetry(entry) && entry.delivery.value !== null
}
