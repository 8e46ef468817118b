import type { RecentlyVerifiedNumber } from '../../messages/public.ts'
import type { Fact } from './receiver-store.ts'

/** More than one process receives for; beyond it everything is forgotten. */
const maxKnown = 10_000

/**
 * The numbers that posts named before, as they were then. No process is notified when one changes, so the entries may be out of date:
 * the statement that builds on an entry checks it.
 */
export class KnownNumbers {
  readonly #numbers = new Map<string, RecentlyVerifiedNumber>()

  find(id: string): RecentlyVerifiedNumber | undefined {
    return this.#numbers.get(id)
  }

  /** What was found when these numbers were looked up. */
  note(ids: readonly string[], found: readonly Fact[]): void {
    if (this.#numbers.size + ids.length > maxKnown) this.#numbers.clear()
    for (const id of ids) this.#numbers.delete(id)
    for (const { kind, id, account_id, digits, business_id } of found) {
      if (kind === 'number') this.#numbers.set(id, { id, account_id, digits, business_id })
    }
  }
}
