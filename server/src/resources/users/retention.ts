import type { Clock } from '../../base/time/clock.ts'
import { day, hour } from '../../base/time/duration.ts'
import { Sweeper, type SweeperDeps } from '../../timers/sweeper.ts'
import { callRemovals } from '../calls/public.ts'
import { listChatsAfter, removeIdleChats, stepSize, type WalkedChat } from './retention-store.ts'

/** All chats are walked through, and there may be millions. */
const sweepMilliseconds = 6 * hour

interface ContactRules {
  /** How long messages are kept, in milliseconds, and so what is left of a contact besides them. */
  readonly messageKeep: number
  readonly serviceWindow: number
  /** In a sandbox users are phones that somebody has made, with their names. */
  readonly sandbox: boolean
}

export interface ContactRetentionDeps extends SweeperDeps {
  readonly clock: Clock
  readonly rules: ContactRules
}

/**
 * Removes what is left of users and numbers that have had nothing to do with each other for long: calls, requests to call, chats without
 * messages, and users without chats.
 */
export class ContactRetention {
  readonly #deps: ContactRetentionDeps
  readonly #sweeper: Sweeper

  constructor(deps: ContactRetentionDeps) {
    this.#deps = deps
    this.#sweeper = new Sweeper(deps, {
      sweep: () => this.sweep(),
      every: sweepMilliseconds,
      failure: 'old calls and chats could not be swept',
    })
  }

  start(): void {
    this.#sweeper.start()
    // Not only after hours: some are restarted more often.
    this.#sweeper.wakeIn(hour)
  }

  async stop(): Promise<void> {
    await this.#sweeper.stop()
  }

  /** Removes everything that is old enough, unless the clock may be wrong. */
  async sweep(): Promise<void> {
    const { clock, rules } = this.#deps
    const now = clock.now()
    await this.#sweeper.run([
      ...callRemovals.map((remove) => () => this.#sweeper.inSteps((tx) => remove(tx, now, rules.messageKeep))),
      () => this.#removeChats(now),
    ])
  }

  async #removeChats(now: number): Promise<void> {
    const { database, rules } = this.#deps
    // A day: what limits count, and how long a conversation is open.
    const times = { before: now - Math.max(rules.messageKeep, rules.serviceWindow, day), now }
    await this.#sweeper.walk<WalkedChat>({
      list: (after) => listChatsAfter(database.read, times, after),
      take: async (chats) => {
        const ids = chats.filter(({ is_idle }) => is_idle === 1).map(({ id }) => id)
        if (ids.length > 0) await this.#sweeper.wipe((tx) => removeIdleChats(tx, times, ids, rules.sandbox))
      },
      size: stepSize,
    })
  }
}
