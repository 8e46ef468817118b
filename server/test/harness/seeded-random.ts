/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Choices that are the same for the same seed. */
export class Chance {
  readonly next: () => number

  constructor(seed: number) {
    this.next = seededRandom(seed)
  }

  /** An integer from 0 (included) to `end` (not included). */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  happens(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new Error('there is nothing to choose from')
    return choices[this.below(choices.length)] as T
  }

  /** So many of them, each once before any comes again. */
  rounds<T>(choices: readonly T[], count: number): T[] {
    const order: T[] = []
    while (order.length < count) {
      const rest = [...choices]
      while (rest.length > 0) order.push(...rest.splice(this.below(rest.length), 1))
    }
    return order.slice(0, count)
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }
}
