import type { Clock } from '../../src/base/time/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { ensureLanes } from '../../src/delivery/store/lane-rows.ts'
import { ids, numbers } from './world.ts'

/** Stores a delivery that was given up after one try, for operations that look at one. */
export async function addDelivery(
  database: Database,
  clock: Clock,
): Promise<{ readonly delivery_id: string; readonly lane_id: string }> {
  const now = clock.now()
  const owner = { account_id: ids.account, field: 'messages', created_time: now }
  const callback_url = 'http://127.0.0.1:9/hook'
  return database.transaction(async (tx) => {
    const [lane] = await ensureLanes(tx, [{ app_id: ids.application, callback_url }])
    if (!lane) throw new Error('the lane was not made')
    const event = await tx.query
      .insertInto('events')
      .values({ ...owner, phone_number_id: numbers.main, value: '{"messaging_product":"msgapp"}' })
      .returning('id')
      .executeTakeFirstOrThrow()
    const delivery = await tx.query
      .insertInto('deliveries')
      .values({
        ...owner,
        event_id: event.id,
        lane_id: lane.id,
        app_id: ids.application,
        conversation: 'a conversation',
        state: 'failed',
        attempts: 1,
        earlier_attempts: 0,
        due_time: now,
        started_time: now,
        finished_time: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await tx.query
      .insertInto('delivery_attempts')
      .values({
        delivery_id: delivery.id,
        number: 1,
        time: now,
        duration: 1,
        status: null,
        problem: 'it could not be reached',
        answer: null,
        sent_to: callback_url,
        sent_headers: '{}',
        sent_with: null,
        answer_headers: null,
      })
      .execute()
    return { delivery_id: String(delivery.id), lane_id: lane.id }
  })
}
