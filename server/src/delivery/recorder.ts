import type { Clock } from '../base/clock.ts'
import { Loop } from '../base/loop.ts'
import type { Database } from '../db/database.ts'
import type { HeldLane } from './held-lane.ts'
import type { Postponed } from './lane-queue.ts'
import { type Lease, releaseLanes, renewLanes } from './lanes.ts'
import type { Outcome } from './outcome.ts'
import { type LaneRecord, recordOutcomes } from './record.ts'

/** Outcomes within this time are stored together. A process that dies repeats only the posts of this time. */
const paceMilliseconds = 25
/** A bound, so that one statement does not take long. */
const batchSize = 500
/** With so many outcomes not stored, nothing more is sent: the database is slow or gone. */
const maxUnrecorded = 2000
/** How long an idle lane is held: new deliveries within that time need no claim. */
const lingerMilliseconds = 500

export interface RecorderDeps {
  readonly database: Database
  readonly clock: Clock
  readonly lease: Lease
  /** The held lanes, by id. */
  readonly held: ReadonlyMap<string, HeldLane>
  /** Whether idle lanes may be held. */
  readonly lingers: () => boolean
  /** Called for a lane that was released, or that turned out to belong to another process. */
  readonly onDrop: (lane: HeldLane, nextDue: number | null | undefined) => void
  /** Called for lanes whose work can continue: outcomes are stored, or a lease was confirmed. */
  readonly onRecorded: (lane: HeldLane, isBack: boolean) => void
  readonly onFailure: (error: Error, message: string) => void
}

interface Pending {
  readonly lane: HeldLane
  readonly outcomes: Outcome[]
  readonly postponed: Postponed[]
  isBack: boolean
}

/**
 * Writes the state of the lanes that this process holds: outcomes, leases and releases. One statement at a time, so that statements
 * for the same lanes never wait for each other.
 */
export class Recorder {
  readonly #deps: RecorderDeps
  readonly #loop: Loop
  #pending = new Map<HeldLane, Pending>()
  #unrecorded = 0
  #isRenewalDue = false
  /** Whether somebody waits until nothing is left to write. */
  #isSettling = false
  /** Whether every lane that can be released is released at once. */
  #isClearing = false
  /** After a fault lanes are written one by one, so that a faulty lane does not block the others. */
  #isCareful = false

  constructor(deps: RecorderDeps) {
    this.#deps = deps
    this.#loop = new Loop({
      work: () => this.#write(),
      pause: paceMilliseconds,
      onFailure: (error) => deps.onFailure(error, 'what came of deliveries could not be written down'),
    })
  }

  get isBehind(): boolean {
    return this.#unrecorded >= maxUnrecorded
  }

  get isQuiet(): boolean {
    return this.#unrecorded === 0 && !this.#loop.isRunning
  }

  add(lane: HeldLane, outcomes: readonly Outcome[], postponed: readonly Postponed[], isBack = false): void {
    if (lane.isLost) return
    const pending = this.#pending.get(lane) ?? { lane, outcomes: [], postponed: [], isBack: false }
    pending.outcomes.push(...outcomes)
    pending.postponed.push(...postponed)
    pending.isBack ||= isBack
    this.#pending.set(lane, pending)
    const count = outcomes.length + postponed.length
    lane.unrecorded += count
    this.#unrecorded += count
    this.#loop.wake()
  }

  /** Renews all leases, and finds out which lanes are still ours. */
  renew(): void {
    this.#isRenewalDue = true
    this.#loop.wake()
  }

  /** Retries failed writes, and releases lanes that were idle long enough. */
  tick(): void {
    this.#loop.wake()
  }

  async settle(): Promise<void> {
    this.#isSettling = true
    await this.#loop.settle()
    this.#isSettling = false
  }

  /** Writes everything, and releases every lane with nothing under way. */
  async clear(): Promise<void> {
    this.#isClearing = true
    this.#loop.wakeAtOnce()
    await this.settle()
    this.#isClearing = false
  }

  /** Outcomes that come in meanwhile wait for the next run: a busy process would make one commit after the other. */
  async #write(): Promise<void> {
    let left = this.#pending.size
    while (this.#pending.size > 0 && (left > 0 || this.#isSettling)) left -= await this.#record()
    this.#isCareful = false
    if (this.#isRenewalDue) await this.#renewAll()
    await this.#release()
  }

  /** Returns how many lanes it was about. */
  async #record(): Promise<number> {
    const { database, clock, lease, onRecorded } = this.#deps
    const batch = this.#takeBatch()
    const now = clock.now()
    const leasedFrom = lease.clock.now()
    let ours: ReadonlySet<string>
    try {
      const records = batch.map(
        ({ lane, outcomes, postponed, isBack }): LaneRecord => ({
          lane_id: lane.id,
          state: lane.state,
          outcomes,
          postponed,
          isBack,
        }),
      )
      ours = await recordOutcomes(database, lease, records, { now, leasedFrom })
    } catch (error) {
      this.#takeFailure(batch, error as Error)
      return batch.length
    }
    for (const { lane, outcomes, postponed, isBack } of batch) {
      this.#unrecorded -= outcomes.length + postponed.length
      if (!ours.has(lane.id)) {
        this.#lose(lane)
        continue
      }
      lane.leasedUntil = leasedFrom + lease.milliseconds
      lane.noteRecorded([...outcomes.map(({ delivery }) => delivery.id), ...postponed.map(({ id }) => id)])
      onRecorded(lane, isBack)
    }
    return batch.length
  }

  /** While the store is gone everything waits; a lane that is itself at fault is dropped, and its lease expires. */
  #takeFailure(batch: readonly Pending[], error: Error): void {
    const { database, onFailure } = this.#deps
    const [only] = batch
    if (database.outageOf(error) || !this.#isCareful || !only) {
      this.#isCareful = !database.outageOf(error)
      this.#putBack(batch)
      throw error
    }
    onFailure(error, 'a lane of deliveries broke')
    this.#unrecorded -= only.outcomes.length + only.postponed.length
    this.#lose(only.lane)
  }

  #takeBatch(): Pending[] {
    const batch: Pending[] = []
    let size = 0
    for (const [lane, pending] of this.#pending) {
      if (size >= batchSize || (this.#isCareful && batch.length === 1)) break
      this.#pending.delete(lane)
      batch.push(pending)
      size += pending.outcomes.length + pending.postponed.length
    }
    return batch
  }

  /** Before the outcomes that came meanwhile. */
  #putBack(batch: readonly Pending[]): void {
    const later = this.#pending
    this.#pending = new Map(batch.map((pending) => [pending.lane, pending]))
    for (const [lane, { outcomes, postponed, isBack }] of later) {
      const earlier = this.#pending.get(lane)
      if (!earlier) this.#pending.set(lane, { lane, outcomes, postponed, isBack })
      else {
        earlier.outcomes.push(...outcomes)
        earlier.postponed.push(...postponed)
        earlier.isBack ||= isBack
      }
    }
  }

  async #renewAll(): Promise<void> {
    const { database, lease, held, onRecorded } = this.#deps
    this.#isRenewalDue = false
    if (held.size === 0) return
    const leasedFrom = lease.clock.now()
    const lanes = [...held.values()]
    const ours = await renewLanes(database, held.keys(), lease)
    for (const lane of lanes) {
      if (!ours.has(lane.id)) this.#lose(lane)
      else {
        lane.leasedUntil = leasedFrom + lease.milliseconds
        onRecorded(lane, false)
      }
    }
  }

  async #release(): Promise<void> {
    const { database, clock, lease, held, lingers, onDrop, onRecorded } = this.#deps
    const now = clock.now()
    const idleBefore =
      this.#isClearing || !lingers() ? Number.POSITIVE_INFINITY : performance.now() - lingerMilliseconds
    const done = [...held.values()].filter((lane) => {
      if (!lane.isDone(now)) return false
      lane.idleSince ??= performance.now()
      return lane.isPaused(now) || lane.idleSince <= idleBefore
    })
    if (done.length === 0) return
    const ids = done.map(({ id }) => id)
    // Nothing may be sent for these lanes during their release.
    for (const lane of done) lane.isLeaving = true
    let released: Map<string, number | null>
    try {
      const rows = await database.transaction((tx) => releaseLanes(tx, ids, lease))
      released = new Map(rows.map(({ id, next_due }) => [id, next_due]))
    } finally {
      for (const lane of done) lane.isLeaving = false
    }
    for (const lane of done) {
      if (released.has(lane.id)) onDrop(lane, released.get(lane.id))
      else {
        // An event is being raised for it right now, or it is no longer ours.
        this.#isRenewalDue = true
        lane.wantsRead = true
        lane.wantsAll = true
        onRecorded(lane, false)
      }
    }
  }

  /** Drops a lane without a word to the store, which does not know it any more. */
  drop(lane: HeldLane): void {
    this.#lose(lane)
  }

  #lose(lane: HeldLane): void {
    if (lane.isLost) return
    lane.isLost = true
    this.#forget(lane)
    this.#deps.onDrop(lane, undefined)
  }

  /** The other process's state of a lane counts, not ours. */
  #forget(lane: HeldLane): void {
    const pending = this.#pending.get(lane)
    if (!pending) return
    this.#pending.delete(lane)
    this.#unrecorded -= pending.outcomes.length + pending.postponed.length
  }
}
