import fc from 'fast-check'

/** Draws values by chance; everything that is drawn follows from the seed. */
export class Draw {
  readonly #generate: <T>(arbitrary: fc.Arbitrary<T>) => T

  constructor(generate: <T>(arbitrary: fc.Arbitrary<T>) => T) {
    this.#generate = generate
  }

  from<T>(arbitrary: fc.Arbitrary<T>): T {
    return this.#generate(arbitrary)
  }

  /** Edges come more often than the rest. */
  integer(min: number, max: number): number {
    return this.from(fc.integer({ min, max }))
  }

  /** Each as often as the others. */
  index(length: number): number {
    return this.from(fc.noBias(fc.nat(length - 1)))
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('there is nothing to pick from')
    return list[this.index(list.length)] as T
  }

  /** True so often in a hundred. */
  chance(percent: number): boolean {
    return this.index(100) < percent
  }
}

/** What `make` makes of the draws of one seed. */
export function drawWith<T>(seed: number, make: (draw: Draw) => T): T {
  const made = fc.gen().map((generate) => make(new Draw((arbitrary) => generate(() => arbitrary))))
  const [value] = fc.sample(made, { seed, numRuns: 1 })
  return value as T
}

/** One seed for each number, so that a request can be made again without those before it. */
export function seedOf(seed: number, number: number): number {
  let mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(number + 1, 0xc2b2ae35)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39)
  return (mixed ^ (mixed >>> 15)) | 0
}
