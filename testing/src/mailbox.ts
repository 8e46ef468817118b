import { NothingCame } from './filters.ts'

interface Waiter<T> {
  readonly fits: (item: T) => boolean
  readonly resolve: (item: T) => void
  readonly reject: (error: unknown) => void
}

const usualTimeout = 5_000
/** No timer is longer: `Infinity` is as long as that. */
const longestTimeout = 2 ** 31 - 1
/** How much of what came instead is shown. */
const shownItems = 5

/** What came, in order. Each is given once to whoever waits for it, so that waiting twice gives the second one. */
export class Mailbox<T> {
  readonly all: T[] = []
  readonly #explain: () => string
  #fresh: T[] = []
  #waiters: Waiter<T>[] = []
  #failure: unknown

  /** `explain` adds to the error of a wait in vain what else may be its reason. */
  constructor(explain: () => string = () => '') {
    this.#explain = explain
  }

  add(item: T): void {
    this.all.push(item)
    const taker = this.#waiters.find((waiter) => this.#isFor(waiter, item))
    if (!taker) return void this.#fresh.push(item)
    this.#remove(taker)
    taker.resolve(item)
  }

  /** A filter that throws fails the wait that it is of, and no other. */
  #isFor(waiter: Waiter<T>, item: T): boolean {
    try {
      return waiter.fits(item)
    } catch (error) {
      this.#remove(waiter)
      waiter.reject(error)
      return false
    }
  }

  #remove(waiter: Waiter<T>): void {
    this.#waiters = this.#waiters.filter((one) => one !== waiter)
  }

  /** Whoever waits, now or later, gets the error. */
  fail(error: unknown): void {
    this.#failure = error
    for (const { reject } of this.#waiters.splice(0)) reject(error)
  }

  /** Forgets what came. */
  clear(): void {
    this.all.length = 0
    this.#fresh = []
    this.#failure = undefined
  }

  /** The first that fits and was not given before, now or as soon as it comes. */
  take(what: string, fits: (item: T) => boolean, timeout = usualTimeout): Promise<T> {
    const index = this.#fresh.findIndex(fits)
    if (index >= 0) return Promise.resolve(this.#fresh.splice(index, 1)[0] as T)
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    // A timer has no stack: the line of the test is known here alone.
    const { stack = '' } = new Error('wait')
    return new Promise((resolve, reject) => {
      const end = () => clearTimeout(timer)
      const waiter: Waiter<T> = {
        fits,
        resolve: (item) => {
          end()
          resolve(item)
        },
        reject: (error) => {
          end()
          reject(error)
        },
      }
      const timer = setTimeout(
        () => {
          this.#remove(waiter)
          const error = new NothingCame(
            `${what} did not come within ${timeout} ms. ${this.#describe()}${this.#explain()}`,
          )
          error.stack = stack.replace('Error: wait', () => `${error.name}: ${error.message}`)
          reject(error)
        },
        Math.min(timeout, longestTimeout),
      )
      this.#waiters.push(waiter)
    })
  }

  #describe(): string {
    if (this.#fresh.length === 0) return this.all.length === 0 ? 'Nothing came.' : 'Everything that came was taken.'
    const shown = this.#fresh.slice(-shownItems).map((item) => `\n  ${JSON.stringify(item)?.slice(0, 300)}`)
    return `Not taken so far:${shown.join('')}`
  }
}
