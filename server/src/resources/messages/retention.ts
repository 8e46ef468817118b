import type { Clock } from '../../base/clock.ts'
import { type ClockTrust, fullTrust } from '../../base/clock-trust.ts'
import { second } from '../../base/duration.ts'
import type { Log } from '../../base/log.ts'
import { Loop } from '../../base/loop.ts'
import type { Random } from '../../base/random.ts'
import { rest, walkInSteps } from '../../base/walk.ts'
import type { Database, Transaction } from '../../db/database.ts'
import { emptyOldValues } from '../../delivery/empty-values.ts'
import { removeStreamEvents } from '../../stream/store.ts'
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

export interface MessageRetentionDeps {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly rules: KeepRules
  /** By default the clock is relied on. */
  readonly trust?: ClockTrust
}

/** Removes what is no longer kept of messages, in steps so small that nothing else has to wait for them. */
export class MessageRetention {
  readonly #deps: MessageRetentionDeps
  readonly #loop: Loop
  #hasRemoved = false

  constructor(deps: MessageRetentionDeps) {
    this.#deps = deps
    this.#loop = new Loop({
      work: () => this.sweep(),
      pause: 0,
      every: sweepMilliseconds,
      onFailure: (error) => {
        if (!deps.database.outageOf(error)) deps.log.error({ err: error }, 'old messages could not be swept')
      },
    })
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
  }

  /** Removes everything that is old enough, unless the clock may be wrong. */
  async sweep(): Promise<void> {
    if (this.#isStopped()) return
    const { database, clock, rules } = this.#deps
    const now = clock.now()
    const bodiesBefore = now - rules.messageBodyKeep
    const old = { before: now - rules.messageKeep, now }
    const contents =
      rules.messageBodyKeep === 0
        ? (after: KeptRow | undefined) => listContentsAfter(database.read, now, after)
        : (after: KeptRow | undefined) => listOldContents(database.read, bodiesBefore, after)
    await this.#inTurn([
      () => this.#removeOver(contents, sweepContents),
      () => this.#removeOver((after) => listMessagesAfter(database.read, old, after), sweepMessages),
      () => this.#inSteps((tx) => deleteKeys(tx, now - rules.idempotencyKeep)),
      () => this.#inSteps((tx) => removeStreamEvents(tx, now - rules.streamKeep)),
      () => this.#emptyValues(bodiesBefore),
    ])
    if (!this.#hasRemoved) return
    await database.emptyLog()
    this.#hasRemoved = false
  }

  /** Each part, whatever becomes of the others: what one of them meets must not keep everything else. */
  async #inTurn(parts: readonly (() => Promise<void>)[]): Promise<void> {
    const failures: Error[] = []
    for (const part of parts) {
      await part().catch((error: Error) => {
        if (this.#deps.database.outageOf(error) === 'unreachable') throw error
        failures.push(error)
      })
    }
    const [first] = failures
    if (first) throw first
  }

  async #emptyValues(before: number): Promise<void> {
    const { database, rules } = this.#deps
    // Otherwise the whole event goes first.
    if (rules.messageBodyKeep >= rules.webhookKeep) return
    const transaction = <T>(work: (tx: Transaction) => Promise<T>) => this.#wipe(work)
    await emptyOldValues({ read: database.read, transaction }, before, () => this.#isStopped())
  }

  #isStopped(): boolean {
    const { trust = fullTrust } = this.#deps
    return this.#loop.isStopped || !trust.mayDelete()
  }

  /** Nothing of what messages said stays in the file of an embedded store. */
  #wipe<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    this.#hasRemoved = true
    return this.#deps.database.transaction(work, { wipes: true })
  }

  /** `step` returns whether there may be more. */
  async #inSteps(step: (tx: Transaction) => Promise<boolean>): Promise<void> {
    while (!this.#isStopped()) {
      const started = performance.now()
      if (!(await this.#deps.database.transaction(step))) return
      await rest(started)
    }
  }

  /** Walks through rows, and removes those that are over. */
  async #removeOver(
    list: (after: KeptRow | undefined) => Promise<readonly KeptRow[]>,
    remove: (tx: Transaction, tools: MessageRetentionDeps, ids: readonly string[]) => Promise<unknown>,
  ): Promise<void> {
    await walkInSteps<KeptRow>({
      list,
      take: async (rows) => {
        const ids = rows.filter(({ is_over }) => is_over === 1).map(({ id }) => id)
        if (ids.length > 0) await this.#wipe((tx) => remove(tx, this.#deps, ids))
      },
      size: stepSize,
      isStopped: () => this.#isStopped(),
    })
  }
}
