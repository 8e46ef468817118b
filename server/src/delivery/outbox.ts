import type { Clock } from '../base/clock.ts'
import type { Transaction } from '../db/database.ts'
import { defineWithSteps } from '../db/statement.ts'
import { ensureLanes, type LaneAddress } from './lane-rows.ts'
import type { EventRow, NewEvent } from './new-event.ts'
import { insertAtOnce, insertMoreAtOnce } from './raise-postgres.ts'
import { insertInSteps, insertMoreInSteps } from './raise-sqlite.ts'
import { addressOf } from './subscribers.ts'

const insert = defineWithSteps(insertAtOnce, insertInSteps)
const insertMore = defineWithSteps(insertMoreAtOnce, insertMoreInSteps)

/**
 * Raises an event, in the transaction of what caused it; there is no other way. Who gets it is settled here and now: every app
 * that is linked to the account, whose business has access to it, and that is subscribed to the field, at the address that it has
 * at this moment. So a change of a subscription takes effect with the next event, and what is under way is not disturbed; a
 * withdrawal of access ends what waits as well (`end-waiting.ts`). Returns the lanes that it goes down.
 */
export async function raiseEvent(tx: Transaction, clock: Clock, event: NewEvent): Promise<LaneAddress[]> {
  const row: EventRow = {
    ...event,
    phone_number_id: event.phone_number_id ?? '',
    value: typeof event.value === 'string' ? event.value : JSON.stringify(event.value),
    now: clock.now(),
  }
  const lanes = await store(tx, row)
  if (lanes.length > 0) tx.makeDue('deliveries', row.now)
  return lanes
}

/** The event, its deliveries and the due times of its lanes; more statements only where a lane was not made yet. */
async function store(tx: Transaction, row: EventRow): Promise<LaneAddress[]> {
  const rows = await tx.list(insert, row)
  const event_id = rows[0]?.event_id
  if (event_id === undefined) throw new Error('the event was not stored')
  const targets = rows.filter((target) => target.app_id !== null)
  const missing = targets.filter(({ lane_id }) => lane_id === null)
  if (missing.length > 0) {
    const lanes = Object.fromEntries((await ensureLanes(tx, missing)).map(({ id }) => [id, 1]))
    const { account_id, field, conversation, now } = row
    const inserted = await tx.list(insertMore, { event_id, lanes, account_id, field, conversation, now })
    if (inserted.length !== missing.length) throw new Error('a delivery was not stored')
  }
  return targets.map(addressOf)
}
