import type { Random } from '../../base/keys/random.ts'
import type { Log } from '../../base/log/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type ClockTrust, fullTrust } from '../../base/time/clock-trust.ts'
import type { Database } from '../../db/database.ts'
import { type FaultEffect, heldUntil } from '../../sandbox/fault-rules.ts'
import type { Faults } from '../../sandbox/faults.ts'
import type { Spans } from '../../telemetry/spans.ts'
import { type AttemptDeps, attemptPost } from '../post/attempt.ts'
import type { Post, PostedDelivery } from '../post/compose-post.ts'
import type { Outcome, PostResult } from '../rules/outcome.ts'
import type { RetryRules } from '../rules/schedule.ts'
import type { WaitingDelivery } from '../rules/waiting-delivery.ts'
import { readValue } from '../store/due-deliveries.ts'
import { findPostFault, pretendResult, waitForFault } from './attempt-fault.ts'
import type { ConcurrencyLimits, PostEnd, Reservation } from './concurrency-limits.ts'
import type { DeliveryMetrics } from './delivery-metrics.ts'
import type { BegunPost, HeldLane } from './held-lane.ts'
import type { Emit } from './lane-events.ts'
import type { Entry } from './lane-queue.ts'

export interface SenderDeps extends AttemptDeps {
  readonly database: Database
  readonly clock: Clock
  /** The clock of leases, which no sandbox moves. */
  readonly leaseClock: Clock
  /** Whether that clock can be relied on; by default it can. */
  readonly trust?: Pick<ClockTrust, 'mayWork'>
  readonly random: Random
  readonly log: Log
  readonly rules: RetryRules
  readonly metrics: DeliveryMetrics
  readonly concurrency: ConcurrencyLimits
  /** How many changes of one account may share a post. */
  readonly batch: number
  /** Undefined where there is no sandbox. */
  readonly faults?: Faults | undefined
  /** Undefined where traces are not exported. */
  readonly spans?: Spans | undefined
  /** Whether nothing may be sent: the service stops, or outcomes are not being stored. */
  readonly isHalted: () => boolean
  readonly emit: Emit
}

/** Posts the queued deliveries of held lanes, as many at once as the limits of the lane, its app, its host and the process allow. */
export class Sender {
  readonly #deps: SenderDeps
  readonly #posts = new Set<Promise<void>>()
  /** Lanes that wait for another post to end, in turn. */
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
  }

  /**
   * Gives every waiting lane a turn, of one post each; a lane that still waits goes to the end. Returns the lanes that do
   * not wait any more without having sent anything.
   */
  serveWaiting(): HeldLane[] {
    const idle: HeldLane[] = []
    for (const lane of [...this.#waiting]) {
      const maySend = this.#maySend(lane)
      if (maySend && !this.#sendOne(lane)) continue
      this.#waiting.delete(lane)
      if (!maySend) idle.push(lane)
      else if (this.#maySend(lane)) this.#waiting.add(lane)
    }
    return idle
  }

  #maySend(lane: HeldLane): boolean {
    const { clock, leaseClock, isHalted } = this.#deps
    return !isHalted() && !lane.isLeaseOver(leaseClock.now()) && lane.canSend(clock.now())
  }

  /** False when a limit is reached. */
  #sendOne(lane: HeldLane): boolean {
    const reservation = this.#deps.concurrency.beginPost(lane, lane.isFailing)
    if (!reservation) return false
    const sent = this.#send(lane, lane.beginPost(this.#deps.batch), reservation)
      .catch((error: Error) => this.#break(lane, error))
      .finally(() => {
        this.#posts.delete(sent)
        this.#deps.emit({ kind: 'turn_over', lane })
      })
    this.#posts.add(sent)
    return true
  }

  async #send(lane: HeldLane, post: BegunPost, reservation: Reservation): Promise<void> {
    const { metrics } = this.#deps
    metrics.inFlight += 1
    const end = await this.#attempt(lane, post).catch((error: Error) => error)
    metrics.inFlight -= 1
    reservation.release(describeEnd(end))
    if (end === 'held') lane.holdPost(post, heldUntil)
    else if (end !== undefined && !(end instanceof Error)) this.#judge(lane, post, end)
    else {
      // Aborted by a stop, or because the lease is over or may be: whoever holds the lane next sends it again, this process or another.
      lane.abortPost(post)
      if (end) this.#break(lane, end)
    }
  }

  /** A fault of our own: the lane is dropped, and claimed again when its lease is over. */
  #break(lane: HeldLane, error: Error): void {
    const { emit } = this.#deps
    emit({ kind: 'failed', error, message: 'a lane of deliveries broke', lane })
    emit({ kind: 'taken_over', lane })
  }

  /** Undefined when it may not leave any more; `held` when a fault rule does not let it leave. */
  async #attempt(lane: HeldLane, post: BegunPost): Promise<PostResult | 'held' | undefined> {
    const { faults, leaseClock, clock, trust = fullTrust } = this.#deps
    // The lease was checked before, but a process that is paused at this point wakes up with it over, and one whose machine was
    // suspended does not know whether it is.
    const mayLeave = () => lane.isHeld && !lane.isLeaseOver(leaseClock.now()) && trust.mayWork()
    const effect = faults?.areCallbacksOn ? await this.#applyInjectedFault(faults, lane, post) : undefined
    if (effect?.hold) return 'held'
    const built = this.#buildPost(lane, post.entries)
    const composed = built instanceof Promise ? await built : built
    const pretended = effect && pretendResult(effect, clock.now())
    const result = pretended ?? (await attemptPost(this.#deps, composed, mayLeave))
    if (effect?.duplicate) await attemptPost(this.#deps, composed, mayLeave)
    return result
  }

  /** Waits here if a rule delays the post or lets others overtake it. */
  async #applyInjectedFault(faults: Faults, lane: HeldLane, post: BegunPost): Promise<FaultEffect | undefined> {
    const effect = await findPostFault(faults, lane, post.entries)
    if (!effect) return undefined
    if (effect.reorder !== undefined) {
      lane.overtake(post)
      this.#deps.emit({ kind: 'overtaken', lane })
    }
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

  #judge(lane: HeldLane, post: BegunPost, result: PostResult): void {
    const { clock, rules, random, metrics, emit, spans } = this.#deps
    const { isDown: wasDown, isFailing: wasFailing } = lane
    const outcomes = lane.endPost(post, result, { now: clock.now(), rules, random })
    if (lane.isDown !== wasDown) this.#logTurn(lane, result)
    if (spans) this.#exportTries(spans, lane, post.entries, result)
    metrics.observePost(result)
    for (const outcome of outcomes) {
      metrics.countAttempt(outcome.kind)
      if (outcome.kind === 'delivered')
        metrics.observeLatency(result.time + result.duration - outcome.delivery.started_time)
      this.#log(lane, outcome, wasFailing)
    }
    emit({ kind: 'posted', lane, outcomes })
  }

  #exportTries(
    spans: Spans,
    { app_id: app, callback_url: url }: HeldLane,
    entries: readonly Entry[],
    { duration: milliseconds, status, problem, isSilent }: PostResult,
  ): void {
    const { clock, toRealTime } = this.#deps
    const start = toRealTime(clock.now()) - milliseconds
    const about = { start, milliseconds, app, url, status, problem, isSilent }
    for (const { delivery } of entries) {
      const { id, trace, span, attempts } = delivery
      if (trace === null) continue
      spans.noteTry({ ...about, trace, span, delivery: id, number: attempts + 1 })
    }
  }

  #log(
    { app_id }: HeldLane,
    { kind, delivery, result: { status, problem, fault } }: Outcome,
    wasFailing: boolean,
  ): void {
    const { log } = this.#deps
    const about = { delivery: delivery.id, app: app_id }
    if (fault !== undefined) log.error({ ...about, err: fault }, 'a delivery could not be sent')
    else if (kind !== 'delivered') {
      // A subscriber that fails for a week would fill the log with its retries: what counts is that they begin.
      const level = kind === 'retry' && wasFailing ? 'debug' : 'warn'
      log[level]({ ...about, status, problem, next: kind }, 'a delivery failed')
    }
  }

  #logTurn({ app_id: app, callback_url, isDown }: HeldLane, { status, problem }: PostResult): void {
    const { log } = this.#deps
    // Its path may hold a secret.
    const { host } = new URL(callback_url)
    if (isDown) log.warn({ app, host, status, problem }, 'a subscriber is down, and is tried with one post at a time')
    else log.info({ app, host }, 'a subscriber is back')
  }
}

function describeEnd(end: PostResult | 'held' | Error | undefined): PostEnd {
  if (end === undefined || end === 'held' || end instanceof Error) return 'neither'
  if (end.status !== undefined) return 'responded'
  return end.isSilent ? 'silent' : 'neither'
}

function hasValue(delivery: WaitingDelivery): delivery is WaitingDelivery & { readonly value: string } {
  return delivery.value !== null
}
