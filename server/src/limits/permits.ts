import type { Clock } from '../base/time/clock.ts'
import { isLeaseOver } from '../base/time/lease.ts'
import type { Counters, TakenPermits } from '../db/database.ts'
import type { Rate } from './classes.ts'

/** The result of one call: whether it got a permit, how many are used in total, and how long the window lasts. */
export interface Use {
  readonly isGranted: boolean
  readonly used: number
  readonly milliseconds: number
}

export interface PermitsOptions {
  /** The key prefix of the stored window. */
  readonly name: string
  readonly rate: Rate
  readonly counters: Pick<Counters, 'take'>
  readonly clock: Clock
  /** Whether an error means that nothing can be stored at the moment: then this process counts for itself. */
  readonly isUnwritable: (error: unknown) => boolean
}

/** The largest block: this part of a window, and never more than so many permits. */
const blocksInWindow = 100
const maxBlock = 10_000
/** How many windows a process keeps in memory; beyond that the oldest are forgotten with the rest of their blocks. */
const maxWindows = 50_000

interface Window {
  end_time: number
  taken: number
  /** Unused permits of the block. */
  left: number
  readonly waiting: { readonly resolve: (use: Use) => void; readonly reject: (error: unknown) => void }[]
}

/**
 * The permits of one rate, by key. A process takes them in blocks and counts down by itself, so that most calls need no store access;
 * a limit below 200 is taken one by one, and is always exact. All processes together never grant more than the limit; a process that
 * dies wastes its block.
 */
export class Permits {
  readonly #options: PermitsOptions
  readonly #block: number
  readonly #windows = new Map<string, Window>()

  constructor(options: PermitsOptions) {
    this.#options = options
    this.#block = Math.min(maxBlock, Math.max(1, Math.floor(options.rate.count / blocksInWindow)))
  }

  /** One permit. Synchronous when one is in hand, or when none is known to be left. */
  take(key: string): Use | Promise<Use> {
    const { rate, clock } = this.#options
    const now = clock.now()
    const window = this.#windows.get(key) ?? this.#begin(key, now)
    if (isLeaseOver(window.end_time, now, rate.milliseconds)) {
      window.left = 0
      window.taken = 0
    } else if (window.waiting.length === 0) {
      if (window.left > 0) {
        window.left -= 1
        return this.#describe(window, true, now)
      }
      if (window.taken >= rate.count) return this.#describe(window, false, now)
    }
    return new Promise<Use>((resolve, reject) => {
      window.waiting.push({ resolve, reject })
      if (window.waiting.length === 1) void this.#serve(key, window)
    })
  }

  /** Forgets every window, with the rest of its block. */
  clear(): void {
    for (const [key, { waiting }] of this.#windows) if (waiting.length === 0) this.#windows.delete(key)
  }

  #describe({ taken, left, end_time }: Window, isGranted: boolean, now: number): Use {
    return { isGranted, used: Math.min(taken, this.#options.rate.count) - left, milliseconds: end_time - now }
  }

  /** Takes blocks for the waiting calls, one after the other, until each has its permit or none is left. */
  async #serve(key: string, window: Window): Promise<void> {
    const { rate, clock } = this.#options
    while (window.waiting.length > 0) {
      const wanted = Math.min(rate.count, Math.max(this.#block, window.waiting.length))
      try {
        const { taken, end_time } = await this.#takeBlock(key, window, wanted)
        window.left = Math.max(0, wanted - Math.max(0, taken - rate.count))
        window.taken = taken
        window.end_time = end_time
      } catch (error) {
        for (const { reject } of window.waiting.splice(0)) reject(error)
        return
      }
      const now = clock.now()
      while (window.left > 0 && window.waiting.length > 0) {
        window.left -= 1
        window.waiting.shift()?.resolve(this.#describe(window, true, now))
      }
      if (window.taken < rate.count) continue
      for (const { resolve } of window.waiting.splice(0)) resolve(this.#describe(window, false, now))
    }
  }

  async #takeBlock(key: string, window: Window, wanted: number): Promise<TakenPermits> {
    const { name, rate, counters, clock, isUnwritable } = this.#options
    const { milliseconds } = rate
    const now = clock.now()
    try {
      return await counters.take({ key: `${name}:${milliseconds}:${key}`, milliseconds }, wanted, now)
    } catch (error) {
      if (!isUnwritable(error)) throw error
      const lasts = !isLeaseOver(window.end_time, now, milliseconds)
      return {
        taken: (lasts ? window.taken : 0) + wanted,
        end_time: lasts ? window.end_time : now + milliseconds,
      }
    }
  }

  #begin(key: string, now: number): Window {
    if (this.#windows.size >= maxWindows) this.#forget(now)
    const window: Window = { end_time: 0, taken: 0, left: 0, waiting: [] }
    this.#windows.set(key, window)
    return window
  }

  /** Removes expired windows, or else the oldest tenth. */
  #forget(now: number): void {
    for (const [key, { end_time, waiting }] of this.#windows) {
      if (end_time <= now && waiting.length === 0) this.#windows.delete(key)
    }
    let left = this.#windows.size - 0.9 * maxWindows
    for (const [key, { waiting }] of this.#windows) {
      if (left-- <= 0) return
      if (waiting.length === 0) this.#windows.delete(key)
    }
  }
}
