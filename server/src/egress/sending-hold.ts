import type { Log } from '../base/log/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { second } from '../base/time/duration.ts'
import { Loop } from '../base/work/loop.ts'
import type { Database } from '../db/database.ts'
import { readSendingHold, type StoredHold } from './sending-hold-store.ts'

/** Polled, because a process behind a transaction pooler gets no notifications. */
const pollMilliseconds = 2 * second

export interface SendingHoldDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
}

/**
 * Whether an operator holds what the service would send by itself: webhooks, codes and fetches of links wait in the store while requests are
 * served. Until the store was read for the first time nothing is sent.
 */
export class SendingHold {
  readonly #deps: SendingHoldDeps
  readonly #polls: Loop
  /** Null: it was never held. Undefined: it was not read yet. */
  #stored: StoredHold | null | undefined
  #onReleased: () => void = () => undefined

  constructor(deps: SendingHoldDeps) {
    this.#deps = deps
    this.#polls = new Loop({
      work: () => this.#read(),
      pause: 0,
      every: pollMilliseconds,
      onFailure: (error) => {
        if (!deps.database.outageOf(error)) deps.log.error({ err: error }, 'whether sending is held could not be read')
      },
    })
  }

  readonly maySend = (): boolean => this.#stored !== undefined && this.heldSince === undefined

  /** Undefined: it is not held. */
  get heldSince(): number | undefined {
    return this.#stored?.released_time === null ? this.#stored.held_time : undefined
  }

  /** Calls `listener` when what was held may be sent. */
  onReleased(listener: () => void): void {
    this.#onReleased = listener
  }

  /**
   * For how long something is tried that is usually tried for `usual` milliseconds: the time during which it was held does not count. What was raised after
   * the hold may be tried for longer as well, until what waited has had its time.
   */
  extend(usual: number): number {
    if (!this.maySend()) return Number.POSITIVE_INFINITY
    const { held_time = 0, released_time: end } = this.#stored ?? {}
    const hasEnded = typeof end === 'number' && this.#deps.clock.now() < end + usual
    return hasEnded ? usual + end - held_time : usual
  }

  start(): void {
    this.#polls.start()
  }

  async check(): Promise<void> {
    this.#polls.wake()
    await this.#polls.settle()
  }

  async stop(): Promise<void> {
    await this.#polls.stop()
  }

  async #read(): Promise<void> {
    const { database, log } = this.#deps
    const mightSend = this.maySend()
    const [wasRead, wasHeld] = [this.#stored !== undefined, this.heldSince !== undefined]
    this.#stored = (await readSendingHold(database.read)) ?? null
    const since = this.heldSince
    if (since !== undefined && !wasHeld) {
      log.warn(
        { since: new Date(since).toISOString() },
        'sending is held: no webhook, code or fetch of a link leaves until an operator runs ./switchboard restored --release',
      )
    } else if (since === undefined && wasHeld) log.warn('sending was released: what waited is sent')
    if (wasRead && !mightSend && this.maySend()) this.#onReleased()
  }
}
