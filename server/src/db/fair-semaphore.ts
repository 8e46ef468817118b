import { DatabaseBusy } from './database.ts'

export interface PlacesOptions {
  /** How many may run at once. */
  readonly places: number
  /** The longest wait for a place, in milliseconds. */
  readonly patience: number
  /** How many of one share may wait. */
  readonly maxWaiting: number
  /** The error of who waited in vain for so many milliseconds. */
  readonly explainWait: (message: string, milliseconds: number) => Promise<Error>
}

/** For work that everything else depends on: it may take the last place. */
export const limitsShare = 'limits'

interface Waiter {
  readonly enter: () => void
  readonly refuse: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

interface Share {
  held: number
  /** When it got its last place, as a count of places given. */
  served: number
  readonly waiting: Waiter[]
}

/**
 * Hands out places at the write connections, so that no app takes them all: an app whose writes wait for a lock delays only itself. A
 * share may hold up to twice as many places as it leaves free, and always leaves one for counting limits. A free place goes to the
 * share that holds the fewest, and among these to the one that waited longest.
 */
export class Places {
  readonly #options: PlacesOptions
  readonly #shares = new Map<string, Share>()
  #free: number
  #given = 0

  constructor(options: PlacesOptions) {
    this.#options = options
    this.#free = options.places
  }

  /** Resolves when the share has a place; the caller must release it with `leave`. */
  async enter(name: string): Promise<void> {
    let share = this.#shares.get(name)
    if (!share) {
      share = { held: 0, served: 0, waiting: [] }
      this.#shares.set(name, share)
    }
    if (share.waiting.length === 0 && this.#mayEnter(name, share)) {
      this.#take(share)
      return
    }
    await this.#wait(name, share)
  }

  leave(name: string): void {
    const share = this.#shares.get(name) as Share
    share.held -= 1
    this.#free += 1
    this.#forgetIdle(name, share)
    this.#admitNext()
  }

  #mayEnter(name: string, { held }: Share): boolean {
    const { places } = this.#options
    const kept = places >= 3 && name !== limitsShare ? 1 : 0
    const left = this.#free - kept
    return left > 0 && held < 2 * left && (held === 0 || held < places - 1)
  }

  #take(share: Share): void {
    share.held += 1
    share.served = ++this.#given
    this.#free -= 1
  }

  #wait(name: string, share: Share): Promise<void> {
    const { maxWaiting, patience, explainWait } = this.#options
    if (share.waiting.length >= maxWaiting) {
      throw new DatabaseBusy('crowded', `${maxWaiting} transactions of one share wait already`)
    }
    return new Promise((enter, refuse) => {
      const timer = setTimeout(() => {
        share.waiting.splice(share.waiting.indexOf(waiter), 1)
        this.#forgetIdle(name, share)
        const message = `no connection became free for a transaction within ${patience} ms`
        explainWait(message, patience).then(refuse, refuse)
      }, patience)
      const waiter: Waiter = { enter, refuse, timer }
      share.waiting.push(waiter)
    })
  }

  #forgetIdle(name: string, { held, waiting }: Share): void {
    if (held === 0 && waiting.length === 0) this.#shares.delete(name)
  }

  #admitNext(): void {
    let next: Share | undefined
    for (const [name, share] of this.#shares) {
      if (share.waiting.length === 0 || !this.#mayEnter(name, share)) continue
      if (!next || share.held < next.held || (share.held === next.held && share.served < next.served)) next = share
    }
    const waiter = next?.waiting.shift()
    if (!next || !waiter) return
    clearTimeout(waiter.timer)
    this.#take(next)
    waiter.enter()
  }
}
