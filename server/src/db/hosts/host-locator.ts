import { setTimeout as wait } from 'node:timers/promises'
import { type Host, writeHost } from './database-url.ts'

/** How long a host may be silent before the next one of the list is checked as well. */
const headStart = 250
/** How long until a host that was not the right one is checked again, while another one is still silent. */
const recheckAfter = 250
/** How long a search that found none counts: whoever needs a connection meanwhile gets its result. */
const failureKept = 250
const closed = 'the database is closed'

/** A host that responds, and does not take writes. */
export class TakesNoWrites extends Error {
  constructor() {
    super('it is a standby, or read-only')
  }
}

/** Why no host will do, with the reason of each. */
export class NoSuitableHost extends Error {
  /** Whether one of them responded. */
  readonly isReadOnly: boolean

  constructor(failures: ReadonlyMap<Host, unknown>) {
    super([...failures].map(([host, failure]) => `${writeHost(host)}: ${describe(failure)}`).join('; '))
    this.isReadOnly = [...failures.values()].some((failure) => failure instanceof TakesNoWrites)
  }
}

export interface HostLocatorOptions {
  readonly hosts: readonly Host[]
  /** Rejects where the host is not one that takes writes. It takes a few seconds at most, and ends when it is aborted. */
  readonly check: (host: Host, signal: AbortSignal) => Promise<void>
  /** Called after each search that found one. */
  readonly onFound: (host: Host) => void
}

/**
 * Knows which host takes writes, and searches for it when that is in question. The hosts are checked in the order of the list, so that
 * all processes choose the same; but one that is silent delays the next only for a moment, and nobody a second time.
 */
export class HostLocator {
  readonly #options: HostLocatorOptions
  readonly #closing = new AbortController()
  #current: Host | undefined
  #searching: Promise<Host> | undefined

  constructor(options: HostLocatorOptions) {
    this.#options = options
  }

  /** The host that took writes when it was last looked at; rejects with NoSuitableHost, or where there is one with its reason. */
  async find(): Promise<Host> {
    if (this.#closing.signal.aborted) throw new Error(closed)
    return this.#current ?? (await this.#searchOnce())
  }

  /** The next connection searches again. A host that is not the current one changes nothing. */
  invalidate(host = this.#current): void {
    if (host === this.#current) this.#current = undefined
  }

  close(): void {
    this.#closing.abort()
  }

  /** One search for all who wait for its result. */
  #searchOnce(): Promise<Host> {
    if (this.#searching) return this.#searching
    const searching = this.#search()
    const forget = () => {
      this.#searching = undefined
    }
    this.#searching = searching
    searching.then(
      (host) => {
        this.#current = host
        forget()
        this.#options.onFound(host)
      },
      () => setTimeout(forget, failureKept).unref(),
    )
    return searching
  }

  async #search(): Promise<Host> {
    const { hosts, check } = this.#options
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, this.#closing.signal])
    const failures = new Map<Host, unknown>()
    const { promise, resolve, reject } = Promise.withResolvers<Host>()
    const checkOnce = async (host: Host) => {
      try {
        await check(host, signal)
        resolve(host)
      } catch (error) {
        failures.set(host, error)
        if (failures.size === hosts.length) reject(hosts.length === 1 ? error : new NoSuitableHost(failures))
      }
    }
    // Where a host is silent, another one may become the right one meanwhile.
    const checkAgain = async (host: Host) => {
      while (await pause(recheckAfter, signal)) await checkOnce(host)
    }
    const checkAll = async () => {
      for (const host of hosts) {
        const checked = checkOnce(host)
        void checked.then(() => checkAgain(host))
        await Promise.race([checked, pause(headStart, signal)])
        if (signal.aborted) return
      }
    }
    this.#closing.signal.addEventListener('abort', () => reject(new Error(closed)), {
      signal: over.signal,
    })
    void checkAll()
    try {
      return await promise
    } finally {
      over.abort()
    }
  }
}

/** Whether it was not aborted meanwhile. */
function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return wait(milliseconds, true, { ref: false, signal }).catch(() => false)
}

/** A refused connection to a name with several addresses is an AggregateError with an empty message. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  return error instanceof Error ? error.message : String(error)
}
