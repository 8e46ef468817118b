import { sql } from 'kysely'
import type { Transaction } from '../../db/database.ts'
import { lockFreeRowsOf } from '../../db/row-locks.ts'
import { defineSql } from '../../db/statement.ts'
import { periodMilliseconds } from './permissions.ts'

/** How many rows one transaction removes: few enough that no write waits for long. */
const stepSize = 200

const deleteCalls = defineSql<{ before: number }>()(
  ({ before }) => sql<{ id: string }>`
    DELETE FROM calls WHERE id IN (
      SELECT c.id FROM calls c WHERE c.created_time <= ${before} AND c.state = 'ended' AND c.ended_time <= ${before}
      ORDER BY c.created_time LIMIT ${sql.lit(stepSize)} ${lockFreeRowsOf('c', 'ForUpdate')}
    ) RETURNING id`,
)
const deleteRequests = defineSql<{ before: number }>()(
  ({ before }) => sql<{ id: string }>`
    DELETE FROM call_permission_requests WHERE id IN (
      SELECT r.id FROM call_permission_requests r WHERE r.sent_time <= ${before}
      ORDER BY r.sent_time LIMIT ${sql.lit(stepSize)} ${lockFreeRowsOf('r', 'ForUpdate')}
    ) RETURNING id`,
)

/** Each removes some rows that are no longer kept after `keep` milliseconds, and returns how many. */
type Removal = (tx: Transaction, now: number, keep: number) => Promise<number>

/** Ended calls. One that counts towards the limit of a day stays for as long. */
const removeCalls: Removal = async (tx, now, keep) => {
  const before = now - Math.max(keep, periodMilliseconds['24h'])
  return (await tx.list(deleteCalls, { before })).length
}

/** Requests that no limit counts any more. Permissions stay: one that has expired reads so for ever. */
const removeRequests: Removal = async (tx, now) => {
  const before = now - periodMilliseconds['7d']
  return (await tx.list(deleteRequests, { before })).length
}

export const callRemovals: readonly Removal[] = [removeCalls, removeRequests]
