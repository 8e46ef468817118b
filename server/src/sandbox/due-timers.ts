import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { minute } from '../base/time/duration.ts'
import type { Database, Db } from '../db/database.ts'
import { defineSql } from '../db/statement.ts'

/** How long others are waited for: a subscriber may take its time, and a process may be gone. */
const waitTimeoutMs = minute
const pollMilliseconds = 25

const findDueTimer = defineSql<{ time: number; held: object }>()(
  ({ time, held }) => sql<{ found: number }>`
    SELECT 1 AS found FROM timers WHERE due_time <= ${time} AND kind NOT IN (SELECT key FROM json_each(${held})) LIMIT 1`,
)

/** Whoever holds the lane; a lane that is paused, or that an operator stopped, is not due. */
const findDueDelivery = defineSql<{ time: number }>()(
  ({ time }) => sql<{ found: number }>`
    SELECT 1 AS found FROM lanes
    WHERE next_due <= ${time} AND paused_until <= ${time} AND stopped_until <= ${time} AND EXISTS (
      SELECT 1 FROM deliveries d WHERE d.lane_id = lanes.id AND d.state = 'waiting' AND d.due_time <= ${time}
    ) LIMIT 1`,
)

/** What is not done now, although it may be due. */
export interface Held {
  /** Timers of these kinds. */
  readonly timers: readonly string[]
  readonly deliveries: boolean
}

/**
 * Resolves when nothing waits any more that was due at a time, whichever process does it; or when that takes too long. What is held is not
 * waited for.
 */
export async function waitUntilDone({ read }: Pick<Database, 'read'>, time: number, held: Held): Promise<void> {
  const end = performance.now() + waitTimeoutMs
  while ((await isSomethingDue(read, time, held)) && performance.now() < end) await wait(pollMilliseconds)
}

async function isSomethingDue(db: Db, time: number, held: Held): Promise<boolean> {
  const kinds = Object.fromEntries(held.timers.map((kind) => [kind, 1]))
  const [timer] = await db.list(findDueTimer, { time, held: kinds })
  if (timer) return true
  if (held.deliveries) return false
  const [delivery] = await db.list(findDueDelivery, { time })
  return delivery !== undefined
}
