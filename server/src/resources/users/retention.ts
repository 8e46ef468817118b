import type { Clock } from '../../base/clock.ts'
import { type ClockTrust, fullTrust } from '../../base/clock-trust.ts'
import { day, hour } from '../../base/duration.ts'
import type { Log } from '../../base/log.ts'
import { Loop } from '../../base/loop.ts'
import { rest, walkInSteps } from '../../base/walk.ts'
import type { Database, Transaction } from '../../db/database.ts'
import { callRemovals } from '../calls/public.ts'
import { listChatsAfter, removeIdleChats, stepSize, type WalkedChat } from './retention-store.ts'

/** All chats are walked through, and there may be millions. */
const sweepMilliseconds = 6 * hour

export interface ContactRules {
  /** How long messages are kept, in milliseconds, and so what is left of a contact besides them. */
  readonly messageKeep: number
  readonly serviceWindow: number
  /** In a sandbox users are phones that somebody has made, with their names. */
  readonly sandbox: boolean
}

export interface ContactRetentionDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly rules: ContactRules
  /** By default the clock is relied on. */
  readonly trust?: ClockTrust
}

/**
 * Removes what is left of users and numbers that have had nothing to do with each other for long: calls, requests to call, chats without
 * messages, and users without chats. In steps so small that nothing else has to wait for them.
 */
export class ContactRetention {
  readonly #deps: ContactRetentionDeps
  readonly #loop: Loop

  constructor(deps: ContactRetentionDeps) {
    this.#deps = deps
    this.#loop = new Loop({
      work: () => this.sweep(),
      pause: 0,
      every: sweepMilliseconds,
      onFailure: (error) => {
        if (!deps.database.outageOf(error)) deps.log.error({ err: error }, 'old calls and chats could not be swept')
      },
    })
  }

  start(): void {
    this.#loop.start()
    // Not only after hours: some are restarted more often.
    this.#loop.wakeIn(hour)
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
  }

  /** Removes everything that is old enough, unless the clock may be wrong. */
  async sweep(): Promise<void> {
    const { clock, rules } = this.#deps
    const now = clock.now()
    for (const remove of callRemovals) await this.#inSteps((tx) => remove(tx, now, rules.messageKeep))
    await this.#removeChats(now)
  }

  async #removeChats(now: number): Promise<void> {
    const { database, rules } = this.#deps
    // A day: what limits count, and how long a conversation is open.
    const times = { before: now - Math.max(rules.messageKeep, rules.serviceWindow, day), now }
    await walkInSteps<WalkedChat>({
      list: (after) => listChatsAfter(database.read, times, after),
      take: async (chats) => {
        const ids = chats.filter(({ is_idle }) => is_idle === 1).map(({ id }) => id)
        if (ids.length > 0)
          await database.transaction((tx) => removeIdleChats(tx, times, ids, rules.sandbox), { wipes: true })
      },
      size: stepSize,
      isStopped: () => this.#isStopped(),
    })
  }

  #isStopped(): boolean {
    const { trust = fullTrust } = this.#deps
    return this.#loop.isStopped || !trust.mayDelete()
  }

  /** `step` returns whether there may be more. */
  async #inSteps(step: (tx: Transaction) => Promise<boolean>): Promise<void> {
    while (!this.#isStopped()) {
      const started = performance.now()
      // Calls hold names of users and what their phones sent.
      if (!(await this.#deps.database.transaction(step, { wipes: true }))) return
      await rest(started)
    }
  }
}
