import { tooManyBodies } from '../errors.ts'

/**
 * The bytes of bodies that are being read into memory, within a budget for each holder: a token, or an address where there is none. A
 * body alone is bounded by its own limit; without this one, many slow bodies of one token could take the memory of the process.
 */
export class BodyBudget {
  readonly #maxBytes: number
  readonly #held = new Map<string, number>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  open(holder: string): BodyHold {
    return new BodyHold((bytes) => this.#count(holder, bytes))
  }

  /** Adds to what a holder has; throws when that is more than the budget. */
  #count(holder: string, bytes: number): void {
    const held = (this.#held.get(holder) ?? 0) + bytes
    if (held > this.#maxBytes) throw tooManyBodies({ max: this.#maxBytes, seconds: 1 })
    if (held > 0) this.#held.set(holder, held)
    else this.#held.delete(holder)
  }
}

/** The share of one body. */
export class BodyHold {
  readonly #count: (bytes: number) => void
  #bytes = 0

  constructor(count: (bytes: number) => void) {
    this.#count = count
  }

  /** Reserves room before it is used. Throws a 429, with nothing reserved, when there is none. */
  take(bytes: number): void {
    this.#count(bytes)
    this.#bytes += bytes
  }

  /** When the body has been read or refused; again: nothing. */
  release(): void {
    if (this.#bytes > 0) this.#count(-this.#bytes)
    this.#bytes = 0
  }
}
