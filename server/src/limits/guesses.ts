import type { Log } from '../base/log/log.ts'
import type { AddressLimit } from './address-limit.ts'

/** How many valid secrets are remembered at once; beyond that the oldest is forgotten. */
const maxKnown = 10_000
/** No token is this long, and longer texts could fill the memory. */
const maxKnownCharacters = 512
const bytesPerPoint = 65_536

/**
 * Slows down guessing of secrets: after too many wrong ones from an address, no more of its secrets are looked up. Many callers may
 * share an address, so callers whose secret was valid a moment ago are still admitted.
 */
export class Guesses {
  readonly #limit: AddressLimit
  readonly #log: Log
  /** Secrets that were found valid. Kept also while nobody guesses: the first thousand wrong ones may come within a second. */
  readonly #known = new Set<string>()

  constructor(limit: AddressLimit, log: Log) {
    this.#limit = limit
    this.#log = log
  }

  /** Throws the 429 for an address that guessed too often, before any look-up. */
  refuse(address: string, secret?: string): void {
    if (this.#limit.isQuiet || (secret !== undefined && this.#known.has(secret))) return
    this.#limit.refuse(address)
  }

  /** Counts a wrong secret, and the cost of reading so many bytes in vain. */
  noteWrong(address: string, { secret, bytes = 0 }: { secret?: string; bytes?: number } = {}): void {
    if (secret !== undefined) this.#known.delete(secret)
    if (this.#limit.count(address, 1 + Math.floor(bytes / bytesPerPoint))) {
      this.#log.warn(
        { source: address },
        'too many wrong tokens or signatures: unknown callers from this address are refused',
      )
    }
  }

  /** Remembers a valid secret, so that it still works while others at its address are guessing. */
  noteGood(secret: string): void {
    if (this.#known.has(secret) || secret.length > maxKnownCharacters) return
    const [first] = this.#known
    if (first !== undefined && this.#known.size >= maxKnown) this.#known.delete(first)
    this.#known.add(secret)
  }
}
