import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  type RateLimiterRes,
} from 'rate-limiter-flexible'
import { formatDuration } from '../base/duration.ts'
import type { Caller } from '../graph/caller.ts'
import { rateLimited } from '../graph/errors.ts'
import type { Node } from '../graph/nodes.ts'
import { type Rate, type RateClassName, type RateKey, rateClasses } from './classes.ts'
import { type Usage, usageHeaders, usageOf } from './usage.ts'

export interface LimiterOptions {
  readonly on: boolean
  readonly rates: Readonly<Record<RateClassName, readonly Rate[]>>
  /** Where several processes share their counts; undefined: this process counts for itself. */
  readonly sharedPool: unknown
}

interface Window {
  readonly rate: Rate
  readonly counter: RateLimiterAbstract
}

/** Counts calls by class and refuses those over a limit. */
export class Limiter {
  readonly #on: boolean
  readonly #windows: ReadonlyMap<RateClassName, readonly Window[]>

  constructor({ on, rates, sharedPool }: LimiterOptions) {
    this.#on = on
    const names = Object.keys(rateClasses) as RateClassName[]
    this.#windows = new Map(
      names.map((name) => [name, rates[name].map((rate) => ({ rate, counter: makeCounter(name, rate, sharedPool) }))]),
    )
  }

  /** Counts one call under a class; throws the 429, which tells the usage too, when it is one too many. */
  async consume(name: RateClassName, caller: Caller, node: Node): Promise<Usage | undefined> {
    if (!this.#on) return undefined
    const key = keyOf(rateClasses[name].key, caller, node)
    let fullest: Usage | undefined
    for (const { rate, counter } of this.#windows.get(name) ?? []) {
      const state = await count(counter, key)
      const usage = usageOf(name, rate, state)
      if (state.consumedPoints > rate.count) throw tooMany(usage, rate, state.msBeforeNext, node)
      if (!fullest || usage.percent > fullest.percent) fullest = usage
    }
    return fullest
  }
}

function makeCounter(name: string, { count: points, milliseconds }: Rate, sharedPool: unknown): RateLimiterAbstract {
  const options = { keyPrefix: `${name}:${milliseconds}`, points, duration: milliseconds / 1000 }
  if (sharedPool === undefined) return new RateLimiterMemory(options)
  return new RateLimiterPostgres({ ...options, storeClient: sharedPool, tableName: 'rate_counts', tableCreated: true })
}

/** The library refuses by rejecting with the state; a fault of the store it rejects with an Error. */
async function count(counter: RateLimiterAbstract, key: string): Promise<RateLimiterRes> {
  try {
    return await counter.consume(key)
  } catch (refusal) {
    if (refusal instanceof Error) throw refusal
    return refusal as RateLimiterRes
  }
}

function keyOf(key: RateKey, caller: Caller, node: Node): string {
  switch (key) {
    case 'app':
      return caller.app_id
    case 'node':
      return node.id
    case 'app_and_account':
      return `${caller.app_id}:${node.account_id ?? node.business_id}`
  }
}

function tooMany(usage: Usage, rate: Rate, msBeforeNext: number, node: Node): Error {
  const { sentence, subcode } = rateClasses[usage.name]
  return rateLimited(describeLimit(rate, sentence), subcode, msBeforeNext / 1000, usageHeaders(node, usage, usage))
}

/** `Every call, per app and account.` → `The limit of 5000 in 1h is reached (every call, per app and account)` */
function describeLimit({ count, milliseconds }: Rate, sentence: string): string {
  const counted = sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '')
  return `The limit of ${count} in ${formatDuration(milliseconds)} is reached (${counted})`
}
