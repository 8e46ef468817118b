import type { Clock } from '../../base/time/clock.ts'
import { Loop } from '../../base/work/loop.ts'
import type { Database } from '../../db/database.ts'
import type { WaitingDelivery } from '../rules/waiting-delivery.ts'
import { listDue, listDueBehind, listFirstOf, type ReadLimit } from '../store/due-deliveries.ts'
import { listStoredSecrets, secretsInForce } from '../store/signing-secrets.ts'
import { withdrawUnlocked } from '../store/withdraw.ts'
import type { HeldLane, PlannedRead } from './held-lane.ts'
import type { Emit } from './lane-events.ts'

/** Events that are raised together are read together. */
const minIntervalMilliseconds = 20
/** How many lanes one statement reads. */
const batchSize = 100
/** How many deliveries are read of a conversation whose head is missing. */
const conversationLimit = 20
/** How many such conversations of a lane are read at once: the next read finds the others. */
const maxConversations = 20

export interface ReaderDeps {
  readonly database: Database
  readonly clock: Clock
  readonly emit: Emit
}

interface Sorted {
  readonly allowed: ReadonlySet<WaitingDelivery>
  readonly locked: ReadonlySet<WaitingDelivery>
}

/** Reads the due deliveries of the lanes that this process holds, for all of them together. */
export class Reader {
  readonly #deps: ReaderDeps
  readonly #loop: Loop
  readonly #wanted = new Set<HeldLane>()

  constructor(deps: ReaderDeps) {
    this.#deps = deps
    this.#loop = new Loop({
      work: () => this.#read(),
      pause: minIntervalMilliseconds,
      onFailure: (error) => deps.emit({ kind: 'failed', error, message: 'due deliveries could not be read' }),
    })
  }

  get isQuiet(): boolean {
    return !this.#loop.isRunning
  }

  /** Reads a lane soon, together with others, or at once. */
  want(lane: HeldLane, { atOnce = false } = {}): void {
    this.#wanted.add(lane)
    if (atOnce) this.#loop.wakeAtOnce()
    else this.#loop.wake()
  }

  async settle(): Promise<void> {
    if (this.#wanted.size > 0) this.#loop.wake()
    await this.#loop.settle()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
  }

  async #read(): Promise<void> {
    const { database, clock } = this.#deps
    const now = clock.now()
    const reads = this.#takeLanes(now).map((lane) => lane.beginRead(database.isEmbedded))
    if (reads.length === 0) return
    const unread = new Set(reads)
    try {
      const readTime = performance.now()
      const found = await this.#listDue(reads, now)
      const { allowed, locked } = await this.#withdraw(found)
      const byLane = Map.groupBy(found, ({ lane_id }) => lane_id)
      const lanes = reads.map(({ lane }) => lane)
      const unsignable = await this.#readSecrets(
        lanes.filter(({ id }) => byLane.has(id)),
        now,
      )
      for (const read of reads) {
        const { lane } = read
        const ofLane = byLane.get(lane.id) ?? []
        if (unsignable.has(lane)) lane.failRead('unsignable')
        else {
          const sendable = ofLane.filter((delivery) => allowed.has(delivery))
          lane.leaveOut(ofLane.filter((delivery) => locked.has(delivery)).map(({ id }) => id))
          await this.#queue(lane, sendable, now, readTime)
          lane.endRead(read, ofLane)
        }
        unread.delete(read)
        this.#deps.emit({ kind: 'read', lane })
      }
    } finally {
      for (const { lane } of unread) {
        lane.failRead('unreadable')
        this.#wanted.add(lane)
      }
    }
    if (this.#wanted.size > 0) this.#loop.wake()
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

  /** Ends the deliveries that the app may no longer receive, but for those that somebody else has locked; returns these and the rest. */
  async #withdraw(found: readonly WaitingDelivery[]): Promise<Sorted> {
    const { database, clock } = this.#deps
    const allowed = new Set(found.filter(({ has_access }) => has_access !== 0))
    const refused = found.filter((delivery) => !allowed.has(delivery))
    if (refused.length === 0) return { allowed, locked: new Set() }
    const ids = refused.map(({ id }) => id)
    const ended = await database.transaction((tx) => withdrawUnlocked(tx, ids, clock.now()))
    return { allowed, locked: new Set(refused.filter(({ id }) => !ended.has(id))) }
  }

  /** A lane that cannot be read now is asked for again when it can. */
  #takeLanes(now: number): HeldLane[] {
    const lanes: HeldLane[] = []
    for (const lane of this.#wanted) {
      if (lanes.length === batchSize) break
      this.#wanted.delete(lane)
      if (lane.canRead(now)) lanes.push(lane)
    }
    return lanes
  }

  /**
   * Reads the secrets that sign the lanes' posts: after the deliveries, so that a replay after a rotation is signed with the new
   * secret. Returns the lanes whose secrets cannot be read, for example because they were altered in the database.
   */
  async #readSecrets(lanes: readonly HeldLane[], now: number): Promise<Set<HeldLane>> {
    const { database, emit } = this.#deps
    const unsignable = new Set<HeldLane>()
    const byApp = Map.groupBy(lanes, ({ app_id }) => app_id)
    if (byApp.size === 0) return unsignable
    for (const app of await listStoredSecrets(database.read, byApp.keys())) {
      const ofApp = byApp.get(app.id) ?? []
      try {
        const secrets = secretsInForce(database.read, app, now)
        for (const lane of ofApp) lane.sign(secrets, app)
      } catch (error) {
        emit({ kind: 'failed', error: error as Error, message: 'the secrets of an app could not be read' })
        for (const lane of ofApp) unsignable.add(lane)
      }
    }
    return unsignable
  }

  async #queue(lane: HeldLane, found: readonly WaitingDelivery[], now: number, readTime: number): Promise<void> {
    const headless = lane.queueFound(found, now, readTime)
    for (const [conversation, behind] of [...headless].slice(0, maxConversations)) {
      const { allowed } = await this.#withdraw(
        await listFirstOf(this.#deps.database.read, lane.id, conversation, conversationLimit),
      )
      lane.queueFirst(conversation, [...allowed], behind, now, readTime)
    }
  }
}
