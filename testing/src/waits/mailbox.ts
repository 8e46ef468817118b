import { NothingCame } from './filters.ts'
import { runLater } from './real-time.ts'

interface Waiter<T> {
  readonly wanted: Wanted<T>
  readonly resolve: (item: T) => void
  readonly reject: (error: unknown) => void
  /** It is not waited for any more. */
  readonly abandon: () => void
  /** The line of the test, which a timer's stack does not have. */
  readonly stack: string
}

/** A wait that was under way when its test ended. */
export interface Abandoned {
  readonly text: string
  readonly stack: string
}

/** What is waited for. */
export interface Wanted<T> {
  /** In words, without an article: `message { text: /Hi/ } to 16505551234`. */
  readonly what: string
  readonly fits: (item: T) => boolean
  /** Whether the members of an item are shown as well, because the filter may look at any of them. */
  readonly showsAll?: boolean
}

/** How the errors of waits are written. */
export interface Describer<T> {
  /** An item in one line; all of it, or what matters. */
  describe(item: T, all: boolean): string
  /** What else may be the reason, in lines. */
  explain(): Promise<string[]>
}

/** Less than the 5 s that Jest and Vitest give a test, so that a test fails with the error of the wait. */
export const usualTimeout = 4_000
/** How much of what came is shown. */
const shownItems = 8

/** What came, in order. Each is given once to whoever waits for it, so that waiting twice gives the second one. */
export class Mailbox<T> {
  readonly all: T[] = []
  readonly #describer: Describer<T>
  #fresh: T[] = []
  #waiters: Waiter<T>[] = []
  #failure: unknown

  constructor(describer: Describer<T>) {
    this.#describer = describer
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
      return waiter.wanted.fits(item)
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

  /** Ends the waits under way, whose promises stay as they are: nobody looks at them. Gives what each waited for, and what came instead. */
  async abandon(): Promise<Abandoned[]> {
    const waiters = this.#waiters.splice(0)
    for (const waiter of waiters) waiter.abandon()
    if (waiters.length === 0) return []
    const reasons = await this.#describer.explain()
    return waiters.map(({ wanted, stack }) => {
      const lines = [`no ${wanted.what} had come when the test ended.`, ...this.#listItems(wanted), ...reasons]
      return { text: lines.join('\n'), stack }
    })
  }

  /** The first that fits and was not given before, now or as soon as it comes. */
  take(wanted: Wanted<T>, timeout = usualTimeout): Promise<T> {
    const { promise, cancel, stack } = this.watch(wanted, () => stop())
    let stop: () => void = () => undefined
    return new Promise((resolve, reject) => {
      stop = runLater(timeout, async () => {
        cancel()
        const error = new NothingCame(await this.#describeMissing(wanted, timeout))
        reject(placeError(error, stack))
      })
      promise.finally(stop).then(resolve, reject)
    })
  }

  /** Like `take`, without an end. */
  watch(
    wanted: Wanted<T>,
    abandon: () => void = () => undefined,
  ): { readonly promise: Promise<T>; readonly cancel: () => void; readonly stack: string } {
    const { stack = '' } = new Error('wait')
    const { promise, resolve, reject } = withResolvers<T>()
    const waiter: Waiter<T> = { wanted, resolve, reject, abandon, stack }
    const index = this.#fresh.findIndex(wanted.fits)
    if (index >= 0) resolve(this.#fresh.splice(index, 1)[0] as T)
    else if (this.#failure !== undefined) reject(this.#failure)
    else this.#waiters.push(waiter)
    return { promise, cancel: () => this.#remove(waiter), stack }
  }

  explain(): Promise<string[]> {
    return this.#describer.explain()
  }

  /** One item as the errors show it. */
  describe(item: T, all: boolean): string {
    return this.#describer.describe(item, all)
  }

  async #describeMissing(wanted: Wanted<T>, timeout: number): Promise<string> {
    const lines = [`no ${wanted.what} came within ${timeout} ms.`, ...this.#listItems(wanted)]
    return [...lines, ...(await this.#describer.explain())].join('\n')
  }

  #listItems({ showsAll = false }: Wanted<T>): string[] {
    if (this.all.length === 0) return ['Nothing came.']
    const shown = this.all.slice(-shownItems)
    const isAllShown = shown.length === this.all.length
    const title = isAllShown ? 'This came:' : `${this.all.length} came, the last ${shownItems}:`
    const lines = shown.map((item) => {
      const isFresh = this.#fresh.includes(item)
      return `  ${isFresh ? '-' : '✓'} ${this.#describer.describe(item, showsAll && isFresh)}`
    })
    const isAnyTaken = shown.some((item) => !this.#fresh.includes(item))
    return [title, ...lines, ...(isAnyTaken ? ['  (✓: an earlier wait has returned it)'] : [])]
  }
}

/** Gives an error the place where the wait began. */
export function placeError<E extends Error>(error: E, stack: string): E {
  error.stack = stack.replace('Error: wait', () => `${error.name}: ${error.message}`)
  return error
}

/** `Promise.withResolvers` is not there before Node 22. */
function withResolvers<T>() {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}
