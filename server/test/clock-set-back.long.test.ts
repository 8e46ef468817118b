import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minute, second } from '../src/base/time/duration.ts'
import { correctDeliveries } from '../src/delivery/store/clock-step.ts'
import { onBothDatabases } from './harness/databases.ts'
import { startSecondProcess } from './harness/second-process.ts'
import { startTestServer, useTestServer } from './harness/server.ts'
import { refuseWith, subscribe, takeIt } from './harness/subscriber.ts'
import { handInText } from './harness/webhooks.ts'
import { ids, numbers, tokens } from './harness/world.ts'

/** The clock is set back by ten minutes: nothing may stand still for that long. */
const back = 10 * minute

onBothDatabases('a clock that is set back', (engine) => {
  const server = useTestServer({ engine })

  test('a clock that is set back does not make a retry wait for longer', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    await handInText(server, 'retried')
    await server.app.settle()
    server.clock.advance(-back)
    await server.app.settle()
    assert.equal(subscriber.posts.length, 1, 'nor for a shorter time')
    subscriber.answerWith(takeIt)
    server.clock.advance(7 * second)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['retried', 'retried'])
  })

  test('a clock that is set back does not keep a subscriber paused for longer', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(503, { 'retry-after': '60' }))
    await handInText(server, 'paused')
    await server.app.settle()
    server.clock.advance(-back)
    subscriber.answerWith(takeIt)
    await handInText(server, 'next')
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['paused'])
    server.clock.advance(80 * second)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['paused', 'paused', 'next'])
  })

  test('a clock that is set back is corrected by every process, and each time once', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(503, { 'retry-after': '60' }))
    await handInText(server, 'corrected')
    await server.app.settle()
    server.clock.advance(-back)
    await server.app.settle()
    const { query } = server.database.read
    const read = async () => ({
      delivery: await query
        .selectFrom('deliveries')
        .select(['due_time', 'started_time'])
        .where('state', '=', 'waiting')
        .execute(),
      lanes: await query.selectFrom('lanes').select(['paused_until']).orderBy('id').execute(),
      attempts: await query.selectFrom('delivery_attempts').select('time').orderBy('time').execute(),
    })
    const once = await read()
    assert.equal(once.delivery.length, 1)
    // The next process finds that the clock is behind what is written.
    const now = server.clock.now()
    await server.database.transaction((tx) => correctDeliveries(tx, now, now + 5 * second, back))
    assert.deepEqual(await read(), once)
    subscriber.answerWith(takeIt)
    server.clock.advance(80 * second)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['corrected', 'corrected'])
  })

  test('a clock that is set back does not make a group come later', async (t) => {
    const subscriber = await subscribe(t, server, { fields: ['group_lifecycle_update'] })
    const answer = await server.client.post(`/v23.0/${numbers.main}/groups`, {
      token: tokens.owner,
      json: { messaging_product: 'msgapp', subject: 'Regulars' },
    })
    assert.equal(answer.status, 200, answer.text)
    server.clock.advance(-back)
    await server.app.settle()
    server.clock.advance(second)
    await server.app.settle()
    assert.equal(subscriber.posts.length, 1)
  })

  test('a clock that is set back does not free what is held for a lifetime of days', async () => {
    const read = () =>
      server.database.read.query
        .selectFrom('timers')
        .select(['due_time', 'set_time'])
        .where('kind', '=', 'media.expire')
        .executeTakeFirstOrThrow()
    const before = await read()
    server.clock.advance(-back)
    await server.app.settle()
    const after = await read()
    assert.equal(after.due_time - after.set_time, before.due_time - before.set_time)
  })
})

onBothDatabases('a clock that is set back between two runs', (engine) => {
  test('a clock that is set back between two runs does not make what was left behind wait', async (t) => {
    const server = await startTestServer({ engine })
    t.after(() => server.stop())
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    await handInText(server, 'left behind')
    await server.app.settle()
    await server.app.close(0)
    server.clock.advance(-back)
    subscriber.answerWith(takeIt)
    const next = await startSecondProcess(server)
    t.after(() => next.app.close(0))
    server.clock.advance(7 * second)
    await next.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['left behind', 'left behind'])
  })
})

test('an embedded store that was left by a process that died: lanes and timers are free at the start', async (t) => {
  const server = await startTestServer({ engine: 'sqlite' })
  t.after(() => server.stop())
  const subscriber = await subscribe(t, server)
  await handInText(server, 'makes the lane')
  await server.app.settle()
  await server.app.close(0)
  const { database, clock } = server
  // As a process leaves them that dies with a lane and a timer in its hands.
  const leased_until = clock.now() + 10 * second
  await database.transaction(async ({ query }) => {
    await query.updateTable('lanes').set({ leased_until, lease_owner: 'dead', next_due: 0 }).execute()
    const timer = {
      id: 'held',
      kind: 'files.sweep',
      due_time: 0,
      payload: { sha256: 'none' },
      attempts: 0,
      set_time: 0,
    }
    await query
      .insertInto('timers')
      .values({ ...timer, leased_until })
      .execute()
    await query
      .updateTable('deliveries')
      .set({ state: 'waiting', finished_time: null, attempts: 0, earlier_attempts: 0 })
      .where('app_id', '=', ids.application)
      .execute()
    await query.deleteFrom('delivery_attempts').execute()
  })
  const next = await startSecondProcess(server)
  t.after(() => next.app.close(0))
  await next.app.settle()
  assert.deepEqual(subscriber.messageIds(), ['makes the lane', 'makes the lane'])
  assert.deepEqual(await database.read.query.selectFrom('timers').select('id').where('id', '=', 'held').execute(), [])
})
