import type { Random } from '../../../base/keys/random.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { second } from '../../../base/time/duration.ts'
import type { Transaction } from '../../../db/database.ts'
import { emptyOldValues } from '../../../delivery/history/empty-values.ts'
import { removeStreamEvents } from '../../../stream/store.ts'
import { Sweeper, type SweeperDeps } from '../../../timers/sweeper.ts'
import {
  deleteKeys,
  type KeptRow,
  listContentsAfter,
  listMessagesAfter,
  listOldContents,
  stepSize,
  sweepContents,
  sweepMessages,
} from './retention-store.ts'

/** Contents that are not kept at all go within a minute, however long a sweep takes. */
const sweepMilliseconds = 20 * second

/** How long something is kept, in milliseconds. */
export interface KeepRules {
  readonly messageKeep: number
  /** 0: until the message is over. */
  readonly messageBodyKeep: number
  readonly idempotencyKeep: number
  readonly webhookKeep: number
  readonly streamKeep: number
}

export interface MessageRetentionDeps extends SweeperDeps {
  readonly clock: Clock
  readonly random: Random
  readonly rules: KeepRules
}

/** Removes what is no longer kept of messages. */
export class MessageRetention {
  readonly #deps: MessageRetentionDeps
  readonly #sweeper: Sweeper

  constructor(deps: MessageRetentionDeps) {
    this.#deps = deps
    this.#sweeper = new Sweeper(deps, {
      sweep: () => this.sweep(),
      every: sweepMilliseconds,
      failure: 'old messages could not be swept',
    })
  }

  start(): void {
    this.#sweeper.start()
  }

  async stop(): Promise<void> {
    await this.#sweeper.stop()
  }

  /** Removes everything that is old enough, unless the clock may be wrong. */
  async sweep(): Promise<void> {
    const { database, clock, rules } = this.#deps
    const now = clock.now()
    const bodiesBefore = now - rules.messageBodyKeep
    const old = { before: now - rules.messageKeep, now }
    const contents =
      rules.messageBodyKeep === 0
        ? (after: KeptRow | undefined) => listContentsAfter(database.read, now, after)
        : (after: KeptRow | undefined) => listOldContents(database.read, bodiesBefore, after)
    await this.#sweeper.run([
      () => this.#deleteExpired(contents, sweepContents),
      () => this.#deleteExpired((after) => listMessagesAfter(database.read, old, after), sweepMessages),
      () => this.#sweeper.inSteps((tx) => deleteKeys(tx, now - rules.idempotencyKeep)),
      () => this.#sweeper.inSteps((tx) => removeStreamEvents(tx, now - rules.streamKeep)),
      () => this.#emptyValues(bodiesBefore),
    ])
  }

  async #emptyValues(before: number): Promise<void> {
    const { database, rules } = this.#deps
    // Otherwise the whole event goes first.
    if (rules.messageBodyKeep >= rules.webhookKeep) return
    const transaction = <T>(work: (tx: Transaction) => Promise<T>) => this.#sweeper.wipe(work)
    await emptyOldValues({ read: database.read, transaction }, before, () => this.#sweeper.isStopped())
  }

  /** Walks through rows, and removes those that are over. */
  async #deleteExpired(
    list: (after: KeptRow | undefined) => Promise<readonly KeptRow[]>,
    remove: (tx: Transaction, tools: MessageRetentionDeps, ids: readonly string[]) => Promise<unknown>,
  ): Promise<void> {
    await this.#sweeper.walk<KeptRow>({
      list,
      take: async (rows) => {
        const ids = rows.filter(({ is_over }) => is_over === 1).map(({ id }) => id)
        if (ids.length > 0) await this.#sweeper.wipe((tx) => remove(tx, this.#deps, ids))
      },
      size: stepSize,
    })
  }
}
