import { leaseHorizon } from '../base/time/lease.ts'
import type { CountedWindow, Counters, Database, TakenPermits } from './database.ts'
import { limitsFairnessKey } from './fair-semaphore.ts'
import { defineStatement } from './statement.ts'

const take = defineStatement<{ key: string; permits: number; now: number; horizon: number; end_time: number }>()(
  (db, { key, permits, now, horizon, end_time }) =>
    db
      .insertInto('rate_windows')
      .values({ key, taken: permits, end_time })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet(({ eb, ref, or }) => {
          const isOver = or([
            eb('rate_windows.end_time', '<=', now),
            // Written before the clock was set back.
            eb('rate_windows.end_time', '>', horizon),
          ])
          return {
            taken: eb
              .case()
              .when(isOver)
              .then(ref('excluded.taken'))
              .else(eb('rate_windows.taken', '+', ref('excluded.taken')))
              .end(),
            end_time: eb.case().when(isOver).then(ref('excluded.end_time')).else(ref('rate_windows.end_time')).end(),
          }
        }),
      )
      .returning(['taken', 'end_time']),
)

/** Expired windows are removed after so many calls, and so many at once: more than can have been added meanwhile. */
const takesBetweenSweeps = 500
const sweepSize = 2 * takesBetweenSweeps

/** Counters in the store. */
export class StoredCounters implements Counters {
  readonly #transaction: Database['transaction']
  #takes = 0

  constructor(transaction: Database['transaction']) {
    this.#transaction = transaction
  }

  async take({ key, milliseconds }: CountedWindow, permits: number, now: number): Promise<TakenPermits> {
    const horizon = leaseHorizon(now, milliseconds)
    const taken = await this.#transaction(
      (tx) => tx.first(take, { key, permits, now, horizon, end_time: now + milliseconds }),
      { fairnessKey: limitsFairnessKey },
    )
    if (!taken) throw new Error(`nothing was counted for ${key}`)
    this.#takes += 1
    if (this.#takes % takesBetweenSweeps === 0) void this.#sweep(now)
    return taken
  }

  clear(): void {
    // Nothing is counted in memory.
  }

  async #sweep(now: number): Promise<void> {
    const removed = this.#transaction(
      async ({ query }) => {
        const over = query.selectFrom('rate_windows').select('key').where('end_time', '<=', now).limit(sweepSize)
        await query.deleteFrom('rate_windows').where('key', 'in', over.forUpdate().skipLocked()).execute()
      },
      { fairnessKey: limitsFairnessKey },
    )
    // Callers that need the store report its faults; the next sweep removes more.
    await removed.catch(() => undefined)
  }
}

/** Counters of one process, in memory. */
export class OwnCounters implements Counters {
  readonly #windows = new Map<string, TakenPermits>()
  #sweepAt = sweepSize

  take({ key, milliseconds }: CountedWindow, permits: number, now: number): TakenPermits {
    const known = this.#windows.get(key)
    const lasts = known && known.end_time > now && known.end_time <= leaseHorizon(now, milliseconds)
    const window = lasts
      ? { taken: known.taken + permits, end_time: known.end_time }
      : { taken: permits, end_time: now + milliseconds }
    this.#windows.set(key, window)
    if (this.#windows.size >= this.#sweepAt) this.#sweep(now)
    return window
  }

  clear(): void {
    this.#windows.clear()
  }

  #sweep(now: number): void {
    for (const [key, { end_time }] of this.#windows) if (end_time <= now) this.#windows.delete(key)
    this.#sweepAt = 2 * this.#windows.size + sweepSize
  }
}
