import { sourceOf } from '../base/text/addresses.ts'
import type { Clock } from '../base/time/clock.ts'
import { WindowCounts } from '../base/time/window-counts.ts'
import type { GraphError } from '../graph/graph-error.ts'
import { type AddressClassName, addressClasses, describeLimit, type Rate } from './classes.ts'

export interface AddressLimitOptions {
  readonly on: boolean
  readonly clock: Clock
  readonly name: AddressClassName
  readonly rates: readonly Rate[]
}

/** Counts requests by address, and refuses an address that has reached its limit. */
export class AddressLimit {
  readonly #name: AddressClassName
  readonly #windows: readonly { readonly rate: Rate; readonly counts: WindowCounts }[]

  constructor({ on, clock, name, rates }: AddressLimitOptions) {
    this.#name = name
    this.#windows = on ? rates.map((rate) => ({ rate, counts: new WindowCounts(clock, rate.milliseconds) })) : []
  }

  /** Whether nothing is counted at the moment, so that nobody can be refused. */
  get isQuiet(): boolean {
    return this.#windows.every(({ counts }) => counts.isEmpty)
  }

  /** Throws the 429 when the address has reached its limit; counts nothing. */
  refuse(address: string): void {
    if (this.isQuiet) return
    const source = sourceOf(address)
    for (const { rate, counts } of this.#windows) {
      const { points, remaining } = counts.read(source)
      if (points >= rate.count) throw this.#describe(rate, remaining)
    }
  }

  /** Counts points of an address, and returns whether these reached its limit. */
  count(address: string, points = 1): boolean {
    const source = sourceOf(address)
    let isReached = false
    for (const { rate, counts } of this.#windows) {
      const total = counts.add(source, points)
      isReached ||= total >= rate.count && total - points < rate.count
    }
    return isReached
  }

  /** Counts a request, or throws the 429 when its address has reached the limit. */
  take(address: string): void {
    this.refuse(address)
    this.count(address)
  }

  /** Begins to count anew. */
  clear(): void {
    for (const { counts } of this.#windows) counts.clear()
  }

  #describe(rate: Rate, remaining: number): GraphError {
    const { sentence, error } = addressClasses[this.#name]
    const [first = ''] = sentence.split(/[;.]/, 1)
    return error({ ...describeLimit(rate, first), seconds: remaining / 1000 }, { limit: this.#name })
  }
}
