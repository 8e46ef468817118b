import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../test/harness/databases.ts'
import { type TestServer, useTestServer } from '../../test/harness/server.ts'
import { changeIn, hang, refuseWith, startSubscriber, subscribe, takeIt } from '../../test/harness/subscriber.ts'
import { handInText } from '../../test/harness/webhooks.ts'
import { replayDelivery } from './log.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const retryDelays = [5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 3 * hour, 6 * hour, 12 * hour]

/** Every delivery of a store with what came of it, by the order in which things happened. */
function readDeliveries({ database }: TestServer) {
  return database.read.query
    .selectFrom('deliveries')
    .select(['id', 'state', 'attempts', 'due_time', 'started_time', 'finished_time'])
    .orderBy('id')
    .execute()
}

async function readLast(server: TestServer) {
  const last = (await readDeliveries(server)).at(-1)
  assert.ok(last)
  return last
}

onBothDatabases('a delivery that fails', (engine) => {
  const server = useTestServer({ engine, env: { WEBHOOK_TIMEOUT: '300ms' } })
  const settleAfter = async (milliseconds: number) => {
    server.clock.advance(milliseconds)
    await server.app.settle()
  }

  test('is tried again after each delay of the schedule, with a little chance, and the last delay repeats', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    await handInText(server, 'scheduled')
    await server.app.settle()
    assert.equal(subscriber.posts.length, 1, 'the first try is at once')
    for (const [index, delay] of [...retryDelays, day, day].entries()) {
      await settleAfter(delay - 1)
      assert.equal(subscriber.posts.length, index + 1, `nothing before ${delay} ms`)
      await settleAfter(delay / 5 + 1)
      assert.equal(subscriber.posts.length, index + 2, `once more within a fifth of ${delay} ms`)
    }
    subscriber.answerWith(takeIt)
    await settleAfter(2 * day)
    assert.deepEqual([(await readLast(server)).state, (await readLast(server)).attempts], ['delivered', 13])
    await settleAfter(7 * day)
    assert.equal(subscriber.posts.length, 13, 'what was taken is not sent again')
  })

  test('is given up after seven days, and what was tried stays to be looked at', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    const raised = server.clock.now()
    await handInText(server, 'hopeless')
    await server.app.settle()
    while ((await readLast(server)).state === 'waiting') {
      const { due_time } = await readLast(server)
      assert.ok(due_time <= raised + 7 * day, 'no try is planned for later than seven days')
      await settleAfter(due_time - server.clock.now())
    }
    const { id, state, attempts, finished_time } = await readLast(server)
    assert.equal(state, 'failed')
    assert.ok((finished_time ?? 0) - raised > 5 * day, 'it was tried for days')
    assert.equal(subscriber.posts.length, attempts)
    const log = await server.database.read.query
      .selectFrom('delivery_attempts')
      .selectAll()
      .where('delivery_id', '=', id)
      .orderBy('number')
      .execute()
    assert.equal(log.length, attempts)
    assert.deepEqual(
      { ...log[0] },
      {
        delivery_id: id,
        number: 1,
        time: raised,
        duration: 0,
        status: 500,
        problem: 'it answered 500',
        answer: 'not now',
      },
    )
  })

  test('ends at once with 410, and the next one is tried all the same', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith((post, response) =>
      (changeIn(post).value.messages[0].id === 'gone' ? refuseWith(410) : takeIt)(post, response),
    )
    await handInText(server, 'gone')
    await handInText(server, 'after.gone')
    await server.app.settle()
    await settleAfter(2 * day)
    assert.deepEqual(subscriber.messageIds(), ['gone', 'after.gone'])
    const [gone, next] = (await readDeliveries(server)).slice(-2)
    assert.deepEqual([gone?.state, next?.state], ['failed', 'delivered'])
  })

  test('is a redirect that nobody follows', async (t) => {
    const elsewhere = await startSubscriber(t)
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(307, { location: elsewhere.url }))
    await handInText(server, 'redirected')
    await server.app.settle()
    assert.deepEqual([(await readLast(server)).state, (await readLast(server)).attempts], ['waiting', 1])
    assert.equal(elsewhere.posts.length, 0)
    subscriber.answerWith(takeIt)
    await settleAfter(minute)
  })

  test('is one without an answer in time', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(hang)
    await handInText(server, 'unanswered')
    await server.app.settle()
    const { id, attempts, state } = await readLast(server)
    assert.deepEqual([state, attempts], ['waiting', 1])
    const log = await server.database.read.query
      .selectFrom('delivery_attempts')
      .select(['status', 'problem'])
      .where('delivery_id', '=', id)
      .executeTakeFirstOrThrow()
    assert.deepEqual({ ...log }, { status: null, problem: 'no answer came in time' })
    subscriber.answerWith(takeIt)
    await settleAfter(minute)
    assert.equal((await readLast(server)).state, 'delivered')
  })

  test('leaves its subscriber alone for as long as Retry-After asks, also with what comes after it', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(429, { 'retry-after': '3600' }))
    await handInText(server, 'asked.to.wait')
    await server.app.settle()
    subscriber.answerWith(takeIt)
    await handInText(server, 'waits.too')
    await settleAfter(hour - 1)
    assert.deepEqual(subscriber.messageIds(), ['asked.to.wait'])
    await settleAfter(hour / 5 + 1)
    assert.deepEqual(subscriber.messageIds(), ['asked.to.wait', 'asked.to.wait', 'waits.too'])
  })

  test('lets those after it pass when it is the only one that its subscriber refuses', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith((post, response) =>
      (changeIn(post).value.messages[0].id === 'poison' ? refuseWith(500) : takeIt)(post, response),
    )
    for (const id of ['one', 'poison', 'two', 'three', 'four']) await handInText(server, id)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['one', 'poison', 'two', 'three', 'four'])
    for (const delay of [6 * second, 36 * second, 3 * minute]) await settleAfter(delay)
    await handInText(server, 'five')
    await server.app.settle()
    assert.equal(subscriber.messageIds().at(-1), 'five', 'it is tried at once, whatever became of the other')
    subscriber.answerWith(takeIt)
    await settleAfter(hour)
  })
})

onBothDatabases('a subscriber that is down', (engine) => {
  const server = useTestServer({ engine })
  const names = Array.from({ length: 20 }, (_, index) => `down.${index}`)

  test('is spared, and gets everything in order when it is back', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    for (const name of names) await handInText(server, name)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), names.slice(0, 3), 'three in a row are enough')
    subscriber.answerWith(takeIt)
    server.clock.advance(6 * second)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds().slice(3), names)
    assert.ok((await readDeliveries(server)).every(({ state }) => state === 'delivered'))
  })

  test('is asked every minute while there is something new for it, and gets the rest in order at once', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    for (const name of names) await handInText(server, `late.${name}`)
    for (let elapsed = 0; elapsed < 10 * hour; elapsed += minute) {
      server.clock.advance(minute)
      await server.app.settle()
    }
    const tries = subscriber.posts.length
    assert.ok(tries <= 10 * 60 + 3, `one try a minute at the most: ${tries}`)
    subscriber.answerWith(takeIt)
    await handInText(server, 'fresh')
    server.clock.advance(minute)
    await server.app.settle()
    const taken = subscriber.messageIds().slice(tries)
    assert.equal(new Set(taken).size, names.length + 1, 'everything came')
    assert.equal(taken.length, names.length + 1, 'and nothing twice')
    const [, ...rest] = taken
    const expected = [...names.map((name) => `late.${name}`), 'fresh'].filter((name) => name !== taken[0])
    assert.deepEqual(rest, expected, 'in order but for the one that found out')
  })
})

onBothDatabases('what the operator does with deliveries', (engine) => {
  const server = useTestServer({ engine })
  const replay = (id: number) => server.database.transaction((tx) => replayDelivery(tx, server.clock, id))

  test('sending again what was delivered, what was given up, and with its tries beginning anew', async (t) => {
    const subscriber = await subscribe(t, server)
    await handInText(server, 'replayed')
    await server.app.settle()
    server.clock.advance(8 * day)
    const { id } = await readLast(server)
    assert.equal(await replay(id), 'sent again')
    subscriber.answerWith(refuseWith(500))
    await server.app.settle()
    assert.deepEqual([(await readLast(server)).state, (await readLast(server)).attempts], ['waiting', 2])
    assert.ok((await readLast(server)).due_time <= server.clock.now() + 6 * second, 'the first delay of the schedule')
    subscriber.answerWith(refuseWith(410))
    server.clock.advance(6 * second)
    await server.app.settle()
    assert.equal((await readLast(server)).state, 'failed')
    subscriber.answerWith(takeIt)
    assert.equal(await replay(id), 'sent again')
    await server.app.settle()
    assert.deepEqual([(await readLast(server)).state, (await readLast(server)).attempts], ['delivered', 4])
    assert.deepEqual(subscriber.messageIds(), Array(4).fill('replayed'))
    assert.equal(await replay(999_999), 'unknown')
  })
})
