import type { Clock } from '../../base/time/clock.ts'
import { Loop } from '../../base/work/loop.ts'
import type { Database, DueLane } from '../../db/database.ts'
import type { LaneAddress } from '../store/lane-rows.ts'
import { wakeNotedLanes } from '../store/lane-wakes.ts'
import { claimLanes, firstPosition, type Lane, type Lease, listAddresses, listDueLanes } from '../store/lanes.ts'
import type { Claim, ConcurrencyLimits } from './concurrency-limits.ts'
import type { Emit } from './lane-events.ts'

/** The shortest time between two claims, however many commits ask for one. */
const minIntervalMilliseconds = 20
const pageSize = 500
/** When the limits leave out most of the due lanes, a poll reads only a part of them; the next poll continues. */
const pagesPerPoll = 4

export interface ClaimerDeps {
  readonly database: Database
  readonly clock: Clock
  readonly lease: Lease
  readonly concurrency: ConcurrencyLimits
  readonly originOf: (callback_url: string) => string
  /** False while the clock, by which leases go, is wrong. */
  readonly mayClaim: () => boolean
  /** Whether this process holds a lane, or still has posts under way for a lane that it lost. */
  readonly isTaken: (lane_id: string) => boolean
  readonly emit: Emit
}

interface Candidate extends LaneAddress, Claim {
  /** Whether this process has raised an event for it: then its holder must be notified. */
  readonly isRaisedHere: boolean
}

/** Claims lanes with work, as far as the limits allow: lanes that it was notified of, and lanes that a poll finds. */
export class Claimer {
  readonly #deps: ClaimerDeps
  readonly #loop: Loop
  readonly #addresses = new Map<string, LaneAddress>()
  readonly #ids = new Set<string>()
  #isPollDue = false
  /** Whether there is a note of a lane that should be claimed. */
  #hasNotes = false
  #position = firstPosition
  /** Lanes that were not claimed because of the limits. */
  #skipped = new Map<string, Candidate>()

  constructor(deps: ClaimerDeps) {
    this.#deps = deps
    this.#loop = new Loop({
      work: () => this.#claim(),
      pause: minIntervalMilliseconds,
      onFailure: (error) => deps.emit({ kind: 'failed', error, message: 'deliveries could not be claimed' }),
    })
  }

  get isQuiet(): boolean {
    return !this.#loop.isRunning
  }

  get hasSkipped(): boolean {
    return this.#skipped.size > 0
  }

  /** This process has raised deliveries for these lanes. */
  hint(lanes: Iterable<LaneAddress & Pick<DueLane, 'isNoted'>>): void {
    for (const lane of lanes) {
      this.#addresses.set(lane.id, lane)
      if (lane.isNoted) this.#hasNotes = true
    }
    this.#loop.wake()
  }

  /** Another process has raised deliveries for these lanes; `mayBeNoted`: while this one released them. */
  hintIds(ids: Iterable<string>, { mayBeNoted = false } = {}): void {
    for (const id of ids) this.#ids.add(id)
    if (mayBeNoted) this.#hasNotes = true
    this.#loop.wake()
  }

  poll(): void {
    this.#isPollDue = true
    this.#loop.wake()
  }

  /** The limits may allow lanes that were skipped. */
  retry(): void {
    if (this.#skipped.size > 0) this.#loop.wake()
  }

  async settle(): Promise<void> {
    await this.#loop.settle()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
  }

  async #claim(): Promise<void> {
    const { clock, database, lease, concurrency, emit, mayClaim } = this.#deps
    // The poll after that finds what is due.
    if (!mayClaim()) return
    if (this.#isPollDue || this.#hasNotes) await this.#takeNotes()
    const news = await this.#takeNews()
    const found = this.#isPollDue ? await this.#findDue() : []
    const skipped = [...this.#skipped.values()]
    this.#skipped = new Map()
    const chosen = this.#choose([...news, ...skipped, ...found])
    // The rest of the due lanes, of which the last poll saw only a part.
    if (this.#skipped.size === 0 && this.#position !== firstPosition) this.poll()
    if (chosen.size === 0) return
    let claimed: Lane[] = []
    // At the latest: the store may have taken long.
    const leasedUntil = lease.clock.now() + lease.milliseconds
    try {
      claimed = await claimLanes(database, chosen.keys(), lease, clock.now())
    } finally {
      const ids = new Set(claimed.map(({ id }) => id))
      for (const candidate of chosen.values())
        if (!ids.has(candidate.id)) concurrency.releaseLane(candidate, candidate.isFailing)
    }
    for (const lane of claimed) {
      emit({ kind: 'claimed', lane, claim: chosen.get(lane.id) as Candidate, leasedUntil })
      chosen.delete(lane.id)
    }
    // A process that was notified of a lane by another notifies nobody: all of them would notify each other for ever.
    const elsewhere = [...chosen.values()].filter(({ isRaisedHere }) => isRaisedHere)
    if (elsewhere.length > 0) emit({ kind: 'held_elsewhere', ids: elsewhere.map(({ id }) => id) })
  }

  async #takeNotes(): Promise<void> {
    this.#hasNotes = false
    await wakeNotedLanes(this.#deps.database)
  }

  async #takeNews(): Promise<Candidate[]> {
    const { database } = this.#deps
    const raised = [...this.#addresses.values()].map((lane) => this.#candidateOf(lane, true, 0))
    const unknown = [...this.#ids].filter((id) => !this.#addresses.has(id))
    this.#addresses.clear()
    this.#ids.clear()
    const announced = unknown.length > 0 ? await listAddresses(database.read, unknown) : []
    return [...raised, ...announced.map((lane) => this.#candidateOf(lane, false, 0))]
  }

  async #findDue(): Promise<Candidate[]> {
    const { database, clock, lease } = this.#deps
    this.#isPollDue = false
    // The next poll finds the lanes that are still due.
    this.#skipped.clear()
    const found: Candidate[] = []
    for (let page = 0; page < pagesPerPoll; page++) {
      const options = { after: this.#position, limit: pageSize }
      const lanes = await listDueLanes(database.read, lease, clock.now(), options)
      found.push(...lanes.map((lane) => this.#candidateOf(lane, false, lane.failures)))
      const last = lanes.at(-1)
      this.#position = last && lanes.length === pageSize ? last : firstPosition
      if (lanes.length < pageSize) return found
    }
    return found
  }

  #candidateOf({ id, app_id, callback_url }: LaneAddress, isRaisedHere: boolean, failures: number): Candidate {
    const origin = this.#deps.originOf(callback_url)
    return { id, app_id, callback_url, origin, isRaisedHere, isFailing: failures > 0 }
  }

  /** The lanes that the limits allow. They are reserved, and released if they turn out not to be claimed. */
  #choose(candidates: readonly Candidate[]): Map<string, Candidate> {
    const { concurrency, isTaken } = this.#deps
    const chosen = new Map<string, Candidate>()
    for (const candidate of candidates) {
      if (isTaken(candidate.id) || chosen.has(candidate.id)) continue
      if (!concurrency.canClaim(candidate, candidate.isFailing)) {
        this.#skipped.set(candidate.id, candidate)
        continue
      }
      concurrency.reserve(candidate, candidate.isFailing)
      chosen.set(candidate.id, candidate)
    }
    return chosen
  }
}
