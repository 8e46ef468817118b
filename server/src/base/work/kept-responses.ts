/** What is found faster than this, in milliseconds, is found anew each time. */
const dear = 100
/** For how many times as long as it took to find it an answer serves: so finding takes a twentieth of the time at the most. */
const factor = 20

interface Kept<T> {
  readonly response: Promise<T>
  /** Until when it serves, by `performance.now()`; infinite while it is being found. */
  until: number
}

/** Answers that are dear to find serve for a while, the longer the dearer they were, and are found once for all who ask at the same time. */
export class KeptResponses<T> {
  readonly #kept = new Map<string, Kept<T>>()

  ask(question: string, find: () => Promise<T>): Promise<T> {
    const began = performance.now()
    for (const [name, { until }] of this.#kept) if (until <= began) this.#kept.delete(name)
    const known = this.#kept.get(question)
    if (known) return known.response
    const kept: Kept<T> = { response: find(), until: Number.POSITIVE_INFINITY }
    this.#kept.set(question, kept)
    const end = (serves: boolean) => {
      const now = performance.now()
      kept.until = serves && now - began > dear ? now + (now - began) * factor : now
    }
    kept.response.then(
      () => end(true),
      () => end(false),
    )
    return kept.response
  }
}
