import type { Clock } from '../base/clock.ts'
import type { Db, Memo } from '../db/database.ts'
import type { Caller } from '../graph/caller.ts'
import { invalidToken, missingToken } from '../graph/errors.ts'
import { type FoundToken, findCaller, findCallerById } from './tokens.ts'

/** Clients of the resumable upload say `OAuth` where the others say `Bearer`. */
const bearerPattern = /^(?:bearer|oauth) +(\S+) *$/i

/** By the header as it came: whoever sends the same one again is known without hashing it. */
const knownTokens: Memo<FoundToken> = { name: 'tokens' }
/** The same token can be sent in headers of any length, by its blanks alone. */
const maxKnownCharacters = 512

/**
 * Tells who is calling. The token is looked up at every request, so that a revoked one is refused at once, by every process.
 * `fromQuery` is the `access_token` argument, where the vocabulary allows it.
 */
export function authenticate(
  db: Db,
  clock: Clock,
  authorization: string | undefined,
  fromQuery?: string,
): Caller | Promise<Caller> {
  const known = authorization ? db.remembered(knownTokens)?.get(authorization) : undefined
  return known ? checkEnd(known, clock) : findToken(db, clock, authorization, fromQuery)
}

async function findToken(
  db: Db,
  clock: Clock,
  authorization: string | undefined,
  fromQuery: string | undefined,
): Promise<Caller> {
  const known = db.remembered(knownTokens)
  const token = await findCaller(db, readSecret(authorization, fromQuery))
  if (!token) throw invalidToken()
  if (authorization && authorization.length <= maxKnownCharacters) known?.set(authorization, token)
  return checkEnd(token, clock)
}

/** Who the caller is by now: the token that it came with may have been revoked, or allow other things. */
export async function authenticateAgain(db: Db, clock: Clock, { token_id }: Caller): Promise<Caller> {
  const token = await findCallerById(db, token_id)
  if (!token) throw invalidToken()
  return checkEnd(token, clock)
}

function checkEnd({ caller, expires_time }: FoundToken, clock: Clock): Caller {
  if (expires_time !== null && expires_time <= clock.now()) throw invalidToken()
  return caller
}

function readSecret(authorization: string | undefined, fromQuery: string | undefined): string {
  const secret = authorization ? bearerPattern.exec(authorization)?.[1] : fromQuery
  if (secret === undefined || secret === '') throw missingToken()
  return secret
}
