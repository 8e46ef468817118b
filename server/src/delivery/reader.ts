import type { Clock } from '../base/clock.ts'
import { Loop } from '../base/loop.ts'
import type { Database, RaisedDeliveries } from '../db/database.ts'
import {
  asWaiting,
  listDue,
  listDueBehind,
  listFirstOf,
  type Place,
  type ReadLimit,
  type WaitingDelivery,
} from './due.ts'
import { withdrawDeliveries } from './end-waiting.ts'
import type { HeldLane } from './held-lane.ts'
import type { Postponed } from './lane-queue.ts'
import { isDown } from './pause.ts'
import { listStoredSecrets, secretsInForce } from './secrets.ts'

/** Events that are raised together are read together. */
const paceMilliseconds = 20
/** How many lanes one statement reads. */
const batchSize = 100
/** How many deliveries are read of a conversation whose head is missing. */
const conversationLimit = 20
/** How many such conversations of a lane are read at once: the next read finds the others. */
const maxConversations = 20

export interface ReaderDeps {
  readonly database: Database
  readonly clock: Clock
  /** Called for a lane after a read, with the deliveries that must wait for a retry. */
  readonly onRead: (lane: HeldLane, postponed: readonly Postponed[]) => void
  /** Called for a lane that is read at intervals from now on: nobody needs to wake this process for it. */
  readonly onWatch: (lane: HeldLane) => void
  readonly onFailure: (error: Error, message: string) => void
}

interface PlannedRead {
  readonly lane: HeldLane
  /** Undefined: all that is due is read. */
  readonly behind: Place | undefined
  readonly limit: number
  /** What need not be read again. */
  readonly known: readonly number[]
}

/** Reads the due deliveries of the lanes that this process holds, for all of them together. */
export class Reader {
  readonly #deps: ReaderDeps
  readonly #loop: Loop
  readonly #wanted = new Set<HeldLane>()
  /** Lanes whose secrets could not be read. */
  readonly #locked = new Set<HeldLane>()
  /** Lanes that are read at intervals. */
  readonly #watched = new Set<HeldLane>()
  #timer: NodeJS.Timeout | undefined

  constructor(deps: ReaderDeps) {
    this.#deps = deps
    this.#loop = new Loop({
      work: () => this.#read(),
      pause: paceMilliseconds,
      onFailure: (error) => deps.onFailure(error, 'due deliveries could not be read'),
    })
  }

  get isQuiet(): boolean {
    return !this.#loop.isRunning
  }

  /**
   * Asks for a read of a lane: soon, together with others, or at once; of all that is due, or only of what is behind the known
   * deliveries.
   */
  want(lane: HeldLane, { atOnce = false, all = true } = {}): void {
    lane.wantsRead = true
    lane.wantsAll ||= all
    this.#wanted.add(lane)
    if (atOnce) this.#loop.wakeAtOnce()
    else this.#loop.wake()
  }

  /** Takes deliveries that this process has just raised; returns false when they must be read. */
  take(lane: HeldLane, raised: RaisedDeliveries): boolean {
    const now = this.#deps.clock.now()
    if (!lane.canTake(raised, now)) return false
    const deliveries = raised.deliveries.map((delivery) => asWaiting(lane.id, delivery))
    const { headless, postponed } = lane.take(deliveries, now, raised.since)
    if (headless.size > 0) this.want(lane)
    this.#deps.onRead(lane, postponed)
    return true
  }

  /** Retries failed reads. */
  tick(): void {
    this.#retryLocked()
    if (this.#wanted.size > 0) this.#loop.wake()
  }

  #retryLocked(): void {
    for (const lane of this.#locked) this.#wanted.add(lane)
    this.#locked.clear()
  }

  async settle(): Promise<void> {
    this.#retryLocked()
    if (this.#wanted.size > 0) this.#loop.wake()
    await this.#loop.settle()
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#loop.stop()
  }

  async #read(): Promise<void> {
    const now = this.#deps.clock.now()
    const lanes = this.#takeLanes(now)
    if (lanes.length === 0) {
      this.#goOnWatching()
      return
    }
    const reads = lanes.map((lane) => this.#planRead(lane))
    const limits = new Map(reads.map(({ lane, limit }) => [lane.id, limit]))
    try {
      const readTime = performance.now()
      const due = await this.#listDue(reads, now)
      const allowed = new Set(await this.#withdraw(due))
      const byLane = Map.groupBy(due, ({ lane_id }) => lane_id)
      const locked = await this.#readSecrets(
        lanes.filter(({ id }) => byLane.has(id)),
        now,
      )
      for (const lane of lanes) {
        if (locked.has(lane)) {
          // Retried later: its posts cannot be signed, and other lanes need not wait for it.
          lane.endRead()
          lane.wantsRead = true
          lane.wantsAll = true
          lane.isLocked = true
          this.#locked.add(lane)
          continue
        }
        lane.isLocked = false
        const found = byLane.get(lane.id) ?? []
        lane.mayHaveMore = found.length >= (limits.get(lane.id) as number)
        lane.queue.place = found.at(-1) ?? lane.queue.place
        const sendable = found.filter((delivery) => allowed.has(delivery))
        const postponed = lane.isLost ? [] : await this.#take(lane, sendable, now, readTime)
        lane.endRead()
        this.#deps.onRead(lane, postponed)
        this.#noteFound(lane, found.length)
      }
    } catch (error) {
      for (const lane of lanes) {
        if (!lane.isReading) continue
        lane.endRead()
        lane.wantsRead = true
        lane.wantsAll = true
        this.#wanted.add(lane)
      }
      throw error
    } finally {
      this.#goOnWatching()
    }
    if (this.#wanted.size > 0) this.#loop.wake()
  }

  /** Where other processes raise much for a lane, its holder does not wait to be woken. */
  #noteFound(lane: HeldLane, count: number): void {
    if (this.#deps.database.isEmbedded || !lane.watch.noteRead(count, performance.now())) return
    this.#watched.add(lane)
    this.#deps.onWatch(lane)
  }

  #goOnWatching(): void {
    if (this.#watched.size === 0 || this.#loop.isStopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#loop.wake(), paceMilliseconds).unref()
  }

  /**
   * Of the embedded store, what is new is behind everything that was read: it has one writer. Elsewhere a transaction may commit events
   * that are older than those read, so everything is read that is not known.
   */
  #planRead(lane: HeldLane): PlannedRead {
    const { isEmbedded } = this.#deps.database
    const behind = isEmbedded && !lane.wantsAll ? lane.queue.place : undefined
    lane.isReading = true
    lane.wantsRead = false
    lane.wantsAll = false
    if (!isEmbedded) return { lane, behind, limit: lane.appetite, known: lane.queue.listKnown() }
    return { lane, behind, limit: lane.appetite + (behind ? 0 : lane.queue.known), known: [] }
  }

  async #listDue(reads: readonly PlannedRead[], now: number): Promise<WaitingDelivery[]> {
    const { database } = this.#deps
    const found: WaitingDelivery[] = []
    const limits = new Map<string, ReadLimit>()
    for (const { lane, behind, limit, known } of reads) {
      if (behind) found.push(...(await listDueBehind(database, lane.id, behind, limit, now)))
      else limits.set(lane.id, { limit, known })
    }
    if (limits.size > 0) found.push(...(await listDue(database, limits, now)))
    return found
  }

  /** Ends the deliveries that the app may no longer receive; returns the rest. */
  async #withdraw(found: readonly WaitingDelivery[]): Promise<WaitingDelivery[]> {
    const { database, clock } = this.#deps
    const ids = found.filter(({ has_access }) => has_access === 0).map(({ id }) => id)
    if (ids.length > 0) await database.transaction((tx) => withdrawDeliveries(tx, ids, clock.now()))
    return found.filter(({ has_access }) => has_access !== 0)
  }

  #takeLanes(now: number): HeldLane[] {
    const lanes: HeldLane[] = []
    for (const lane of this.#wanted) {
      if (lanes.length === batchSize) break
      // A lane that is being released is asked for again if it stays.
      if (lane.isLeaving) continue
      this.#wanted.delete(lane)
      if (lane.isLost || lane.isPaused(now)) lane.wantsRead = false
      else lanes.push(lane)
    }
    return [...lanes, ...this.#takeWatched(lanes, now)]
  }

  /** The lanes that it is time to read again. One that has enough to send reads when it gets hungry. */
  #takeWatched(besides: readonly HeldLane[], now: number): HeldLane[] {
    const time = performance.now()
    const lanes: HeldLane[] = []
    for (const lane of this.#watched) {
      if (lane.isLost || lane.isLocked || !lane.watch.isOn(time)) this.#watched.delete(lane)
      else if (lane.isFed) lane.mayHaveMore = true
      else if (!lane.isLeaving && !lane.isPaused(now) && !besides.includes(lane)) lanes.push(lane)
    }
    return lanes
  }

  /**
   * Reads the secrets that sign the lanes' posts: after the deliveries, so that a replay after a rotation is signed with the new
   * secret. Returns the lanes whose secrets cannot be read, for example because they were altered in the database.
   */
  async #readSecrets(lanes: readonly HeldLane[], now: number): Promise<Set<HeldLane>> {
    const { database, onFailure } = this.#deps
    const locked = new Set<HeldLane>()
    const byApp = Map.groupBy(lanes, ({ app_id }) => app_id)
    if (byApp.size === 0) return locked
    for (const app of await listStoredSecrets(database.read, byApp.keys())) {
      const ofApp = byApp.get(app.id) ?? []
      try {
        const secrets = secretsInForce(database.read, app, now)
        for (const lane of ofApp) {
          lane.secrets = secrets
          lane.storedSecrets = app
        }
      } catch (error) {
        onFailure(error as Error, 'the secrets of an app could not be read')
        for (const lane of ofApp) locked.add(lane)
      }
    }
    return locked
  }

  /** Puts the deliveries into the lane's queue; returns those that must wait for a retry. */
  async #take(lane: HeldLane, found: readonly WaitingDelivery[], now: number, readTime: number): Promise<Postponed[]> {
    const { headless, postponed } = lane.queue.add(found, now, readTime)
    for (const [conversation, behind] of [...headless].slice(0, maxConversations)) {
      const first = await this.#withdraw(
        await listFirstOf(this.#deps.database.read, lane.id, conversation, conversationLimit),
      )
      const notDue = first.findIndex(({ due_time }) => due_time > now)
      const due = notDue === -1 ? first : first.slice(0, notDue)
      postponed.push(...lane.queue.add(due, now, readTime).postponed)
      const blocking = first[notDue]
      if (blocking) postponed.push(...this.#wait(lane, conversation, blocking, behind, readTime))
    }
    return postponed
  }

  /**
   * A new delivery came behind one that waits for its retry. When the subscriber is down and there is nothing else to probe it with,
   * the retry comes early; otherwise the new delivery waits.
   */
  #wait(
    lane: HeldLane,
    conversation: string,
    blocking: WaitingDelivery,
    behind: readonly WaitingDelivery[],
    readTime: number,
  ): Postponed[] {
    const waiting = behind.filter(({ id }) => id > blocking.id)
    const isProbe = isDown(lane.state) && blocking.previous_id === null && lane.queue.queued + lane.underWay === 0
    if (isProbe) lane.queue.add([blocking], blocking.due_time, readTime)
    return lane.queue.block(conversation, blocking.due_time, waiting)
  }
}
