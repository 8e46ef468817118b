import { resolveNode } from '../auth/access.ts'
import { authenticate } from '../auth/bearer.ts'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../db/database.ts'
import type { Caller } from '../graph/caller.ts'
import { GraphError } from '../graph/errors.ts'

/** What worlds/demo.yaml calls them. */
export const demoTokens = { owner: 'demo-token', partner: 'demo-partner-token', gateway: 'demo-gateway-token' } as const
export const demoNumber = '4000000000000001'

/**
 * Who the demo token is, where it is good and sees the demo number; undefined where the store is another one. A store that
 * knows this token is open to everybody who has read the README, so what it shows without a token is no secret.
 */
export async function findDemoCaller(db: Db, clock: Clock): Promise<Caller | undefined> {
  try {
    const caller = await authenticate(db, clock, `Bearer ${demoTokens.owner}`)
    await resolveNode(db, caller, demoNumber)
    return caller
  } catch (error) {
    if (error instanceof GraphError) return undefined
    throw error
  }
}
