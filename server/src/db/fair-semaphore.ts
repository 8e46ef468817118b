import { DatabaseBusy } from './database.ts'

export interface FairSemaphoreOptions {
  /** How many may run at once. */
  readonly slots: number
  /** The longest wait for a slot, in milliseconds. */
  readonly timeoutMs: number
  /** How many may wait with one fairness key. */
  readonly maxWaiting: number
  /** The error of who waited in vain for so many milliseconds. */
  readonly classifyTimeout: (message: string, milliseconds: number) => Promise<Error>
}

/** The fairness key of work that everything else depends on: it may take the last slot. */
export const limitsFairnessKey = 'limits'

interface Waiter {
  readonly acquire: () => void
  readonly refuse: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

interface Holder {
  held: number
  /** When it got its last slot, as a count of slots given. */
  served: number
  readonly waiting: Waiter[]
}

/**
 * Hands out slots at the write connections, so that no app takes them all: an app whose writes wait for a lock delays only itself. A
 * fairness key may hold up to twice as many slots as it leaves free, and always leaves one for counting limits. A free slot goes to
 * the key that holds the fewest, and among these to the one that waited longest.
 */
export class FairSemaphore {
  readonly #options: FairSemaphoreOptions
  readonly #holders = new Map<string, Holder>()
  #free: number
  #given = 0

  constructor(options: FairSemaphoreOptions) {
    this.#options = options
    this.#free = options.slots
  }

  /** Resolves when the key has a slot; the caller must give it back with `release`. */
  async acquire(fairnessKey: string): Promise<void> {
    let holder = this.#holders.get(fairnessKey)
    if (!holder) {
      holder = { held: 0, served: 0, waiting: [] }
      this.#holders.set(fairnessKey, holder)
    }
    if (holder.waiting.length === 0 && this.#mayAcquire(fairnessKey, holder)) {
      this.#take(holder)
      return
    }
    await this.#wait(fairnessKey, holder)
  }

  /** How many wait for a slot, of all keys. */
  get waiting(): number {
    let count = 0
    for (const { waiting } of this.#holders.values()) count += waiting.length
    return count
  }

  release(fairnessKey: string): void {
    const holder = this.#holders.get(fairnessKey) as Holder
    holder.held -= 1
    this.#free += 1
    this.#forgetIdle(fairnessKey, holder)
    this.#admitNext()
  }

  #mayAcquire(fairnessKey: string, { held }: Holder): boolean {
    const { slots } = this.#options
    const kept = slots >= 3 && fairnessKey !== limitsFairnessKey ? 1 : 0
    const left = this.#free - kept
    return left > 0 && held < 2 * left && (held === 0 || held < slots - 1)
  }

  #take(holder: Holder): void {
    holder.held += 1
    holder.served = ++this.#given
    this.#free -= 1
  }

  #wait(fairnessKey: string, holder: Holder): Promise<void> {
    const { maxWaiting, timeoutMs, classifyTimeout } = this.#options
    if (holder.waiting.length >= maxWaiting) {
      throw new DatabaseBusy('crowded', `${maxWaiting} transactions of one app wait already`)
    }
    return new Promise((acquire, refuse) => {
      const timer = setTimeout(() => {
        holder.waiting.splice(holder.waiting.indexOf(waiter), 1)
        this.#forgetIdle(fairnessKey, holder)
        const message = `no connection became free for a transaction within ${timeoutMs} ms`
        classifyTimeout(message, timeoutMs).then(refuse, refuse)
      }, timeoutMs)
      const waiter: Waiter = { acquire, refuse, timer }
      holder.waiting.push(waiter)
    })
  }

  #forgetIdle(fairnessKey: string, { held, waiting }: Holder): void {
    if (held === 0 && waiting.length === 0) this.#holders.delete(fairnessKey)
  }

  #admitNext(): void {
    let next: Holder | undefined
    for (const [fairnessKey, holder] of this.#holders) {
      if (holder.waiting.length === 0 || !this.#mayAcquire(fairnessKey, holder)) continue
      if (!next || holder.held < next.held || (holder.held === next.held && holder.served < next.served)) next = holder
    }
    const waiter = next?.waiting.shift()
    if (!next || !waiter) return
    clearTimeout(waiter.timer)
    this.#take(next)
    waiter.acquire()
  }
}
