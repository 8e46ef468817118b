import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertArgument, assertError, like } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { refuseWith, startSubscriber, subscribe, takeIt } from '../../../../test/harness/subscriber.ts'
import { handInText, userOf } from '../../../../test/harness/webhooks.ts'
import { ids, numbers, strangerIds, tokens } from '../../../../test/harness/world.ts'
import { day, hour, minute } from '../../../base/time/duration.ts'
import { notAUrl } from '../../../egress/errors.ts'
import { notFound } from '../../../graph/errors.ts'
import { deliveriesUnknown, idsAndFilters, laneActionUnclear, notADuration, nothingToReplay } from '../errors.ts'

type Item = Record<string, unknown>

onOneDatabase('deliveries and lanes at the operator door', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { WEBHOOK_RETRY_DELAYS: '10s,1h' } })
  const get = (path: string, query: Record<string, string> = {}, token: string = tokens.operator) =>
    server.client.get(`/operator/${path}`, { token, query })
  const post = (path: string, json: object, token: string = tokens.operator) =>
    server.client.post(`/operator/${path}`, { token, json })
  const newest = async () => (await get('deliveries', { limit: '1' })).body.data[0]

  test('a delivery shows the exact bytes and headers of every try, and what came back', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(503, { 'x-reason': 'lunch' }))
    await handInText(server, 'exact.1')
    await server.app.settle()
    const waiting = await newest()
    assert.deepEqual([waiting.state, waiting.attempts, waiting.phone_number_id], ['waiting', 1, numbers.main])
    assert.ok(waiting.next_time > new Date(server.clock.now()).toISOString())
    // After a rotation the tries show the signatures that left, not those of now.
    await post(`apps/${ids.application}/secret`, { overlap: '1s' })
    subscriber.answerWith((_post, response) => response.end('y'.repeat(10_000)))
    server.clock.advance(20_000)
    await server.app.settle()
    const { body } = await get(`deliveries/${waiting.id}`)
    assert.equal(body.payload, subscriber.posts[0]?.body.toString('latin1'))
    assert.deepEqual([body.state, body.next_time, body.tries.length], ['delivered', null, 2])
    assert.equal(body.finished_time, new Date(server.clock.now()).toISOString())
    for (const [index, shown] of body.tries.entries()) {
      const sent = subscriber.posts[index]
      assert.equal(shown.request.body, sent?.body.toString('latin1'))
      assert.equal(shown.request.url, subscriber.url)
      for (const [name, value] of Object.entries(shown.request.headers)) assert.equal(sent?.headers[name], value, name)
      for (const name of ['x-hub-signature-256', 'webhook-signature', 'webhook-timestamp', 'host', 'content-length']) {
        assert.ok(name in shown.request.headers, name)
      }
    }
    const [first, second] = body.tries
    assert.deepEqual([first.response.status, first.response.body, first.problem], [503, 'not now', 'it answered 503'])
    assert.equal(first.response.headers['x-reason'], 'lunch')
    assert.deepEqual([second.response.status, second.response.body.length, second.problem], [200, 4096, null])
  })

  test('a list is filtered by state, app, account, number, field and time', async (t) => {
    const subscriber = await subscribe(t, server)
    server.clock.advance(3_600_000)
    await handInText(server, 'list.1', userOf(1))
    await server.app.settle()
    server.clock.advance(3_600_000)
    subscriber.answerWith(refuseWith(500))
    await handInText(server, 'list.2', userOf(2))
    await server.app.settle()
    const find = async (query: Record<string, string>) =>
      (await get('deliveries', { since: '90m', ...query })).body.data.map(({ state }: Item) => state)
    assert.deepEqual(await find({}), ['waiting', 'delivered'])
    assert.deepEqual(await find({ state: 'failing' }), ['waiting'])
    assert.deepEqual(await find({ state: 'delivered' }), ['delivered'])
    assert.deepEqual(await find({ until: '30m' }), ['delivered'])
    const fitting = { app_id: ids.application, account_id: ids.account, phone_number_id: numbers.main }
    assert.equal((await find({ ...fitting, field: 'messages' })).length, 2)
    const others: Record<string, string>[] = [
      { app_id: strangerIds.application },
      { account_id: strangerIds.account },
      { phone_number_id: numbers.fresh },
      { phone_number_id: '1234567890123456' },
      { field: 'calls' },
    ]
    for (const other of others) assert.deepEqual(await find(other), [])
    assertArgument(await get('deliveries', { state: 'lost' }), 'state')
    assertArgument(await get('deliveries', { until: '1' }), 'until')
  })

  test('a delivery says what it is about, who caused it, what is sent, and that it is failing', async (t) => {
    const subscriber = await subscribe(t, server)
    const [user, other] = [userOf(7), userOf(8)]
    subscriber.answerWith(refuseWith(503))
    await handInText(server, 'about.1', user)
    const [about] = (await get('deliveries', { user_wa_id: user })).body.data
    await server.app.settle()
    assert.equal((await get(`deliveries/${about.id}`)).body.payload, subscriber.posts[0]?.body.toString('latin1'))
    const listed = (await get('deliveries', { user_wa_id: user, phone_number_id: numbers.main })).body.data
    const { finished_time: _, payload: __, tries: ___, ...single } = (await get(`deliveries/${about.id}`)).body
    assert.deepEqual(listed, [single])
    assert.deepEqual([single.state, single.failing, single.subject], ['waiting', true, `text from +${user}`])
    assert.deepEqual([about.event_id, about.trace], [single.event_id, single.trace])
    await handInText(server, 'about.2', other)
    const ofTrace = (await get('deliveries', { trace: single.trace })).body.data
    assert.deepEqual(
      ofTrace.map(({ id }: Item) => id),
      [single.id],
    )
    assert.deepEqual((await get('deliveries', { trace: single.trace, user_wa_id: other })).body.data, [])
    assert.deepEqual((await get('deliveries', { trace: 'none' })).body.data, [])
    assert.deepEqual((await get('deliveries', { trace: single.trace }, tokens.limitedOperator)).body.data, [])
    assertArgument(await get('deliveries', { user_wa_id: 'Ada' }), 'user_wa_id')
  })

  test('an operator with limits sees only the deliveries and lanes of these', async (t) => {
    await subscribe(t, server)
    await handInText(server, 'limits.1')
    await server.app.settle()
    const { id, lane_id } = await newest()
    const limited = tokens.limitedOperator
    assert.deepEqual((await get('deliveries', {}, limited)).body.data, [])
    assert.deepEqual((await get('lanes', {}, limited)).body.data, [])
    assertError(await get(`deliveries/${id}`, {}, limited), notFound())
    assertError(await post(`lanes/${lane_id}`, { action: 'pause' }, limited), notFound())
    assertError(await post('deliveries/replay', { ids: [id] }, limited), like(deliveriesUnknown, { argument: 'ids' }))
    assert.deepEqual((await post('deliveries/replay', { account_id: ids.account }, limited)).body, { replayed: 0 })
  })

  describe('replay', () => {
    test('a replay sends some deliveries again by their ids, in order, and records it', async (t) => {
      const subscriber = await subscribe(t, server)
      for (const id of ['again.1', 'again.2']) await handInText(server, id)
      await server.app.settle()
      const found = (await get('deliveries', { limit: '2' })).body.data.map(({ id }: Item) => id)
      const answer = await post('deliveries/replay', { ids: found })
      assert.deepEqual(answer.body, { replayed: 2 })
      await server.app.settle()
      assert.deepEqual(subscriber.messageIds(), ['again.1', 'again.2', 'again.1', 'again.2'])
      const [record] = (await get('audit', { limit: '1' })).body.data
      assert.deepEqual([record.operation, record.node_kind], ['operator.replay_deliveries', 'delivery'])
    })

    test('a replay sends all deliveries that fit a filter again, to another address', async (t) => {
      await subscribe(t, server)
      const elsewhere = await startSubscriber(t)
      server.clock.advance(86_400_000)
      const { account_id } = await newest()
      const count = 600
      // Written directly: what came of each does not matter here.
      await server.database.transaction(async (tx) => {
        const [event] = await tx.query.selectFrom('events').selectAll().limit(1).execute()
        const [delivery] = await tx.query.selectFrom('deliveries').selectAll().limit(1).execute()
        assert.ok(event && delivery)
        const { id: _, ...row } = delivery
        const now = server.clock.now()
        for (let index = 0; index < count; index++) {
          const times = { created_time: now, due_time: now, started_time: now, finished_time: now }
          const conversation = `replayed ${index % 50}`
          await tx.query
            .insertInto('deliveries')
            .values({ ...row, ...times, conversation, state: 'failed' })
            .execute()
        }
      })
      const answer = await post('deliveries/replay', { state: 'failed', account_id, since: '1h', to: elsewhere.url })
      assert.deepEqual(answer.body, { replayed: count })
      await server.app.settle()
      assert.equal(elsewhere.posts.length, count)
      assert.equal((await get('deliveries', { state: 'failed', since: '1h' })).body.data.length, 0)
    })

    test('a replay by ids replays all deliveries, or none when one of them is unknown', async (t) => {
      const subscriber = await subscribe(t, server)
      await handInText(server, 'none.1')
      await server.app.settle()
      const { id } = await newest()
      assertError(
        await post('deliveries/replay', { ids: [id, '999999'] }),
        deliveriesUnknown('ids', { ids: ['999999'] }),
      )
      await server.app.settle()
      assert.deepEqual(subscriber.messageIds(), ['none.1'])
    })

    for (const [name, json, expected] of [
      ['nothing', {}, nothingToReplay()],
      ['both', { ids: ['1'], state: 'failed' }, idsAndFilters()],
      ['a bad address', { ids: ['1'], to: 'ftp://example.com' }, like(notAUrl, { argument: 'to' })],
    ] as const) {
      test(`deliveries and lanes at the operator door, replay: 400 with ${name}`, async () => {
        assertError(await post('deliveries/replay', json), expected)
      })
    }
  })

  describe('a lane', () => {
    test('a lane that is paused sends nothing until it is resumed', async (t) => {
      const subscriber = await subscribe(t, server)
      await handInText(server, 'lane.1')
      await server.app.settle()
      const { lane_id } = await newest()
      const paused = (await post(`lanes/${lane_id}`, { action: 'pause' })).body
      assert.deepEqual([paused.paused_by_operator, paused.paused_until], [true, '9999-12-31T23:59:59.000Z'])
      await handInText(server, 'lane.2')
      await handInText(server, 'lane.3', userOf(3))
      await server.app.settle()
      assert.deepEqual(subscriber.messageIds(), ['lane.1'])
      server.clock.advance(5000)
      const { data } = (await get('lanes', { app_id: ids.application, waiting: 'true', limit: '1000' })).body
      const lane = data.find(({ id }: Item) => id === lane_id)
      assert.deepEqual(
        [lane.waiting, lane.conversations, lane.oldest_age, lane.callback_url],
        [2, 2, 5, subscriber.url],
      )
      assert.deepEqual([lane.subscribed, lane.listener], [true, false])
      const state = (await get('state')).body.lanes
      assert.ok(state.waiting >= 2 && state.oldest_age >= 5)
      assert.equal((await post(`lanes/${lane_id}`, { resume: true })).body.paused_until, null)
      await server.app.settle()
      assert.deepEqual(subscriber.messageIds().sort(), ['lane.1', 'lane.2', 'lane.3'])
      // Another callback takes its place.
      await subscribe(t, server)
      const { data: all } = (await get('lanes', { app_id: ids.application, limit: '1000' })).body
      assert.equal(all.find(({ id }: Item) => id === lane_id).subscribed, false)
    })

    test('a lane that is paused for a while goes on by itself', async (t) => {
      const subscriber = await subscribe(t, server)
      await handInText(server, 'while.1')
      await server.app.settle()
      const { lane_id } = await newest()
      assert.equal((await post(`lanes/${lane_id}`, { pause: true, for: '1m' })).status, 200)
      await handInText(server, 'while.2')
      await server.app.settle()
      assert.deepEqual(subscriber.messageIds(), ['while.1'])
      server.clock.advance(60_000)
      await server.app.settle()
      assert.deepEqual(subscriber.messageIds(), ['while.1', 'while.2'])
    })

    test('a lane whose subscriber was down is tried at once when it is resumed', async (t) => {
      const subscriber = await subscribe(t, server)
      subscriber.answerWith(refuseWith(500))
      for (const index of [1, 2, 3]) await handInText(server, `down.${index}`, userOf(index))
      await server.app.settle()
      const { lane_id } = await newest()
      const find = async () =>
        (await get('lanes', { limit: '1000' })).body.data.find(({ id }: Item) => id === lane_id) as Item
      assert.equal((await find())['down'], true)

      assert.equal((await post(`lanes/${lane_id}`, { action: 'resume' })).body.failures, 0)
      server.clock.advance(minute)
      await server.app.settle()
      assert.ok(((await find())['failures'] as number) > 0, 'it is not healthy while its retries fail')

      subscriber.answerWith(takeIt)
      assert.equal((await post(`lanes/${lane_id}`, { action: 'resume' })).status, 200)
      await handInText(server, 'down.4', userOf(4))
      await server.app.settle()
      assert.ok(subscriber.messageIds().includes('down.4'))
      assert.equal((await find())['down'], false)
    })

    test('a lane that is resumed sends at once what waited for its retry, with no event besides', async (t) => {
      const subscriber = await subscribe(t, server)
      subscriber.answerWith(refuseWith(500))
      for (const index of [1, 2, 3, 4]) await handInText(server, `retried.${index}`, userOf(index))
      await server.app.settle()
      // After some retries they are an hour and more apart.
      for (const _ of Array.from({ length: 8 })) {
        server.clock.advance(2 * hour)
        await server.app.settle()
      }
      const { lane_id } = await newest()
      subscriber.answerWith(takeIt)
      const taken = () => subscriber.messageIds().filter((id) => id.startsWith('retried.'))
      const before = taken().length
      assert.equal((await post(`lanes/${lane_id}`, { action: 'resume' })).status, 200)
      await server.app.settle()
      assert.deepEqual(taken().slice(before).sort(), ['retried.1', 'retried.2', 'retried.3', 'retried.4'])
    })

    test('a lane that is resumed while a process holds it sends its retries at once', async (t) => {
      const subscriber = await subscribe(t, server)
      subscriber.answerWith(refuseWith(500))
      await handInText(server, 'held.1')
      await server.app.settle()
      const { lane_id } = await newest()
      subscriber.answerWith(takeIt)
      await handInText(server, 'held.2', userOf(2))
      assert.equal((await post(`lanes/${lane_id}`, { action: 'resume' })).status, 200)
      await server.app.settle()
      assert.deepEqual(subscriber.messageIds().sort(), ['held.1', 'held.1', 'held.2'])
    })

    test('a lane whose subscriber is down counts as down until it is no address of its app and nothing waits for it', async (t) => {
      const countDown = async () => {
        const metric = /^switchboard_delivery_lanes_down (\d+)$/m.exec((await server.client.get('/metrics')).text)
        const { down } = (await get('state')).body.lanes
        assert.equal(metric?.[1], String(down))
        return down
      }
      const before = await countDown()
      const subscriber = await subscribe(t, server)
      subscriber.answerWith(refuseWith(500))
      for (const index of [1, 2, 3]) await handInText(server, `former.${index}`, userOf(index))
      await server.app.settle()
      assert.equal(await countDown(), before + 1)
      await subscribe(t, server)
      assert.equal(await countDown(), before + 1, 'its retries are still to come')
      // While it is down, one delivery is tried and given up at a time.
      for (const _delivery of [1, 2, 3]) {
        server.clock.advance(8 * day)
        await server.app.settle()
      }
      assert.equal(await countDown(), before)
    })

    test('a lane of an app that was unlinked from its last account is not subscribed, and does not count as down', async (t) => {
      const subscriber = await subscribe(t, server)
      subscriber.answerWith(refuseWith(500))
      for (const index of [1, 2, 3]) await handInText(server, `unlinked.${index}`, userOf(index))
      await server.app.settle()
      const { lane_id } = await newest()
      const read = async () => {
        const { data } = (await get('lanes', { app_id: ids.application, limit: '1000' })).body
        const { subscribed, down, waiting } = data.find(({ id }: Item) => id === lane_id)
        return { subscribed, down, waiting, counted: (await get('state')).body.lanes.down }
      }
      const linked = await read()
      assert.deepEqual([linked.subscribed, linked.down, linked.waiting], [true, true, 3])
      const links = `/v23.0/${ids.account}/subscribed_apps`
      assert.equal((await server.client.delete(links, { token: tokens.owner })).status, 200)
      assert.deepEqual(await read(), { ...linked, subscribed: false }, 'its retries are still to come')
      for (const _delivery of [1, 2, 3]) {
        server.clock.advance(8 * day)
        await server.app.settle()
      }
      assert.deepEqual(await read(), { subscribed: false, down: true, waiting: 0, counted: linked.counted - 1 })
      assert.equal((await server.client.post(links, { token: tokens.owner })).status, 200)
      assert.equal((await read()).subscribed, true)
    })

    test('400 without an action, with two, or with a bad length; 404 where there is none', async () => {
      const { lane_id } = await newest()
      assertError(await post(`lanes/${lane_id}`, {}), laneActionUnclear())
      assertError(await post(`lanes/${lane_id}`, { pause: true, resume: true }), laneActionUnclear())
      assertError(await post(`lanes/${lane_id}`, { action: 'pause', for: 'ever' }), notADuration('for'))
      assertError(await post('lanes/none', { action: 'pause' }), notFound())
    })
  })
})

// No worker, so that nothing is attempted.
onOneDatabase('deliveries before their first attempt', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { ROLE: 'api' } })
  const get = async (path: string) => (await server.client.get(`/operator/${path}`, { token: tokens.operator })).body

  test('a delivery that waits has the body that will be sent, and no attempt', async (t) => {
    await subscribe(t, server)
    await handInText(server, 'waits.1')
    const [listed] = (await get('deliveries')).data
    const { state, failing, tries, payload } = await get(`deliveries/${listed.id}`)
    assert.deepEqual([state, failing, tries], ['waiting', false, []])
    assert.equal(JSON.parse(payload).entry[0].changes[0].value.messages[0].id, 'waits.1')
  })
})
