import type { Random } from '../base/keys/random.ts'
import type { Log } from '../base/log/log.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Database } from '../db/database.ts'
import { defineStatement } from '../db/statement.ts'
import type { Feed } from '../stream/feed.ts'
import {
  countFaultHit,
  type FaultEffect,
  type FaultMatch,
  type FaultRulesTable,
  isForCallbacks,
} from './fault-rules.ts'

/** Rates are taken to a millionth. */
const chances = 1_000_000

const findBusiness = defineStatement<{ account_id: string }>()((db, { account_id }) =>
  db.selectFrom('accounts').select('business_id').where('id', '=', account_id),
)

/** What a request or a post is, as far as rules ask. */
export type FaultSubject = Readonly<Record<keyof FaultMatch, string | undefined>>

export interface FaultHit {
  readonly effect: FaultEffect
  /** For the header of the response: `rule=0; effect=delay`. */
  readonly label: string
}

interface FaultDeps {
  readonly database: Database
  readonly random: Random
  readonly log: Log
  readonly clock: Clock
  /** Shows hits of posts as they happen; those of requests are shown with them. */
  readonly feed: Pick<Feed, 'hasListeners' | 'publish'>
}

/** A post that a rule may hit. */
export interface FaultyPost {
  readonly delivery_id: string
  readonly account_id: string
  readonly field: string
}

/** The rules by which requests, or posts to callbacks, go wrong on purpose. */
export class Faults {
  readonly #deps: FaultDeps
  #forRequests: readonly FaultRulesTable[] = []
  #forCallbacks: readonly FaultRulesTable[] = []
  /** Whether any request may go wrong: most of the time this is all that is asked. */
  areRequestsOn = false
  areCallbacksOn = false

  constructor(deps: FaultDeps) {
    this.#deps = deps
  }

  setRules(rules: readonly FaultRulesTable[]): void {
    this.#forRequests = rules.filter(({ rule }) => !isForCallbacks(rule))
    this.#forCallbacks = rules.filter(({ rule }) => isForCallbacks(rule))
    this.areRequestsOn = this.#forRequests.length > 0
    this.areCallbacksOn = this.#forCallbacks.length > 0
  }

  strikeRequest(subject: FaultSubject): Promise<FaultHit | undefined> {
    return this.#strike(this.#forRequests, subject, () => true)
  }

  /** `fits`: whether an effect can be had of this post. */
  async strikeCallback(
    subject: FaultSubject,
    post: FaultyPost,
    fits: (effect: FaultEffect) => boolean,
  ): Promise<FaultHit | undefined> {
    const hit = await this.#strike(this.#forCallbacks, subject, fits)
    if (hit && this.#deps.feed.hasListeners) await this.#publish(subject, post, hit.label)
    return hit
  }

  async #publish({ phone_number_id, app_id, callback }: FaultSubject, post: FaultyPost, fault: string): Promise<void> {
    const { database, feed, random, clock } = this.#deps
    const { account_id, ...data } = post
    // Operators who are limited to a business see only what is its.
    const account = await database.read.first(findBusiness, { account_id })
    feed.publish({
      id: `fault-${random.trace().slice(0, 16)}`,
      type: 'delivery',
      time: clock.now(),
      business_id: account?.business_id ?? null,
      account_id,
      phone_number_id: phone_number_id ?? null,
      trace: null,
      data: { ...data, app_id, callback_url: callback, fault },
    })
  }

  /** The first rule that matches, is drawn and has hits left. */
  async #strike(
    rules: readonly FaultRulesTable[],
    subject: FaultSubject,
    fits: (effect: FaultEffect) => boolean,
  ): Promise<FaultHit | undefined> {
    const { database, random, log } = this.#deps
    for (const { position, rule } of rules) {
      const { match, rate, times = Number.MAX_SAFE_INTEGER, effect } = rule
      if (!isMatch(match, subject) || !fits(effect)) continue
      if (rate < 1 && random.integer(0, chances) >= rate * chances) continue
      const counted = await database.transaction((tx) => tx.first(countFaultHit, { position, most: times }))
      if (!counted) continue
      const { door, operation, app_id: app, callback } = subject
      log.info({ rule: position, effect, door, operation, app, callback }, 'a fault rule was hit')
      return { effect, label: `rule=${position}; effect=${nameOf(effect)}` }
    }
    return undefined
  }
}

/** Its only member; `code` goes with `status`. */
function nameOf(effect: FaultEffect): string | undefined {
  return Object.keys(effect).find((name) => name !== 'code' && name !== 'subcode')
}

function isMatch({ callback, ...match }: FaultMatch, subject: FaultSubject): boolean {
  if (callback !== undefined && !subject.callback?.startsWith(callback)) return false
  return Object.entries(match).every(([name, value]) => subject[name as keyof FaultMatch] === value)
}
