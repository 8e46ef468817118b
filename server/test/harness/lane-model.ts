import assert from 'node:assert/strict'
import type { Random } from '../../src/base/keys/random.ts'
import type { RaisedDeliveries } from '../../src/db/database.ts'
import type { PostResult } from '../../src/delivery/rules/outcome.ts'
import type { WaitingDelivery } from '../../src/delivery/rules/waiting-delivery.ts'
import type { StoredSecrets } from '../../src/delivery/store/signing-secrets.ts'
import { type BegunPost, HeldLane, type PlannedRead } from '../../src/delivery/worker/held-lane.ts'
import type { LaneChange } from '../../src/delivery/worker/lane-changes.ts'
import type { LanePhase } from '../../src/delivery/worker/lane-states.ts'

/** What can happen to a lane and around it; each does nothing where it cannot happen. */
export const modelActions = [
  'raise',
  'raise_here',
  'hand_over',
  'claim',
  'begin_read',
  'end_read',
  'end_stale_read',
  'fail_read',
  'send',
  'succeed',
  'fail',
  'refuse',
  'hold',
  'stop_holding',
  'abort',
  'abandon',
  'begin_store',
  'end_store',
  'fail_store',
  'lock_lane',
  'lock_delivery',
  'unlock',
  'begin_release',
  'end_release',
  'fail_release',
  'lose_to_another',
  'reset',
  'wait',
  'wait_long',
] as const
export type ModelAction = (typeof modelActions)[number]

export interface LaneModelOptions {
  readonly isEmbedded: boolean
  /** How many deliveries may share a post. */
  readonly batch: number
}

interface StoredDelivery {
  readonly id: number
  readonly conversation: string
  readonly started_time: number
  state: 'waiting' | 'delivered' | 'failed'
  attempts: number
  due_time: number
}

const conversations = ['a', 'b', 'c', 'd']
const address = { id: 'a lane', app_id: '1', callback_url: 'https://example.com/' }
const claim = { ...address, origin: 'https://example.com', isFailing: false }
const secret = 'sealed' as unknown as StoredSecrets['secret']
const storedSecrets: StoredSecrets = { id: '1', secret, previous_secret: null, previous_secret_until: null }
const rules = { delays: [1000, 5000], giveUpAfter: 60_000 }
/** Draws the smallest number: the model has no chance but its choices. */
const random = { integer: (from: number) => from } as unknown as Random
/** Longer than any retry or pause of these rules. */
const longTime = 3_600_000
const heldForLong = Number.MAX_SAFE_INTEGER
/** More steps than any sequence needs until everything is delivered. */
const maxDrainSteps = 2000

const result = (status: number): PostResult => ({
  time: 0,
  duration: 0,
  status,
  problem: status === 200 ? undefined : `it answered ${status}`,
  isSilent: false,
  response: '',
  sent: undefined,
  retryAfter: undefined,
  fault: undefined,
})

/**
 * A held lane with a store, a subscriber and other processes around it. Every step may come at any time, and what was asked of the store
 * is answered later, so that everything is interleaved with everything.
 */
export class LaneModel {
  readonly #options: LaneModelOptions
  readonly #deliveries: StoredDelivery[] = []
  readonly #locked = new Set<number>()
  readonly #posts: BegunPost[] = []
  /** What came of deliveries in the eyes of the holder, stored or not. */
  readonly #finishedHere = new Set<number>()
  #lane: HeldLane | undefined
  #isOurs = false
  #isLaneLocked = false
  #failures = 0
  #lastId = 0
  #now = 1_000_000
  #read: { readonly plan: PlannedRead; readonly found: readonly WaitingDelivery[] } | undefined
  #storing: { readonly change: LaneChange; readonly isOurs: boolean; readonly isLocked: boolean } | undefined
  /** The deliveries of `#storing` that were locked. */
  #left: ReadonlySet<number> = new Set()
  #releasing: 'released' | 'kept' | undefined
  readonly #raised: RaisedDeliveries[] = []

  constructor(options: LaneModelOptions) {
    this.#options = options
  }

  get phase(): LanePhase | undefined {
    return this.#lane?.phase ?? 'ended'
  }

  unfinished(): number[] {
    return this.#deliveries.filter(({ state }) => state === 'waiting').map(({ id }) => id)
  }

  act(action: ModelAction, choice: number): void {
    this.#actions[action](choice)
    this.#forgetEnded()
  }

  /** The subscriber takes everything, nobody locks or takes anything, and time goes on: how it all ends. */
  drain(): void {
    const order: ModelAction[] = [
      'unlock',
      'stop_holding',
      'end_read',
      'end_store',
      'end_release',
      'claim',
      'begin_read',
      'end_read',
      'send',
      'send',
      'succeed',
      'succeed',
      'begin_store',
      'end_store',
      'begin_release',
      'end_release',
    ]
    for (let step = 0; step < maxDrainSteps; step++) {
      for (const action of order) this.act(action, 0)
      if (this.unfinished().length === 0 && !this.#lane) return
      if (step % 3 === 2) this.act('wait', 0)
    }
    assert.fail(`after ${maxDrainSteps} steps ${this.unfinished()} wait, and the lane is ${this.phase}`)
  }

  readonly #actions: Readonly<Record<ModelAction, (choice: number) => void>> = {
    raise: (choice) => this.#raise(choice),
    raise_here: (choice) => this.#raiseHere(choice),
    hand_over: () => this.#handOver(),
    claim: () => this.#claim(),
    begin_read: () => this.#beginRead(),
    end_read: () => this.#endRead(performance.now()),
    end_stale_read: () => this.#endRead(performance.now() - 10_000),
    fail_read: (choice) => this.#failRead(choice),
    send: () => this.#send(),
    succeed: (choice) => this.#endPost(choice, 200),
    fail: (choice) => this.#endPost(choice, 500),
    refuse: (choice) => this.#endPost(choice, 410),
    hold: (choice) => this.#takePost(choice, (lane, post) => lane.holdPost(post, heldForLong)),
    stop_holding: () => this.#stopHolding(),
    abort: (choice) => this.#takePost(choice, (lane, post) => lane.abortPost(post)),
    abandon: (choice) => this.#takePost(choice, (lane, post) => this.#abandon(lane, post)),
    begin_store: () => this.#beginStore(),
    end_store: () => this.#endStore(),
    fail_store: () => this.#failStore(),
    lock_lane: () => this.#lockLane(),
    lock_delivery: (choice) => this.#lockDelivery(choice),
    unlock: () => this.#unlock(),
    begin_release: () => this.#beginRelease(),
    end_release: () => this.#endRelease(this.#releasing ?? 'kept'),
    fail_release: () => this.#endRelease('kept'),
    lose_to_another: (choice) => this.#loseToAnother(choice),
    reset: () => this.#reset(),
    wait: () => this.#wait(700),
    wait_long: () => this.#wait(longTime),
  }

  #raise(choice: number): StoredDelivery {
    this.#lastId += 1
    const delivery: StoredDelivery = {
      id: this.#lastId,
      conversation: conversations[choice % conversations.length] as string,
      // Some are as old as they may get: their first failure is their last.
      started_time: choice > 8 ? this.#now - rules.giveUpAfter : this.#now,
      state: 'waiting',
      attempts: 0,
      due_time: this.#now,
    }
    this.#deliveries.push(delivery)
    if (choice % 2 === 0) this.#lane?.noteMore()
    // The release sees it, or leaves the lane alone.
    if (this.#releasing) this.#releasing = 'kept'
    return delivery
  }

  /** By the process that holds the lane, which hears of its own commit a moment later. */
  #raiseHere(choice: number): void {
    const since = performance.now()
    const { id, conversation } = this.#raise(choice)
    const { previous_id, created_time } = this.#describe(this.#find(id))
    const event = { id, event_id: id, account_id: '1', field: 'messages', trace: null, span: null }
    const raised = { ...event, conversation, created_time, previous_id, value: '{}' }
    this.#raised.push({ deliveries: [raised], since, secret })
  }

  /** The holder may take it without reading it. */
  #handOver(): void {
    const raised = this.#raised.shift()
    if (raised && !this.#lane?.takeRaised(raised, this.#now)) this.#lane?.noteMore()
  }

  #claim(): void {
    if (this.#lane || this.#isLaneLocked || this.unfinished().length === 0) return
    this.#isOurs = true
    this.#finishedHere.clear()
    const lane = { ...address, failures: this.#failures }
    this.#lane = new HeldLane(lane, { claim, leasedUntil: longTime, concurrency: 4 })
  }

  #beginRead(): void {
    const lane = this.#lane
    if (!lane || this.#read) return
    if (lane.needsRead) lane.want('more')
    if (lane.hasRetryDue(this.#now)) lane.want('all')
    // A lane whose secrets could not be read is read again at the next poll.
    if (!lane.hasNews || !lane.canRead(this.#now)) return
    const plan = lane.beginRead(this.#options.isEmbedded)
    this.#read = { plan, found: this.#listDue(plan) }
  }

  #listDue({ behind, limit, known }: PlannedRead): WaitingDelivery[] {
    const isBehind = ({ due_time, id }: StoredDelivery) =>
      !behind || due_time > behind.due_time || (due_time === behind.due_time && id > behind.id)
    return this.#deliveries
      .filter((one) => one.state === 'waiting' && one.due_time <= this.#now && isBehind(one) && !known.includes(one.id))
      .toSorted((a, b) => a.due_time - b.due_time || a.id - b.id)
      .slice(0, limit)
      .map((one) => this.#describe(one))
  }

  #endRead(readTime: number): void {
    const read = this.#read
    if (!read) return
    this.#read = undefined
    const { lane } = read.plan
    lane.sign([{} as never], storedSecrets)
    for (const [conversation, behind] of lane.queueFound(read.found, this.#now, readTime)) {
      const first = this.#deliveries.filter((one) => one.state === 'waiting' && one.conversation === conversation)
      const described = first.slice(0, 3).map((one) => this.#describe(one))
      lane.queueFirst(conversation, described, behind, this.#now, readTime)
    }
    lane.endRead(read.plan, read.found)
  }

  #failRead(choice: number): void {
    this.#read?.plan.lane.failRead(choice % 2 === 0 ? 'unreadable' : 'unsignable')
    this.#read = undefined
    // As at each poll.
    this.#lane?.want('all')
  }

  #send(): void {
    const lane = this.#lane
    if (!lane?.canSend(this.#now)) return
    const post = lane.beginPost(this.#options.batch)
    assert.ok(post.entries.length > 0, 'a post carries something')
    const before: number[] = []
    for (const { delivery } of post.entries) {
      this.#checkTurn(delivery, before)
      before.push(delivery.id)
    }
    this.#posts.push(post)
  }

  /** Nothing is sent before what precedes it in its conversation is done with, twice at once, or after it was done with. */
  #checkTurn({ id, conversation }: WaitingDelivery, inSamePost: readonly number[]): void {
    const underWay = this.#posts.flatMap(({ entries }) => entries.map(({ delivery }) => delivery.id))
    assert.ok(!underWay.includes(id), `${id} is sent twice at once`)
    assert.ok(!this.#finishedHere.has(id), `${id} is sent although it is done with`)
    for (const one of this.#deliveries) {
      if (one.conversation !== conversation || one.id >= id || one.state !== 'waiting') continue
      const isDone = this.#finishedHere.has(one.id) || inSamePost.includes(one.id)
      assert.ok(isDone, `${id} is sent before ${one.id}`)
    }
  }

  #takePost(choice: number, end: (lane: HeldLane, post: BegunPost) => void): void {
    if (!this.#lane || this.#posts.length === 0) return
    const [post] = this.#posts.splice(choice % this.#posts.length, 1)
    end(this.#lane, post as BegunPost)
  }

  #endPost(choice: number, status: number): void {
    this.#takePost(choice, (lane, post) => {
      const outcomes = lane.endPost(post, { ...result(status), time: this.#now }, { now: this.#now, rules, random })
      for (const { kind, delivery } of outcomes) if (kind !== 'retry') this.#finishedHere.add(delivery.id)
    })
  }

  #abandon(lane: HeldLane, post: BegunPost): void {
    lane.abortPost(post)
    lane.lose()
  }

  #stopHolding(): void {
    const held = this.#deliveries.filter(({ due_time }) => due_time === heldForLong)
    if (held.length === 0) return
    for (const one of held) one.due_time = this.#now
    this.#lane?.unblock()
    this.#lane?.want('all')
  }

  #beginStore(): void {
    const lane = this.#lane
    if (!lane?.hasChanges || this.#storing || lane.phase === 'leaving') return
    const change = lane.takeChanges()
    const isLocked = this.#isLaneLocked
    const isOurs = this.#isOurs
    this.#storing = { change, isOurs, isLocked }
    const ids = [...change.outcomes.map(({ delivery }) => delivery.id), ...change.postponed.map(({ id }) => id)]
    this.#left = new Set(ids.filter((id) => this.#locked.has(id)))
    if (isOurs && !isLocked) this.#store(lane, change)
  }

  #store(lane: HeldLane, { outcomes, postponed }: LaneChange): void {
    this.#failures = lane.subscriber.failures
    const tried = new Set(outcomes.map(({ delivery }) => delivery.id))
    for (const { id, attempts, until } of postponed) {
      const one = this.#find(id)
      if (tried.has(id) || this.#locked.has(id) || one.state !== 'waiting' || one.attempts !== attempts) continue
      one.due_time = until
    }
    for (const outcome of outcomes) {
      const one = this.#find(outcome.delivery.id)
      if (this.#locked.has(one.id) || one.state !== 'waiting' || one.attempts !== outcome.delivery.attempts) continue
      one.attempts += 1
      if (outcome.kind === 'retry') one.due_time = outcome.time
      else one.state = outcome.kind
    }
  }

  #endStore(): void {
    const storing = this.#storing
    const lane = this.#lane
    if (!storing || !lane) return
    this.#storing = undefined
    if (!storing.isOurs) lane.lose()
    else if (storing.isLocked) lane.noteLocked()
    else {
      lane.noteStored(longTime, this.#left)
      if (storing.change.isBack) this.#comeBack(lane)
    }
  }

  /** What waits for a retry is due as soon as the subscriber is back. */
  #comeBack(lane: HeldLane): void {
    for (const one of this.#deliveries)
      if (one.due_time !== heldForLong) one.due_time = Math.min(one.due_time, this.#now)
    lane.unblock()
    lane.want('all')
  }

  /** The statement failed as a whole: nothing was stored. */
  #failStore(): void {
    const lane = this.#lane
    if (!lane?.hasChanges || this.#storing || lane.phase === 'leaving') return
    lane.takeChanges()
    lane.keepChanges()
  }

  #lockLane(): void {
    if (!this.#options.isEmbedded) this.#isLaneLocked = true
  }

  #lockDelivery(choice: number): void {
    const waiting = this.unfinished()
    if (this.#options.isEmbedded || waiting.length === 0) return
    this.#locked.add(waiting[choice % waiting.length] as number)
  }

  #unlock(): void {
    this.#isLaneLocked = false
    this.#locked.clear()
  }

  #beginRelease(): void {
    const lane = this.#lane
    if (!lane || this.#storing || this.#read || lane.idleSince(this.#now) === undefined) return
    lane.leave()
    this.#releasing = this.#isOurs && !this.#isLaneLocked ? 'released' : 'kept'
  }

  #endRelease(answer: 'released' | 'kept'): void {
    if (!this.#releasing || !this.#lane) return
    this.#releasing = undefined
    if (answer === 'released' && this.#lane.isHeld) this.#lane.noteReleased()
    else this.#lane.stay()
    if (!this.#isOurs) this.#lane.lose()
  }

  /** Another process takes the lane over, sends the first that wait, and releases it. This one finds out when it stores something. */
  #loseToAnother(choice: number): void {
    if (this.#isLaneLocked || this.#storing) return
    this.#isOurs = false
    const taken = new Set<string>()
    for (const one of this.#deliveries) {
      if (one.state !== 'waiting' || this.#locked.has(one.id)) continue
      if (taken.has(one.conversation) || one.conversation !== conversations[choice % conversations.length]) continue
      one.state = 'delivered'
      taken.add(one.conversation)
    }
    // By its heartbeat at the latest; nothing more is sent meanwhile, because the lease is over by the clock.
    this.#lane?.lose()
  }

  #reset(): void {
    this.#deliveries.length = 0
    this.#raised.length = 0
    this.#locked.clear()
    this.#lane?.lose()
    this.#isOurs = false
  }

  #wait(milliseconds: number): void {
    this.#now += milliseconds
  }

  /** A lane that has ended may be claimed again; what was asked for it before is answered to nobody. */
  #forgetEnded(): void {
    if (this.#lane?.phase !== 'ended') return
    assert.equal(this.#posts.length, 0, 'a lane ended with posts under way')
    this.#lane = undefined
    this.#read = undefined
    this.#storing = undefined
    this.#releasing = undefined
  }

  #find(id: number): StoredDelivery {
    return (
      this.#deliveries.find((one) => one.id === id) ?? {
        id,
        conversation: '',
        started_time: 0,
        state: 'failed',
        attempts: 0,
        due_time: 0,
      }
    )
  }

  #describe({ id, conversation, attempts, due_time, started_time }: StoredDelivery): WaitingDelivery {
    const before = this.#deliveries.findLast(
      (one) => one.conversation === conversation && one.id < id && one.state === 'waiting',
    )
    return {
      id,
      lane_id: address.id,
      event_id: id,
      account_id: '1',
      field: 'messages',
      conversation,
      attempts,
      earlier_attempts: 0,
      due_time,
      started_time,
      created_time: started_time,
      previous_id: before?.id ?? null,
      has_access: 1,
      value: '{}',
      trace: null,
      span: null,
    }
  }
}
