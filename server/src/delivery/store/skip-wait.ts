import { sql } from 'kysely'
import { lockFreeRowsOf } from '../../db/row-locks.ts'
import { defineSql } from '../../db/statement.ts'
import { heldUntil } from '../../sandbox/fault-rules.ts'

/** How many retries become due at once. Bounded, because one statement should not take long; the others keep their times. */
const maxAtOnce = 5000

/** Makes the retries of subscribers due that have recovered or were resumed. What a fault rule holds stays held. */
export const skipWaitOfLanes = defineSql<{ lanes: object; now: number }>()(
  ({ lanes, now }) => sql`
    UPDATE deliveries SET due_time = ${now} WHERE id IN (
      SELECT d.id FROM json_each(${lanes}) AS o JOIN deliveries d ON d.lane_id = o.key
      WHERE d.state = 'waiting' AND d.due_time > ${now} AND d.due_time < ${sql.lit(heldUntil)} ORDER BY d.due_time LIMIT ${sql.lit(maxAtOnce)}
      ${lockFreeRowsOf('d', 'ForUpdate')}
    )`,
)
