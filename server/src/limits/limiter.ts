import type { Clock } from '../base/time/clock.ts'
import type { Database } from '../db/database.ts'
import type { Caller } from '../graph/caller.ts'
import type { Node } from '../graph/nodes.ts'
import { describeLimit, type Rate, type RateClassName, type RateKey, rateClasses } from './classes.ts'
import { Permits, type Use } from './permits.ts'
import { type Usage, usageHeaders, usageOf } from './usage.ts'

export interface LimiterOptions {
  readonly on: boolean
  readonly rates: Readonly<Record<RateClassName, readonly Rate[]>>
  readonly database: Pick<Database, 'counters' | 'outageOf'>
  readonly clock: Clock
}

interface Window {
  readonly rate: Rate
  readonly permits: Permits
}

/** Counts calls by class and refuses calls over a limit. */
export class Limiter {
  readonly #on: boolean
  readonly #windows: ReadonlyMap<RateClassName, readonly Window[]>

  constructor({ on, rates, database, clock }: LimiterOptions) {
    this.#on = on
    const { counters } = database
    const isUnwritable = (error: unknown) => database.outageOf(error) === 'unwritable'
    const names = Object.keys(rateClasses) as RateClassName[]
    this.#windows = new Map(
      names.map((name) => [
        name,
        rates[name].map((rate) => ({ rate, permits: new Permits({ name, rate, counters, clock, isUnwritable }) })),
      ]),
    )
  }

  /**
   * Counts one call under a class; throws the 429, with the usage, when it exceeds a limit. Most calls get their permit synchronously,
   * without a promise.
   */
  consume(
    name: RateClassName,
    caller: Pick<Caller, 'app_id'>,
    node: Node,
  ): Usage | undefined | Promise<Usage | undefined> {
    if (!this.#on) return undefined
    const windows = this.#windows.get(name) ?? []
    return takeAll(name, windows, 0, undefined, keyOf(rateClasses[name].key, caller, node), node)
  }

  /** Begins to count anew. */
  clear(): void {
    for (const windows of this.#windows.values()) for (const { permits } of windows) permits.clear()
  }
}

/** Takes a permit of each remaining window; returns the usage of the fullest. */
function takeAll(
  name: RateClassName,
  windows: readonly Window[],
  from: number,
  fullestSoFar: Usage | undefined,
  key: string,
  node: Node,
): Usage | undefined | Promise<Usage | undefined> {
  let fullest = fullestSoFar
  for (let index = from; index < windows.length; index++) {
    const { rate, permits } = windows[index] as Window
    const use = permits.take(key)
    if (use instanceof Promise) {
      return use.then((later) =>
        takeAll(name, windows, index + 1, fuller(fullest, judge(name, rate, later, node)), key, node),
      )
    }
    fullest = fuller(fullest, judge(name, rate, use, node))
  }
  return fullest
}

function fuller(fullest: Usage | undefined, usage: Usage): Usage {
  return !fullest || usage.percent > fullest.percent ? usage : fullest
}

function judge(name: RateClassName, rate: Rate, use: Use, node: Node): Usage {
  const usage = usageOf(name, rate, use)
  if (!use.isGranted) throw tooMany(usage, rate, use.milliseconds, node)
  return usage
}

function keyOf(key: RateKey, caller: Pick<Caller, 'app_id'>, node: Node): string {
  switch (key) {
    case 'app':
      return caller.app_id
    case 'node':
      return node.id
    case 'chat':
      throw new Error('what is counted by chat is counted by its chapter')
    case 'app_and_account':
      return `${caller.app_id}:${node.account_id ?? node.business_id}`
  }
}

function tooMany(usage: Usage, rate: Rate, milliseconds: number, node: Node): Error {
  const { sentence, error } = rateClasses[usage.name]
  const headers = usageHeaders(node, usage, usage)
  const { count, milliseconds: interval } = rate
  const seconds = milliseconds / 1000
  return error(
    { ...describeLimit(rate, sentence), interval: interval / count / 1000, seconds },
    { headers, limit: usage.name },
  )
}
