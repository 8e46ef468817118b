import { AddressLimit } from '../limits/address-limit.ts'
import type { AddressClassName } from '../limits/classes.ts'
import { Limiter } from '../limits/limiter.ts'
import type { Foundation } from './foundation.ts'

/** How often something may be asked for: by callers, by addresses that guess, by strangers. */
export class Limits {
  readonly limiter: Limiter
  readonly guesses: AddressLimit
  readonly openDoors: AddressLimit
  readonly strangers: AddressLimit

  constructor({ config, database, clock }: Foundation) {
    const limitByAddress = (name: AddressClassName) =>
      new AddressLimit({ on: config.rateLimitsOn, clock, name, rates: config.rates[name] })
    this.limiter = new Limiter({ on: config.rateLimitsOn, rates: config.rates, database, clock })
    this.guesses = limitByAddress('failures')
    this.openDoors = limitByAddress('open_doors')
    this.strangers = limitByAddress('strangers')
  }

  clear(): void {
    for (const limit of [this.limiter, this.guesses, this.openDoors, this.strangers]) limit.clear()
  }
}
