import type { Due, DueLane, RaisedDeliveries } from './database.ts'

/** What one transaction, or a group that commits together, makes due. */
export class DueNotes {
  #timers: number | undefined
  #lanes: Map<string, DueLane> | undefined
  #links = false

  note({ timers, lanes, links }: Partial<Due>): void {
    if (timers !== undefined && !(this.#timers !== undefined && this.#timers <= timers)) this.#timers = timers
    if (links) this.#links = true
    for (const lane of lanes ?? []) this.#noteLane(lane)
  }

  #noteLane(lane: DueLane): void {
    this.#lanes ??= new Map()
    const known = this.#lanes.get(lane.id)
    this.#lanes.set(lane.id, known ? { ...lane, raised: joinRaised(known.raised, lane.raised) } : lane)
  }

  addTo(others: DueNotes): void {
    const due = this.get()
    if (due) others.note(due)
  }

  /** Undefined: nothing. */
  get(): Due | undefined {
    if (this.#timers === undefined && !this.#lanes && !this.#links) return undefined
    return { timers: this.#timers, lanes: [...(this.#lanes?.values() ?? [])], links: this.#links }
  }
}

function joinRaised(
  first: RaisedDeliveries | undefined,
  second: RaisedDeliveries | undefined,
): RaisedDeliveries | undefined {
  if (!first || !second || first.secret !== second.secret) return undefined
  return { ...first, deliveries: [...first.deliveries, ...second.deliveries] }
}

/** The listeners of commits that made something due. */
export class DueListeners {
  readonly #listeners = new Set<(due: Due) => void>()

  readonly add = (listener: (due: Due) => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  notify(notes: DueNotes): void {
    const due = notes.get()
    if (due) for (const listener of this.#listeners) listener(due)
  }
}
