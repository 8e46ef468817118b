import type { Clock } from '../../base/time/clock.ts'
import { Loop } from '../../base/work/loop.ts'
import type { Database } from '../../db/database.ts'
import { type Lease, releaseLanes, renewLanes } from '../store/lanes.ts'
import { recordOutcomes, type Stored } from '../store/record-outcomes.ts'
import type { HeldLane } from './held-lane.ts'
import type { LaneChange } from './lane-changes.ts'
import type { Emit } from './lane-events.ts'

/** Outcomes within this time are stored together. A process that dies repeats only the posts of this time. */
const minIntervalMilliseconds = 25
/** A bound, so that one statement does not take long. */
const batchSize = 500
/** With so many outcomes not stored, nothing more is sent: the database is slow or gone. */
const maxUnrecorded = 2000
/** A lane whose rows are locked is tried again after these milliseconds: most locks are those of short transactions. */
const stuckRetries = [25, 50, 100, 200, 400]
/** How long an idle lane is held: new deliveries within that time need no claim. */
const idleHoldMilliseconds = 500

export interface RecorderDeps {
  readonly database: Database
  readonly clock: Clock
  readonly lease: Lease
  /** The lanes that this process holds. */
  readonly held: () => HeldLane[]
  /** Whether idle lanes may be held. */
  readonly holdsIdle: () => boolean
  /** Whether work may be begun, which the clock may forbid; by default it may. */
  readonly mayWork?: () => boolean
  readonly emit: Emit
}

interface Storing {
  readonly lane: HeldLane
  readonly change: LaneChange
}

/**
 * Writes the state of the lanes that this process holds: outcomes, leases and releases. One statement at a time, so that statements
 * for the same lanes never wait for each other; and none waits for a lock, so that one lane never delays the others.
 */
export class Recorder {
  readonly #deps: RecorderDeps
  readonly #loop: Loop
  /** Lanes with something to store. */
  readonly #changed = new Set<HeldLane>()
  /** Lanes whose rows are locked, with how often they were found so: tried again soon, and later at each tick. */
  readonly #stuck = new Map<HeldLane, number>()
  /** How much of each lane counts in `#unrecorded`. */
  readonly #counted = new Map<HeldLane, number>()
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
    const message = 'what came of deliveries could not be written down'
    this.#loop = new Loop({
      work: () => this.#write(),
      pause: minIntervalMilliseconds,
      onFailure: (error) => deps.emit({ kind: 'failed', error, message }),
    })
  }

  get isBehind(): boolean {
    return this.#unrecorded >= maxUnrecorded
  }

  get isQuiet(): boolean {
    return this.#changed.size === 0 && !this.#loop.isRunning
  }

  /** Stores what a lane has to store. */
  note(lane: HeldLane): void {
    this.#count(lane)
    if (!lane.hasChanges || lane.phase === 'stuck') return
    this.#changed.add(lane)
    this.#loop.wake()
  }

  /** The lane is not ours any more: the other process's state of it counts. */
  forget(lane: HeldLane): void {
    this.#changed.delete(lane)
    this.#stuck.delete(lane)
    this.#count(lane)
  }

  /** Renews all leases, and finds out which lanes are still ours. */
  renew(): void {
    this.#isRenewalDue = true
    this.#loop.wake()
  }

  /** Retries what failed or was locked, and releases lanes that were idle long enough. */
  tick(): void {
    for (const lane of this.#stuck.keys()) this.#changed.add(lane)
    this.#loop.wake()
  }

  /** Releases lanes that have become idle, if idle lanes are not held. */
  wake(): void {
    this.#loop.wake()
  }

  async settle(): Promise<void> {
    this.#isSettling = true
    if (this.#changed.size > 0) this.#loop.wake()
    await this.#loop.settle()
    this.#isSettling = false
  }

  /** Writes everything, and releases every lane with nothing under way. */
  async clear(): Promise<void> {
    this.#isClearing = true
    this.tick()
    this.#loop.wakeAtOnce()
    await this.settle()
    this.#isClearing = false
  }

  /** Outcomes that come in meanwhile wait for the next run: a busy process would make one commit after the other. */
  async #write(): Promise<void> {
    let left = this.#changed.size
    while (this.#changed.size > 0 && (left > 0 || this.#isSettling)) left -= await this.#record()
    this.#isCareful = false
    if (this.#isRenewalDue) await this.#renewAll()
    await this.#release()
  }

  /** Returns how many lanes it was about. */
  async #record(): Promise<number> {
    const { database, clock, lease } = this.#deps
    const batch = this.#takeBatch()
    if (batch.length === 0) return 0
    const leasedFrom = lease.clock.now()
    const records = batch.map(({ lane, change }) => ({ ...change, lane_id: lane.id, state: lane.subscriber }))
    let stored: Stored
    try {
      stored = await recordOutcomes(database, lease, records, { now: clock.now(), leasedFrom })
    } catch (error) {
      this.#takeFailure(batch, error as Error)
      return batch.length
    }
    for (const storing of batch) this.#takeStored(storing, stored, leasedFrom + lease.milliseconds)
    return batch.length
  }

  #takeStored({ lane, change }: Storing, stored: Stored, leasedUntil: number): void {
    const { emit } = this.#deps
    if (stored.lockedLanes.has(lane.id)) lane.noteLocked()
    else if (stored.lanes.has(lane.id)) lane.noteStored(leasedUntil, stored.lockedDeliveries)
    else {
      emit({ kind: 'taken_over', lane })
      return
    }
    if (lane.phase === 'stuck') this.#retryStuck(lane)
    else this.#stuck.delete(lane)
    this.note(lane)
    emit({ kind: 'confirmed', lane, isBack: change.isBack })
  }

  #retryStuck(lane: HeldLane): void {
    const tries = this.#stuck.get(lane) ?? 0
    this.#stuck.set(lane, tries + 1)
    const delay = stuckRetries[tries]
    if (delay === undefined) return
    const retry = () => {
      // It may have been stored or lost meanwhile.
      if (!this.#stuck.has(lane)) return
      this.#changed.add(lane)
      this.#loop.wake()
    }
    setTimeout(retry, delay).unref()
  }

  /** While the store is gone everything waits; a lane that is itself at fault is dropped, and its lease expires. */
  #takeFailure(batch: readonly Storing[], error: Error): void {
    const { database, emit } = this.#deps
    const isOutage = database.outageOf(error) !== undefined
    const [only] = batch
    if (!isOutage && this.#isCareful && only) {
      emit({ kind: 'failed', error, message: 'a lane of deliveries broke', lane: only.lane })
      emit({ kind: 'taken_over', lane: only.lane })
      return
    }
    this.#isCareful = !isOutage
    for (const { lane } of batch) {
      lane.keepChanges()
      this.note(lane)
    }
    throw error
  }

  #takeBatch(): Storing[] {
    const batch: Storing[] = []
    let size = 0
    for (const lane of this.#changed) {
      if (size >= batchSize || (this.#isCareful && batch.length === 1)) break
      this.#changed.delete(lane)
      // One that was stuck may have been stored since it was added.
      if (!lane.hasChanges) continue
      const change = lane.takeChanges()
      batch.push({ lane, change })
      size += change.outcomes.length + change.postponed.length
    }
    return batch
  }

  async #renewAll(): Promise<void> {
    const { database, lease, held, mayWork = () => true, emit } = this.#deps
    this.#isRenewalDue = false
    // A process that sends nothing leaves its lanes to others, but for those with posts that may yet get a response.
    const lanes = mayWork() ? held() : held().filter(({ isPosting }) => isPosting)
    if (lanes.length === 0) return
    const leasedUntil = lease.clock.now() + lease.milliseconds
    const ids = lanes.map(({ id }) => id)
    const { renewed, locked } = await renewLanes(database, ids, lease)
    for (const lane of lanes) {
      if (renewed.has(lane.id)) {
        lane.renew(leasedUntil)
        emit({ kind: 'confirmed', lane, isBack: false })
      } else if (!locked.has(lane.id)) emit({ kind: 'taken_over', lane })
    }
  }

  async #release(): Promise<void> {
    const { database, clock, lease, held, holdsIdle, emit } = this.#deps
    const now = clock.now()
    const holds = !this.#isClearing && holdsIdle()
    const idleBefore = holds ? performance.now() - idleHoldMilliseconds : Number.POSITIVE_INFINITY
    const done = held().filter((lane) => {
      const since = lane.idleSince(now)
      return since !== undefined && (lane.isPaused(now) || since <= idleBefore)
    })
    if (done.length === 0) return
    for (const lane of done) lane.leave()
    let released = new Map<string, number | null>()
    try {
      const ids = done.map(({ id }) => id)
      const rows = await database.transaction((tx) => releaseLanes(tx, ids, lease))
      released = new Map(rows.map(({ id, next_due }) => [id, next_due]))
    } finally {
      for (const lane of done) {
        const next_due = released.get(lane.id)
        if (next_due === undefined) this.#keep(lane)
        else emit({ kind: 'released', lane, next_due })
      }
    }
  }

  /** An event is being raised for the lane right now, or the store failed, or the lane is no longer ours. */
  #keep(lane: HeldLane): void {
    lane.stay()
    this.#isRenewalDue = true
    this.#deps.emit({ kind: 'confirmed', lane, isBack: false })
  }

  #count(lane: HeldLane): void {
    // A lane that is stuck sends nothing, so what it has does not grow; the others need not wait for it.
    const count = lane.phase === 'stuck' ? 0 : lane.unrecorded
    this.#unrecorded += count - (this.#counted.get(lane) ?? 0)
    if (count === 0) this.#counted.delete(lane)
    else this.#counted.set(lane, count)
  }
}
