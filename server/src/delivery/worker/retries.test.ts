import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { changeIn, hang, refuseWith, startSubscriber, subscribe, takeIt } from '../../../test/harness/subscriber.ts'
import { handInText, userOf } from '../../../test/harness/webhooks.ts'
import { accounts, ids, tokens } from '../../../test/harness/world.ts'
import { replayDelivery } from '../history/replay-deliveries.ts'

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

async function readGauge({ client }: TestServer, name: string): Promise<number> {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await client.get('/metrics')).text)?.[1])
}

async function readLast(server: TestServer) {
  const last = (await readDeliveries(server)).at(-1)
  assert.ok(last)
  return last
}

onOneDatabase('a delivery that fails', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const settleAfter = async (milliseconds: number) => {
    server.clock.advance(milliseconds)
    await server.app.settle()
  }

  test('a delivery that fails is tried again after each delay of the schedule, with a little chance, and the last delay repeats', async (t) => {
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

  test('a delivery that fails is given up after seven days, and what was tried stays to be looked at', async (t) => {
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
    assert.equal((finished_time ?? 0) - raised, 7 * day, 'and the last one at their end')
    assert.equal(subscriber.posts.length, attempts)
    const log = await server.database.read.query
      .selectFrom('delivery_attempts')
      .selectAll()
      .where('delivery_id', '=', id)
      .orderBy('number')
      .execute()
    assert.equal(log.length, attempts)
    const { sent_to, sent_headers, sent_with, answer_headers, ...first } = log[0] ?? assert.fail()
    assert.deepEqual([sent_to, sent_with], [subscriber.url, null])
    assert.ok(sent_headers && answer_headers)
    assert.deepEqual(
      { ...first },
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

  test('a delivery that fails is tried at the end of its time, and delivered although a sweep comes by meanwhile', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    const end = server.clock.now() + 7 * day
    await handInText(server, 'at last')
    await server.app.settle()
    while ((await readLast(server)).due_time < end) {
      await settleAfter((await readLast(server)).due_time - server.clock.now())
    }
    const { promise: isSwept, resolve: goOn } = Promise.withResolvers<void>()
    subscriber.answerWith((post, response) => void isSwept.then(() => takeIt(post, response)))
    const tries = subscriber.posts.length
    server.clock.advance(end - server.clock.now())
    const settled = server.app.settle()
    await subscriber.whenPosted(tries + 1)
    await server.app.sweep()
    goOn()
    await settled
    assert.equal((await readLast(server)).state, 'delivered')
  })

  test('a delivery that fails ends at once with 410, and the next one is tried all the same', async (t) => {
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

  test('a delivery that fails is a redirect that nobody follows', async (t) => {
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

  test('a delivery that fails leaves its subscriber alone for as long as Retry-After asks, also with what comes after it', async (t) => {
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

  test('a delivery that fails holds up its own conversation until its retry, and no other', async (t) => {
    const subscriber = await subscribe(t, server)
    const [ana, bob] = [userOf(1), userOf(2)]
    subscriber.answerWith((post, response) =>
      (changeIn(post).value.messages[0].id === 'poison' ? refuseWith(500) : takeIt)(post, response),
    )
    await handInText(server, 'one', ana)
    await handInText(server, 'poison', ana)
    await handInText(server, 'behind.it', ana)
    for (const id of ['two', 'three', 'four']) await handInText(server, id, bob)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds().toSorted(), ['four', 'one', 'poison', 'three', 'two'])
    assert.deepEqual(
      subscriber.messageIds().filter((id) => id !== 'one' && id !== 'poison'),
      ['two', 'three', 'four'],
    )
    await handInText(server, 'also.behind.it', ana)
    for (const delay of [6 * second, 36 * second, 3 * minute]) await settleAfter(delay)
    await handInText(server, 'five', bob)
    await server.app.settle()
    assert.equal(subscriber.messageIds().at(-1), 'five', 'it is tried at once, whatever became of the other')
    assert.ok(!subscriber.messageIds().some((id) => id.endsWith('behind.it')))
    subscriber.answerWith(takeIt)
    await settleAfter(hour)
    assert.deepEqual(subscriber.messageIds().slice(-3), ['poison', 'behind.it', 'also.behind.it'])
  })

  test('a delivery that fails lets what comes after it have its turn once it was given up', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith((post, response) =>
      (changeIn(post).value.messages[0].id === 'refused' ? refuseWith(500) : takeIt)(post, response),
    )
    await handInText(server, 'refused')
    await handInText(server, 'next.one')
    for (let elapsed = 0; elapsed < 8 * day; elapsed += 6 * hour) await settleAfter(6 * hour)
    assert.equal(subscriber.messageIds().at(-1), 'next.one')
    assert.equal(subscriber.messageIds().filter((id) => id === 'next.one').length, 1)
  })

  test('a delivery that fails does not let a long backlog behind it hold up the others', async (t) => {
    const subscriber = await subscribe(t, server)
    const [ana, bob] = [userOf(1), userOf(2)]
    subscriber.answerWith((post, response) =>
      (changeIn(post).value.messages[0].id === 'plug' ? refuseWith(500) : takeIt)(post, response),
    )
    await handInText(server, 'plug', ana)
    await server.app.settle()
    const backlog = Array.from({ length: 150 }, (_, index) => `behind.${index}`)
    for (const id of backlog) await handInText(server, id, ana)
    await handInText(server, 'passes', bob)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['plug', 'passes'])
    subscriber.answerWith(takeIt)
    await settleAfter(6 * second)
    assert.deepEqual(subscriber.messageIds().slice(2), ['plug', ...backlog])
  })
})

onOneDatabase('a delivery without an answer in time', 'postgres', (engine) => {
  // Everything else has the time that it has outside tests: a machine may be slow.
  const server = useTestServer({ engine, env: { WEBHOOK_TIMEOUT: '3s' } })

  test('a delivery without an answer in time has failed, and is tried again', async (t) => {
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
    server.clock.advance(minute)
    await server.app.settle()
    assert.equal((await readLast(server)).state, 'delivered')
  })
})

onOneDatabase('a subscriber that is down', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  /** Forty messages of twenty users, the second of each after the first. */
  const names = Array.from({ length: 40 }, (_, index) => `${index % 20}.${Math.floor(index / 20)}`)
  const handInAll = async (prefix: string) => {
    for (const name of names) await handInText(server, `${prefix}.${name}`, userOf(Number.parseInt(name, 10)))
  }
  const isInOrder = (ids: readonly string[]) =>
    Object.values(Object.groupBy(ids, (id) => id.slice(0, id.lastIndexOf('.')))).every(
      (ofUser) => ofUser !== undefined && ofUser.join() === ofUser.toSorted().join(),
    )

  test('a subscriber that is down is spared, and gets everything when it is back, each conversation in order', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    await handInAll('down')
    await server.app.settle()
    const tries = subscriber.posts.length
    assert.ok(tries >= 3 && tries <= 4, `no more than were under way together: ${tries}`)
    subscriber.answerWith(takeIt)
    server.clock.advance(6 * second)
    await server.app.settle()
    const taken = subscriber.messageIds().slice(tries)
    assert.deepEqual(taken.toSorted(), names.map((name) => `down.${name}`).toSorted())
    assert.ok(isInOrder(taken), taken.join())
    assert.ok((await readDeliveries(server)).every(({ state }) => state === 'delivered'))
  })

  test('a subscriber that is down is probed with one post at a time, every minute and later every five, and gets the rest at once', async (t) => {
    const subscriber = await subscribe(t, server)
    let [underWay, most] = [0, 0]
    subscriber.answerWith((_post, response) => {
      underWay += 1
      most = Math.max(most, underWay)
      setImmediate(() => {
        underWay -= 1
        response.writeHead(500).end()
      })
    })
    await handInAll('late')
    await server.app.settle()
    most = 0
    const probes: number[] = []
    for (let elapsed = 0; elapsed < 3 * hour; elapsed += minute) {
      const before = subscriber.posts.length
      server.clock.advance(minute)
      await server.app.settle()
      probes.push(subscriber.posts.length - before)
    }
    assert.equal(most, 1, 'one at a time')
    assert.ok(Math.max(...probes) === 1, 'and no more than one a minute')
    const inLastHour = probes.slice(-60).reduce((sum, count) => sum + count, 0)
    assert.ok(inLastHour >= 6 && inLastHour <= 12 + 1, `every five minutes in the end: ${inLastHour} in an hour`)
    subscriber.answerWith(takeIt)
    await handInText(server, 'late.fresh', userOf(99))
    const before = subscriber.posts.length
    server.clock.advance(5 * minute)
    await server.app.settle()
    const taken = subscriber.messageIds().slice(before)
    const expected = [...names.map((name) => `late.${name}`), 'late.fresh']
    assert.deepEqual(taken.toSorted(), expected.toSorted(), 'everything came, and nothing twice')
    assert.ok(isInOrder(taken), taken.join())
  })

  test('a subscriber that is down is probed with the event that failed when everything new is behind it', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    for (let index = 0; index < 3; index++) await handInText(server, `lone.${index}`, userOf(index))
    for (let elapsed = 0; elapsed < 3 * hour; elapsed += 10 * minute) {
      server.clock.advance(10 * minute)
      await server.app.settle()
    }
    const tries = subscriber.posts.length
    subscriber.answerWith(takeIt)
    // The pause behind the last probe ends.
    server.clock.advance(5 * minute)
    await handInText(server, 'lone.3', userOf(0))
    await server.app.settle()
    const taken = subscriber.messageIds().slice(tries)
    assert.deepEqual(taken.toSorted(), ['lone.0', 'lone.1', 'lone.2', 'lone.3'])
    assert.ok(taken.indexOf('lone.0') < taken.indexOf('lone.3'))
  })
})

onOneDatabase('what the log says of subscribers', 'postgres', (engine) => {
  const lines: Record<string, unknown>[] = []
  const sink = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const server = useTestServer({ engine, log: Object.assign(pino({ level: 'info' }, sink), { line() {} }) })
  test('a subscriber of one event that fails counts as failing, though one is too few to be down', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    await handInText(server, 'only')
    await server.app.settle()
    const counts = () =>
      Promise.all(['failing', 'down'].map((kind) => readGauge(server, `switchboard_delivery_lanes_${kind}`)))
    assert.deepEqual(await counts(), [1, 0])
    subscriber.answerWith(takeIt)
    server.clock.advance(minute)
    await server.app.settle()
    assert.deepEqual(await counts(), [0, 0])
    lines.length = 0
  })

  test('a subscriber that fails for hours has three lines in the log, and nothing of ours is late', async (t) => {
    const subscriber = await subscribe(t, server)
    const { host } = new URL(subscriber.url)
    subscriber.answerWith(refuseWith(500))
    for (let index = 0; index < 5; index++) await handInText(server, `logged.${index}`, userOf(index))
    await server.app.settle()
    for (let elapsed = 0; elapsed < 3 * hour; elapsed += 10 * minute) {
      const before = subscriber.posts.length
      server.clock.advance(10 * minute)
      await server.app.settle()
      assert.ok(subscriber.posts.length > before, 'it is tried again and again')
    }
    assert.equal(await readGauge(server, 'switchboard_delivery_lateness_seconds'), 0)
    assert.equal(await readGauge(server, 'switchboard_delivery_lanes_failing'), 1)
    subscriber.answerWith(takeIt)
    server.clock.advance(5 * minute)
    await server.app.settle()
    const about = lines.filter(({ msg }) => /^a (?:delivery|subscriber) /.test(String(msg)))
    assert.deepEqual(
      about.map(({ level, msg, host, status }) => ({ level, msg, host, status })),
      [
        { level: 40, msg: 'a delivery failed', host: undefined, status: 500 },
        { level: 40, msg: 'a subscriber is down, and is tried with one post at a time', host, status: 500 },
        { level: 30, msg: 'a subscriber is back', host, status: undefined },
      ],
    )
  })
})

onOneDatabase('a service without a worker', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { ROLE: 'api' } })

  test('what is due and is not sent is late, unless its subscriber is down', async (t) => {
    await subscribe(t, server)
    assert.equal(await readGauge(server, 'switchboard_delivery_lateness_seconds'), 0)
    await handInText(server, 'unsent')
    server.clock.advance(90 * second)
    assert.equal(await readGauge(server, 'switchboard_delivery_lateness_seconds'), 90)
    await server.database.transaction(({ query }) => query.updateTable('lanes').set({ failures: 3 }).execute())
    assert.equal(await readGauge(server, 'switchboard_delivery_lateness_seconds'), 0)
  })
})

onOneDatabase('what the operator does with deliveries', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const replay = (id: number, to?: string) =>
    server.database.transaction(async (tx) => (await replayDelivery(tx, server.clock, id, to)).kind)

  test('sending again what was delivered, what was given up, and with its tries beginning anew', async (t) => {
    const subscriber = await subscribe(t, server)
    await handInText(server, 'replayed')
    await server.app.settle()
    server.clock.advance(8 * day)
    const { id } = await readLast(server)
    assert.equal(await replay(id), 'replayed')
    subscriber.answerWith(refuseWith(500))
    await server.app.settle()
    assert.deepEqual([(await readLast(server)).state, (await readLast(server)).attempts], ['waiting', 2])
    assert.ok((await readLast(server)).due_time <= server.clock.now() + 6 * second, 'the first delay of the schedule')
    subscriber.answerWith(refuseWith(410))
    server.clock.advance(6 * second)
    await server.app.settle()
    assert.equal((await readLast(server)).state, 'failed')
    subscriber.answerWith(takeIt)
    assert.equal(await replay(id), 'replayed')
    await server.app.settle()
    assert.deepEqual([(await readLast(server)).state, (await readLast(server)).attempts], ['delivered', 4])
    assert.deepEqual(subscriber.messageIds(), Array(4).fill('replayed'))
    assert.equal(await replay(999_999), 'unknown')
  })

  test('a replay goes to the callback that the app has now, or to another address', async (t) => {
    const before = await subscribe(t, server)
    await handInText(server, 'moved')
    await server.app.settle()
    const { id } = await readLast(server)
    const [now, elsewhere] = [await subscribe(t, server), await startSubscriber(t)]
    assert.equal(await replay(id), 'replayed')
    await server.app.settle()
    assert.deepEqual([before.messageIds(), now.messageIds()], [['moved'], ['moved']])
    assert.deepEqual(now.posts[0]?.body, before.posts[0]?.body, 'the same bytes')
    assert.equal(now.posts[0]?.headers['webhook-id'], before.posts[0]?.headers['webhook-id'])
    assert.equal(await replay(id, elsewhere.url), 'replayed')
    await server.app.settle()
    assert.deepEqual([now.messageIds(), elsewhere.messageIds()], [['moved'], ['moved']])

    const link = `/v23.0/${accounts.private}/subscribed_apps`
    assert.equal((await server.client.delete(link, { token: tokens.owner })).status, 200)
    assert.equal(await replay(id), 'no_callback', 'whoever does not hear of the account any more gets nothing of it')
    assert.equal((await server.client.post(link, { token: tokens.owner, json: {} })).status, 200)
    assert.equal(accounts.private, ids.account)
  })
})
