import type { Due, WorkerName } from './database.ts'

/** What one transaction, or several that are committed together, make due. */
export class DueNotes {
  readonly #earliest = new Map<WorkerName, number>()

  readonly note = (worker: WorkerName, time: number): void => {
    const known = this.#earliest.get(worker)
    if (known === undefined || time < known) this.#earliest.set(worker, time)
  }

  addTo(others: DueNotes): void {
    for (const [worker, time] of this.#earliest) others.note(worker, time)
  }

  clear(): void {
    this.#earliest.clear()
  }

  /** Undefined: nothing. */
  get(): Due | undefined {
    return this.#earliest.size === 0 ? undefined : new Map(this.#earliest)
  }
}

/** Those who want to know of commits that made something due. */
export class DueListeners {
  readonly #listeners = new Set<(due: Due) => void>()

  readonly add = (listener: (due: Due) => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(notes: DueNotes): void {
    const due = notes.get()
    if (due) for (const listener of this.#listeners) listener(due)
  }
}
