import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase, useTestDatabase } from '../../../test/harness/databases.ts'
import { silentLog } from '../../base/log/log.ts'
import { ManualClock } from '../../base/time/clock.ts'
import { RetentionWorker } from './delivery-retention.ts'

const day = 86_400_000
const start = Date.parse('2026-06-01T12:00:00Z')
const rules = { keep: 30 * day, giveUpAfter: 7 * day, auditKeep: 400 * day }

onOneDatabase('the sweep', 'postgres', (engine) => {
  const store = useTestDatabase(engine)

  /** Deliveries on one lane, raised now. */
  async function raise(lane: string, laneFailures: number, deliveries: readonly { attempts: number }[]): Promise<void> {
    await store.database.transaction(async ({ query }) => {
      await query
        .insertInto('lanes')
        .values({
          id: lane,
          app_id: lane,
          callback_url: lane,
          leased_until: 0,
          paused_until: 0,
          failures: laneFailures,
        })
        .execute()
      for (const { attempts } of deliveries) {
        const about = { account_id: lane, field: 'messages', created_time: start }
        const event = await query
          .insertInto('events')
          .values({ ...about, phone_number_id: null, value: '{}' })
          .returning('id')
          .executeTakeFirstOrThrow()
        const delivery = await query
          .insertInto('deliveries')
          .values({
            ...about,
            event_id: event.id,
            lane_id: lane,
            app_id: lane,
            conversation: lane,
            state: 'waiting',
            attempts,
            earlier_attempts: 0,
            due_time: start,
            started_time: start,
            finished_time: null,
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        const tries = Array.from({ length: attempts }, (_, index) => ({
          delivery_id: delivery.id,
          number: index + 1,
          time: start,
          duration: 1,
          status: 500,
        }))
        if (tries.length > 0) await query.insertInto('delivery_attempts').values(tries).execute()
      }
      const message = { phone_number_id: lane, message_id: lane, received_time: start }
      await query.insertInto('received_messages').values(message).execute()
      const digest = { digest: lane, received_time: start }
      await query
        .insertInto('received_statuses')
        .values({ phone_number_id: lane, ...digest })
        .execute()
      await query
        .insertInto('received_posts')
        .values({ app_id: lane, ...digest })
        .execute()
    })
  }

  async function readStates(): Promise<Record<string, string>> {
    const rows = await store.database.read.query
      .selectFrom('deliveries')
      .select(['lane_id', 'attempts', 'state'])
      .execute()
    return Object.fromEntries(rows.map(({ lane_id, attempts, state }) => [`${lane_id}, ${attempts} tries`, state]))
  }

  async function countRows(): Promise<Record<string, number>> {
    const received = ['received_messages', 'received_statuses', 'received_posts'] as const
    const tables = ['events', 'deliveries', 'delivery_attempts', ...received] as const
    const counts = tables.map(async (table) => {
      const rows = await store.database.read.query.selectFrom(table).selectAll().execute()
      return [table, rows.length]
    })
    return Object.fromEntries(await Promise.all(counts))
  }

  const receivedCounts = (count: number) => ({
    received_messages: count,
    received_statuses: count,
    received_posts: count,
  })

  test('the sweep gives up after seven days what was tried, or never will be, and removes what is finished after thirty', async () => {
    await raise('down', 3, [{ attempts: 0 }, { attempts: 2 }])
    await raise('up', 0, [{ attempts: 0 }, { attempts: 1 }])
    const clock = new ManualClock(start)
    const worker = new RetentionWorker({ database: store.database, clock, log: silentLog, rules })

    clock.advance(7 * day - 1)
    await worker.sweep()
    assert.ok(Object.values(await readStates()).every((state) => state === 'waiting'))
    clock.advance(1)
    await worker.sweep()
    assert.deepEqual(await readStates(), {
      'down, 0 tries': 'failed',
      'down, 2 tries': 'failed',
      // The service itself may not have run: it gets its first try, however late.
      'up, 0 tries': 'waiting',
      'up, 1 tries': 'failed',
    })

    clock.advance(23 * day)
    await worker.sweep()
    assert.deepEqual(await countRows(), { events: 4, deliveries: 4, delivery_attempts: 3, ...receivedCounts(2) })
    clock.advance(1)
    await worker.sweep()
    assert.deepEqual(
      await countRows(),
      { events: 4, deliveries: 4, delivery_attempts: 3, ...receivedCounts(0) },
      'a delivery counts from its end',
    )
    clock.advance(7 * day)
    await worker.sweep()
    assert.deepEqual(await readStates(), { 'up, 0 tries': 'waiting' })
    assert.deepEqual(await countRows(), { events: 1, deliveries: 1, delivery_attempts: 0, ...receivedCounts(0) })
  })

  if (engine === 'postgres') {
    test('the sweep gives up what lost its lane, unless a note says that the lane will be made anew', async () => {
      await raise('gone', 0, [{ attempts: 0 }])
      await raise('noted', 0, [{ attempts: 0 }])
      await store.database.transaction(async ({ query }) => {
        const note = { lane_id: 'noted', app_id: 'noted', callback_url: 'noted', due_time: start }
        await query.insertInto('lane_wakes').values(note).execute()
        await query.deleteFrom('lanes').where('id', 'in', ['gone', 'noted']).execute()
      })
      const clock = new ManualClock(start + 7 * day - 1)
      const worker = new RetentionWorker({ database: store.database, clock, log: silentLog, rules })
      const readBoth = async () => {
        const { 'gone, 0 tries': gone, 'noted, 0 tries': noted } = await readStates()
        return { gone, noted }
      }
      await worker.sweep()
      assert.deepEqual(await readBoth(), { gone: 'waiting', noted: 'waiting' })
      clock.advance(1)
      await worker.sweep()
      assert.deepEqual(await readBoth(), { gone: 'failed', noted: 'waiting' })
    })
  }

  test('the sweep takes more than one step where there is much', async () => {
    await raise('many', 3, Array(1200).fill({ attempts: 0 }))
    const clock = new ManualClock(start + 7 * day)
    const worker = new RetentionWorker({ database: store.database, clock, log: silentLog, rules })
    await worker.sweep()
    const waiting = async () =>
      (await store.database.read.query.selectFrom('deliveries').select('id').where('lane_id', '=', 'many').execute())
        .length
    assert.equal(await waiting(), 1200)
    clock.advance(31 * day)
    await worker.sweep()
    assert.equal(await waiting(), 0)
  })
})
