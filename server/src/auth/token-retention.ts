import { sql } from 'kysely'
import type { Transaction } from '../db/database.ts'
import { lockFreeRowsOf } from '../db/row-locks.ts'
import { defineSql } from '../db/statement.ts'

/**
 * Without an expiry a revoked token stays: applying a world file that names its secret must not revive it. A session stays while a token
 * is there that it made, because revoking it revokes that; and a token while a replay runs that it began, which would stop.
 */
const deleteExpired = defineSql<{ before: number; limit: number }>()(
  ({ before, limit }) => sql<{ id: string }>`
    DELETE FROM tokens WHERE id IN (
      SELECT t.id FROM tokens t WHERE t.expires_time <= ${before} AND (t.revoked_time IS NULL OR t.revoked_time <= ${before})
        AND NOT EXISTS (SELECT 1 FROM tokens made WHERE made.made_by = t.id)
        AND NOT EXISTS (SELECT 1 FROM replays r WHERE r.token_id = t.id AND r.state = 'running')
      ORDER BY t.expires_time LIMIT ${limit} ${lockFreeRowsOf('t', 'ForUpdate')}
    ) RETURNING id`,
)

/** Removes some tokens and sessions of the console that ended before a time, and returns how many. */
export async function removeExpiredTokens(tx: Transaction, before: number, limit: number): Promise<number> {
  return (await tx.list(deleteExpired, { before, limit })).length
}
