/** What is computed faster than this, in milliseconds, is computed each time. */
const expensive = 100
/** A result is used for so many times as long as it took to compute: so computing takes a twentieth of the time at the most. */
const factor = 20

interface Kept<T> {
  readonly result: Promise<T>
  /** Until when it is used, by `performance.now()`; infinite while it is being computed. */
  until: number
}

/** Caches results that are expensive to compute: the longer one took, the longer it is used. Concurrent calls share one computation. */
export class ResultCache<T> {
  readonly #kept = new Map<string, Kept<T>>()

  ask(question: string, find: () => Promise<T>): Promise<T> {
    const began = performance.now()
    for (const [name, { until }] of this.#kept) if (until <= began) this.#kept.delete(name)
    const known = this.#kept.get(question)
    if (known) return known.result
    const kept: Kept<T> = { result: find(), until: Number.POSITIVE_INFINITY }
    this.#kept.set(question, kept)
    const end = (isUsed: boolean) => {
      const now = performance.now()
      kept.until = isUsed && now - began > expensive ? now + (now - began) * factor : now
    }
    kept.result.then(
      () => end(true),
      () => end(false),
    )
    return kept.result
  }
}
