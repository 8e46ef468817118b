import { resolveNode } from '../auth/access.ts'
import { hasEnded } from '../auth/bearer.ts'
import { demoTokens } from '../auth/demo.ts'
import { findCaller } from '../auth/tokens.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Db } from '../db/database.ts'
import type { Caller } from '../graph/caller.ts'
import { GraphError } from '../graph/graph-error.ts'

/** The number of worlds/demo.yaml in the examples. */
export const demoNumber = '4000000000000001'

/**
 * The caller of the demo token, if it is valid and sees the demo number; undefined for any other store. A store that accepts this
 * token is open to everybody who has read the README, so what it shows without a token is no secret.
 */
export async function findDemoCaller(db: Db, clock: Clock): Promise<Caller | undefined> {
  try {
    const token = await findCaller(db, demoTokens.owner)
    if (!token || hasEnded(token, clock)) return undefined
    await resolveNode(db, token.caller, demoNumber)
    return token.caller
  } catch (error) {
    if (error instanceof GraphError) return undefined
    throw error
  }
}
