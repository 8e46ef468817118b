import { second } from '../base/time/duration.ts'
import type { Caller } from '../graph/caller.ts'
import {
  type AuthenticationDeps,
  type CredentialSource,
  checkKnown,
  findKnown,
  type KnownToken,
  maxKnownCharacters,
} from './bearer.ts'

/** For how long a caller counts as verified after a look-up: long enough that a busy caller costs few of them. */
const verifiedMilliseconds = second
/** Beyond so many callers everything is forgotten. */
const maxVerified = 1000

interface Verified {
  readonly token: KnownToken
  /** In milliseconds of this process. */
  readonly until: number
}

/**
 * Callers whose token was looked up just now. Only for requests that check it once more, either in the transaction that they write
 * in or before they are refused for another reason: then a revoked token is still refused at once, and a busy caller costs one look-up a
 * second and not one a request. The embedded store needs none of this: it says when something has changed.
 */
export class RecentlyVerifiedCallers {
  readonly #verified = new Map<string, Verified>()

  /** Throws for a token that has expired, or that may not be used from where the request comes. */
  recall(deps: AuthenticationDeps, source: CredentialSource): Caller | undefined {
    const { authorization } = source.headers
    const known = authorization === undefined ? undefined : this.#verified.get(authorization)
    if (!known || known.until <= performance.now()) return undefined
    return checkKnown(deps, source, known.token)
  }

  /** Looks the caller up; `check` throws for one that the door does not admit. */
  async find(deps: AuthenticationDeps, source: CredentialSource, check: (caller: Caller) => void): Promise<Caller> {
    const { authorization } = source.headers
    if (authorization !== undefined) this.#verified.delete(authorization)
    const token = await findKnown(deps, source)
    const { caller } = token
    check(caller)
    // A business gets further accounts: a token that is limited to businesses is looked up each time.
    const isKept = authorization !== undefined && authorization.length <= maxKnownCharacters
    if (isKept && caller.businesses === undefined) this.#note(authorization, token)
    return caller
  }

  #note(authorization: string, token: KnownToken): void {
    if (this.#verified.size >= maxVerified) this.#verified.clear()
    this.#verified.set(authorization, { token, until: performance.now() + verifiedMilliseconds })
  }
}
