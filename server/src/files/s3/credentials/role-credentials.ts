import type { Log } from '../../../base/log/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { minute, second } from '../../../base/time/duration.ts'
import { FilesUnavailable } from '../../unavailable.ts'
import type { CredentialProvider, Credentials, RoleSource, TemporaryCredentials } from './credentials.ts'

/** How long before their end credentials are renewed. */
const renewBefore = 5 * minute
/** How long to wait after an attempt while the credentials at hand can still be used. */
const attemptAgainAfter = 30 * second

/**
 * The credentials of a role, cached. They are renewed by one request at a time, before they expire and without delaying anybody: only a
 * caller that finds none, or expired ones, waits for it.
 */
export class RoleCredentials implements CredentialProvider {
  readonly #source: RoleSource
  readonly #clock: Clock
  readonly #log: Log
  readonly #closing = new AbortController()
  #current: TemporaryCredentials | undefined
  #renewal: Promise<TemporaryCredentials> | undefined
  #attemptTime = -Infinity

  constructor(source: RoleSource, { clock, log }: { clock: Clock; log: Log }) {
    this.#source = source
    this.#clock = clock
    this.#log = log
  }

  async get(): Promise<Credentials> {
    const current = this.#current
    const now = this.#clock.now()
    if (!current || now >= current.expires) return this.#renew()
    if (now >= current.expires - renewBefore && this.#mayAttempt()) {
      this.#renew().catch((error: Error) => this.#reportFailure(current, error))
    }
    return current
  }

  async replace(refused: Credentials): Promise<Credentials | undefined> {
    if (this.#current && this.#current !== refused) return this.#current
    // Storage that refuses everything must not cause a request to the source for each of its own.
    return this.#renewal || this.#mayAttempt() ? this.#renew() : undefined
  }

  close(): void {
    this.#closing.abort()
  }

  #mayAttempt(): boolean {
    // The clock may also have been set back.
    return Math.abs(this.#clock.now() - this.#attemptTime) >= attemptAgainAfter
  }

  #renew(): Promise<TemporaryCredentials> {
    this.#renewal ??= this.#fetch().finally(() => {
      this.#renewal = undefined
    })
    return this.#renewal
  }

  async #fetch(): Promise<TemporaryCredentials> {
    this.#attemptTime = this.#clock.now()
    const { fetch, advice } = this.#source
    try {
      this.#current = await fetch(this.#closing.signal)
      return this.#current
    } catch (error) {
      if (!(error instanceof FilesUnavailable)) throw error
      const message = `there are no credentials for the object storage: ${error.message}; ${advice}`
      throw new FilesUnavailable(error.kind, message, error)
    }
  }

  #reportFailure({ expires }: TemporaryCredentials, error: Error): void {
    if (this.#closing.signal.aborted) return
    this.#log.warn(
      { source: this.#source.name, expires: new Date(expires).toISOString(), err: error.message },
      'the credentials for the object storage cannot be renewed; the old ones are used until they expire',
    )
  }
}
