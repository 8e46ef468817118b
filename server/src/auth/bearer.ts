import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Clock } from '../base/time/clock.ts'
import type { CacheName, Database, Db } from '../db/database.ts'
import type { Caller } from '../graph/caller.ts'
import { demoTokenFromElsewhere, invalidToken, missingToken, tokenExpired, tokenRevoked } from '../graph/errors.ts'
import type { GraphError } from '../graph/graph-error.ts'
import type { GuessWatch } from '../graph/ports.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import { isDemoToken } from './demo.ts'
import { readSessionSecret } from './sessions.ts'
import { type FoundToken, findCaller, findCallerById, wasRevoked } from './tokens.ts'

/** Clients of the resumable upload send `OAuth` instead of `Bearer`. */
const bearerPattern = /^(?:bearer|oauth) +(\S+) *$/i

export interface KnownToken extends FoundToken {
  readonly isDemo: boolean
}

/** Callers by the text of their header, so that a repeated header is not hashed again. */
const knownTokens: CacheName<KnownToken> = { name: 'tokens' }
/** White space alone can make a header with the same token arbitrarily long. */
export const maxKnownCharacters = 512

/** Counts callers of whom nothing is known, and refuses an address with too many. */
interface StrangerLimit {
  take(address: string): void
}

export interface AuthenticationDeps {
  readonly database: Pick<Database, 'read'>
  readonly clock: Clock
  readonly vocabulary: Vocabulary
  readonly guesses: GuessWatch
  readonly strangerLimit: StrangerLimit
  /** Whether the service is reached over https. */
  readonly isSecure: boolean
  /** Whether a caller may use the publicly known secrets of the demo world. */
  readonly mayUseDemo: (request: IncomingMessage) => boolean
}

/** A request with the data that identifies its caller. */
export interface CredentialSource {
  readonly raw: IncomingMessage
  readonly headers: IncomingHttpHeaders
  readonly query: Readonly<Record<string, unknown>>
  readonly remote_address: string
}

/** Identifies the caller. The token is looked up at every request, so that every process refuses a revoked one at once. */
export function authenticate(deps: AuthenticationDeps, source: CredentialSource): Caller | Promise<Caller> {
  return recallCaller(deps, source) ?? findToken(deps, source, findCaller).then(({ caller }) => caller)
}

/** The caller, if cached; undefined when the token must be looked up. */
export function recallCaller(deps: AuthenticationDeps, source: CredentialSource): Caller | undefined {
  const { authorization } = source.headers
  const known = authorization ? deps.database.read.cached(knownTokens)?.get(authorization) : undefined
  return known && checkKnown(deps, source, known)
}

/** Refuses a token that has expired since it was found, or that may not be used from where the request comes. */
export function checkKnown(deps: AuthenticationDeps, source: CredentialSource, known: KnownToken): Caller {
  if (known.isDemo) checkDemo(deps, source)
  if (hasEnded(known, deps.clock)) throw expired(deps)
  return known.caller
}

/** The token of a request, to be checked again at its next use. */
export async function findKnown(deps: AuthenticationDeps, source: CredentialSource): Promise<KnownToken> {
  const { caller, expires_time } = await findToken(deps, source, findCaller)
  return { caller, expires_time, isDemo: isDemoToken(readSecret(deps, source)) }
}

/** Looks up the token of a request with `find`, and refuses an invalid one. */
export async function findToken<Found extends FoundToken>(
  deps: AuthenticationDeps,
  source: CredentialSource,
  find: (db: Db, secret: string) => Promise<Found | undefined>,
): Promise<Found> {
  const { guesses, clock } = deps
  const { remote_address, headers } = source
  const db = deps.database.read
  const known = db.cached(knownTokens)
  const secret = readSecret(deps, source)
  guesses.refuse(remote_address, secret)
  const isDemo = isDemoToken(secret)
  if (isDemo) checkDemo(deps, source)
  const token = await find(db, secret)
  if (!token || hasEnded(token, clock)) {
    guesses.noteWrong(remote_address, { secret })
    if (token) throw expired(deps)
    throw deps.vocabulary.habits.token_ends_told && (await wasRevoked(db, secret)) ? tokenRevoked() : invalidToken()
  }
  guesses.noteGood(secret)
  const { authorization } = headers
  if (known && authorization && authorization.length <= maxKnownCharacters) {
    const { caller, expires_time } = token
    known.set(authorization, { caller, expires_time, isDemo })
  }
  return token
}

function expired({ vocabulary }: AuthenticationDeps): GraphError {
  return vocabulary.habits.token_ends_told ? tokenExpired() : invalidToken()
}

/** The caller as of now: the token may have been revoked or changed since. */
export async function authenticateAgain(db: Db, clock: Clock, { token_id }: Caller): Promise<Caller> {
  const token = await findCallerById(db, token_id)
  if (!token || hasEnded(token, clock)) throw invalidToken()
  return token.caller
}

/** The same error whether or not the store knows the token, which is public. */
function checkDemo({ mayUseDemo, guesses }: AuthenticationDeps, { raw, remote_address }: CredentialSource): void {
  if (mayUseDemo(raw)) return
  guesses.noteWrong(remote_address)
  throw demoTokenFromElsewhere()
}

export function hasEnded({ expires_time }: FoundToken, clock: Clock): boolean {
  return expires_time !== null && expires_time <= clock.now()
}

/** From the header, from the argument `access_token` if the vocabulary has it, or from the cookie of the console. */
export function readSecret(
  deps: AuthenticationDeps,
  { raw, headers, query, remote_address }: CredentialSource,
): string {
  const { vocabulary, strangerLimit, isSecure } = deps
  const { authorization } = headers
  const { access_token } = query
  const fromQuery = vocabulary.habits.token_in_query && typeof access_token === 'string' ? access_token : undefined
  const secret = authorization
    ? bearerPattern.exec(authorization)?.[1]
    : (fromQuery ?? readSessionSecret(raw.method, headers, isSecure))
  if (secret === undefined || secret === '') {
    strangerLimit.take(remote_address)
    throw missingToken()
  }
  return secret
}
