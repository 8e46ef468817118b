import { sql } from 'kysely'
import type { Transaction } from '../db/database.ts'
import { lockFreeRowsOf } from '../db/row-locks.ts'
import { defineSql } from '../db/statement.ts'

const deleteExpired = defineSql<{ before: number; limit: number }>()(
  ({ before, limit }) => sql<{ hash: string }>`
    DELETE FROM sign_up_codes WHERE hash IN (
      SELECT c.hash FROM sign_up_codes c WHERE c.expires_time <= ${before}
      ORDER BY c.expires_time LIMIT ${limit} ${lockFreeRowsOf('c', 'ForUpdate')}
    ) RETURNING hash`,
)

/** Removes some codes of the sign-up that expired before a time, and returns how many. */
export async function removeExpiredCodes(tx: Transaction, before: number, limit: number): Promise<number> {
  return (await tx.list(deleteExpired, { before, limit })).length
}
