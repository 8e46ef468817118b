import type { Clock } from '../base/clock.ts'
import type { Db } from '../db/database.ts'
import type { Caller } from '../graph/caller.ts'
import { invalidToken, missingToken } from '../graph/errors.ts'
import { findCaller } from './tokens.ts'

/** Clients of the resumable upload say `OAuth` where the others say `Bearer`. */
const bearerPattern = /^(?:bearer|oauth) +(\S+) *$/i

/**
 * Tells who is calling. The token is looked up at every request, so that a revoked one is refused at once, by every process.
 * `fromQuery` is the `access_token` argument, where the vocabulary allows it.
 */
export async function authenticate(
  db: Db,
  clock: Clock,
  authorization: string | undefined,
  fromQuery?: string,
): Promise<Caller> {
  const token = await findCaller(db, readSecret(authorization, fromQuery))
  if (!token || (token.expires_time !== null && token.expires_time <= clock.now())) throw invalidToken()
  return token.caller
}

function readSecret(authorization: string | undefined, fromQuery: string | undefined): string {
  const secret = authorization ? bearerPattern.exec(authorization)?.[1] : fromQuery
  if (secret === undefined || secret === '') throw missingToken()
  return secret
}
