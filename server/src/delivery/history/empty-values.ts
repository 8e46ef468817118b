import { sql } from 'kysely'
import { walkInSteps } from '../../base/walk.ts'
import type { Database, Transaction } from '../../db/database.ts'
import { lockFreeRowsOf } from '../../db/row-locks.ts'
import { defineSql } from '../../db/statement.ts'
import { keysOf } from '../store/lanes.ts'
import { forgetResponses } from './forget-responses.ts'

/** So many events are emptied in one transaction. */
const stepSize = 200

interface OldEvent {
  readonly id: number
  readonly created_time: number
  readonly is_waiting: number
}

const listOld = defineSql<{ before: number; time: number; id: number }>()(
  // The field and the value as the index says them: values that are bound would not be known to be in it.
  ({ before, time, id }) => sql<OldEvent>`
    SELECT e.id, e.created_time, CASE WHEN EXISTS (
      SELECT 1 FROM deliveries d WHERE d.event_id = e.id AND d.state = 'waiting') THEN 1 ELSE 0 END AS is_waiting
    FROM events e WHERE e.field = 'messages' AND e.value <> '' AND e.created_time <= ${before}
      AND (e.created_time, e.id) > (${time}, ${id})
    ORDER BY e.created_time, e.id LIMIT ${sql.lit(stepSize)}`,
)

const lockEvents = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ id: number }>`
    SELECT events.id FROM events WHERE events.id IN (SELECT CAST(key AS BIGINT) FROM json_each(${ids}))
    ${lockFreeRowsOf('events', 'ForUpdate')}`,
)

const emptyEvents = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ id: number }>`
    UPDATE events SET value = '' WHERE id IN (SELECT CAST(key AS BIGINT) FROM json_each(${ids}))
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND d.state = 'waiting')
    RETURNING id`,
)

const listDeliveries = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ id: number }>`
    SELECT id FROM deliveries WHERE event_id IN (SELECT CAST(key AS BIGINT) FROM json_each(${ids}))`,
)

/** Empties the values of old events of messages and removes the responses of subscribers to them, unless a delivery of the event is waiting. */
export async function emptyOldValues(
  database: Pick<Database, 'read' | 'transaction'>,
  before: number,
  isStopped: () => boolean,
): Promise<void> {
  await walkInSteps<OldEvent>({
    list: (after) => database.read.list(listOld, { before, time: after?.created_time ?? -1, id: after?.id ?? 0 }),
    async take(events) {
      const over = events.filter(({ is_waiting }) => is_waiting === 0).map(({ id }) => id)
      if (over.length > 0) await database.transaction((tx) => emptyValues(tx, over))
    },
    size: stepSize,
    isStopped,
  })
}

/** Locks the events first: whoever sends one again has locked it too, and is seen afterwards. */
async function emptyValues(tx: Transaction, ids: readonly number[]): Promise<void> {
  const locked = await tx.list(lockEvents, { ids: keysOf(ids) })
  if (locked.length === 0) return
  const emptied = await tx.list(emptyEvents, { ids: keysOf(locked.map(({ id }) => id)) })
  const deliveries = await tx.list(listDeliveries, { ids: keysOf(emptied.map(({ id }) => id)) })
  await forgetResponses(
    tx,
    deliveries.map(({ id }) => id),
  )
}
