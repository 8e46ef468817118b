import type { Outcome } from '../rules/outcome.ts'
import type { Postponed } from '../store/record-outcomes.ts'

/** What is to be stored of a lane. */
export interface LaneChange {
  readonly outcomes: readonly Outcome[]
  readonly postponed: readonly Postponed[]
  /** Whether its subscriber has recovered. */
  readonly isBack: boolean
}

interface Pending {
  readonly outcomes: Outcome[]
  readonly postponed: Postponed[]
  isBack: boolean
}

/** What came of the deliveries of a held lane and is not stored yet. */
export class LaneChanges {
  #pending = makeEmpty()
  #storing = makeEmpty()

  get count(): number {
    return countOf(this.#pending) + countOf(this.#storing)
  }

  get hasPending(): boolean {
    return countOf(this.#pending) > 0
  }

  add({ outcomes, postponed, isBack }: LaneChange): void {
    this.#pending.outcomes.push(...outcomes)
    this.#pending.postponed.push(...postponed)
    this.#pending.isBack ||= isBack
  }

  /** What is to be stored now; `settle` says what became of it. */
  take(): LaneChange {
    this.#storing = this.#pending
    this.#pending = makeEmpty()
    return this.#storing
  }

  /** Returns the deliveries that are stored, and how many are not: these come before what was added meanwhile. */
  settle(isStored: (delivery_id: number) => boolean): { readonly stored: number[]; readonly left: number } {
    const [storing, later] = [this.#storing, this.#pending]
    this.#storing = makeEmpty()
    this.#pending = makeEmpty()
    const ids = [...storing.outcomes.map(({ delivery }) => delivery.id), ...storing.postponed.map(({ id }) => id)]
    const stored = ids.filter(isStored)
    this.add({
      outcomes: storing.outcomes.filter(({ delivery }) => !isStored(delivery.id)),
      postponed: storing.postponed.filter(({ id }) => !isStored(id)),
      isBack: storing.isBack && stored.length === 0,
    })
    this.add(later)
    return { stored, left: ids.length - stored.length }
  }
}

function makeEmpty(): Pending {
  return { outcomes: [], postponed: [], isBack: false }
}

function countOf({ outcomes, postponed }: LaneChange): number {
  return outcomes.length + postponed.length
}
