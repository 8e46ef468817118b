import type { Log } from '../base/log.ts'
import type { AddressLimit } from './address-limit.ts'

/** So many good secrets are known at once; beyond that the first of them is forgotten. */
const maxKnown = 10_000
/** Nobody is given a token of this length, and a caller could fill the memory with longer ones. */
const maxKnownCharacters = 512
const bytesPerPoint = 65_536

/**
 * Slows down whoever tries secrets until one fits: after too many wrong ones from an address, no more of it are looked up. Many
 * callers may share an address, so those whose secret was good a moment ago are still let in.
 */
export class Guesses {
  readonly #limit: AddressLimit
  readonly #log: Log
  /** Secrets that were found good while somebody was guessing. */
  readonly #known = new Set<string>()

  constructor(limit: AddressLimit, log: Log) {
    this.#limit = limit
    this.#log = log
  }

  /** Throws the 429 for an address that guessed too often, before anything is looked up for it. */
  refuse(address: string, secret?: string): void {
    if (this.#limit.isQuiet || (secret !== undefined && this.#known.has(secret))) return
    this.#limit.refuse(address)
  }

  /** Counts a wrong secret, and what reading so many bytes in vain has cost. */
  noteWrong(address: string, { secret, bytes = 0 }: { secret?: string; bytes?: number } = {}): void {
    if (secret !== undefined) this.#known.delete(secret)
    if (this.#limit.count(address, 1 + Math.floor(bytes / bytesPerPoint))) {
      this.#log.warn(
        { source: address },
        'too many wrong tokens or signatures: unknown callers from this address are refused',
      )
    }
  }

  /** Notes a good secret, so that it stays good although others at its address are guessing. */
  noteGood(secret: string): void {
    if (this.#limit.isQuiet) {
      if (this.#known.size > 0) this.#known.clear()
      return
    }
    if (this.#known.has(secret) || secret.length > maxKnownCharacters) return
    const [first] = this.#known
    if (first !== undefined && this.#known.size >= maxKnown) this.#known.delete(first)
    this.#known.add(secret)
  }
}
