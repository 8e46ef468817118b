import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { numberCalls } from '../../../test/harness/number-calls.ts'
import { startTestServer, type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { startSink } from '../../../test/harness/sink.ts'
import { startSubscriber, subscribe } from '../../../test/harness/subscriber.ts'
import { handInText } from '../../../test/harness/webhooks.ts'
import { accounts, ids, numbers, testWorld, tokens } from '../../../test/harness/world.ts'
import { callbackBodyWrong } from '../../egress/errors.ts'
import { appNotLinked, appNotSubscribed, onlyIfWithoutRemoval, overrideNotAUrl } from './errors.ts'

const temporary = (override_callback_uri: string, rest: object = {}) => ({
  webhook_configuration: { override_callback_uri, temporary: true, ...rest },
})
const removal = temporary('')
const linksOf = `/v23.0/${accounts.private}/subscribed_apps`
const link = (server: TestServer) => server.client.post(linksOf, { token: tokens.owner })
const unlink = (server: TestServer) => server.client.delete(linksOf, { token: tokens.owner })
const own = (override_callback_uri: string) => ({ webhook_configuration: { override_callback_uri } })

onOneDatabase('a callback of a number for a while', 'sqlite', (engine) => {
  test('it stands in front of every other address, which may change meanwhile and count again afterwards', async (t) => {
    const server = await startTestServer({ engine })
    t.after(() => server.stop())
    const { set } = numberCalls(server)
    const app = await subscribe(t, server)
    const all = {
      app,
      account: await startSubscriber(t),
      webhook: await startSubscriber(t),
      number: await startSubscriber(t),
      agent: await startSubscriber(t),
      next: await startSubscriber(t),
    }
    const change = async (json: object) => {
      const answer = await set(numbers.main, json)
      assert.deepEqual([answer.status, answer.body], [200, { success: true }], answer.text)
    }
    let count = 0
    /** Who hears of the next event of the number. */
    const heard = async () => {
      const id = `wamid.${count++}`
      assert.equal((await handInText(server, id)).status, 200)
      await server.app.settle()
      return Object.entries(all).flatMap(([name, { messageIds }]) => (messageIds().includes(id) ? [name] : []))
    }

    assert.deepEqual(await heard(), ['app'])
    await change(temporary(all.agent.url, { verify_token: 'of-the-agent' }))
    assert.deepEqual(await heard(), ['agent'])
    await change(removal)
    assert.deepEqual(await heard(), ['app'])

    await change(own(all.number.url))
    assert.deepEqual(await heard(), ['number'])
    await change(temporary(all.agent.url))
    assert.deepEqual(await heard(), ['agent'])
    // Whoever was killed cannot remove its own: the next one replaces it, and removes that.
    await change(temporary(all.next.url))
    assert.deepEqual(await heard(), ['next'])
    // Whoever was replaced removes its own alone.
    await change({ webhook_configuration: { ...removal.webhook_configuration, only_if: all.agent.url } })
    assert.deepEqual(await heard(), ['next'])
    await change({ webhook_url: all.webhook.url, ...own('') })
    assert.deepEqual(await heard(), ['next'], 'what is beneath it changes, and does not count')
    await change(removal)
    assert.deepEqual(await heard(), ['webhook'])

    await change(temporary(all.agent.url))
    await change({ webhook_configuration: { ...removal.webhook_configuration, only_if: all.agent.url } })
    assert.deepEqual(await heard(), ['webhook'])

    await change(temporary(all.agent.url))
    await change(own(all.number.url))
    await change(own(''))
    assert.deepEqual(await heard(), ['agent'], 'the removal of another one leaves it')
    await change({ webhook_configuration: { override_callback_uri: all.number.url, temporary: false } })
    await change(removal)
    assert.deepEqual(await heard(), ['number'])
    await change(removal)
    assert.deepEqual(await heard(), ['number'], 'nothing is there to remove')

    await change(temporary(all.agent.url))
    await unlink(server)
    await link(server)
    assert.deepEqual(await heard(), ['app'], 'the end of the link was the end of its callbacks')
  })

  const server = useTestServer({ engine })
  const { set } = numberCalls(server)

  test('it is asked as others are, by the token that is given or the one of the subscription, and not to be removed', async (t) => {
    await subscribe(t, server)
    const agreed = await startSink(t, ({ target }, response) =>
      response.end(new URL(target, 'http://sink').searchParams.get('hub.challenge')),
    )
    assert.equal((await set(numbers.main, temporary(`${agreed.url}/hook`, { verify_token: 'mine' }))).status, 200)
    assert.equal((await set(numbers.main, temporary(`${agreed.url}/hook`))).status, 200)
    const tokensOf = agreed.requests.map(({ target }) =>
      new URL(target, 'http://sink').searchParams.get('hub.verify_token'),
    )
    assert.equal(tokensOf[0], 'mine')
    assert.notEqual(tokensOf[1], 'mine')
    assert.equal((await set(numbers.main, removal)).status, 200)
    assert.equal(agreed.requests.length, 2, 'a removal asks nobody')

    const refusing = await startSink(t, (_, response) => response.end('no'))
    assertError(await set(numbers.main, temporary(refusing.url)), callbackBodyWrong())
    assertError(await set(numbers.main, temporary('http://[half')), overrideNotAUrl())
    for (const other of [
      { override_callback_uri: '' },
      { override_callback_uri: 'http://127.0.0.1:1', temporary: true },
    ]) {
      const body = { webhook_configuration: { ...other, only_if: 'http://127.0.0.1:2' } }
      assertError(await set(numbers.main, body), onlyIfWithoutRemoval())
    }
    assert.equal((await set(numbers.main, temporary('', { temporary: 'yes' }))).status, 400)
    const row = await server.database.read.query
      .selectFrom('phone_number_callbacks')
      .select(['override_callback_uri', 'webhook_url', 'temporary_callback_uri'])
      .where('phone_number_id', '=', numbers.main)
      .executeTakeFirst()
    assert.deepEqual({ ...row }, { override_callback_uri: null, webhook_url: null, temporary_callback_uri: null })
  })

  test('it needs the rights that others need', async (t) => {
    const sink = await startSubscriber(t)
    const joined = `/v23.0/${accounts.shared}/subscribed_apps`
    assert.equal((await server.client.post(joined, { token: tokens.partner })).status, 200)
    assertError(await set(numbers.shared, temporary(sink.url), tokens.partner), appNotSubscribed())
    assert.equal((await set(numbers.shared, removal, tokens.partner)).status, 200)
    await unlink(server)
    assertError(await set(numbers.main, temporary(sink.url)), appNotLinked())
    assertError(await set(numbers.main, removal), appNotLinked())
    await link(server)
  })

  test('operators see where the number sends, and that its lane is in use', async (t) => {
    await subscribe(t, server)
    const agent = await startSubscriber(t)
    const get = (path: string, query: Record<string, string> = {}) =>
      server.client.get(`/operator/${path}`, { token: tokens.operator, query })
    const lane = async () => {
      const { data } = (await get('lanes', { app_id: ids.application })).body
      return data.find(({ callback_url }: { callback_url: string }) => callback_url === agent.url)
    }
    assert.equal((await set(numbers.main, temporary(agent.url))).status, 200)
    assert.equal((await lane()).subscribed, true)
    assert.equal((await handInText(server, 'wamid.why')).status, 200)
    await server.app.settle()
    const { subscribers } = (await get('why/wamid.why')).body
    assert.deepEqual(
      subscribers.map(({ callback_url }: { callback_url: string }) => callback_url),
      [agent.url],
    )
    assert.equal((await set(numbers.main, removal)).status, 200)
    assert.equal((await lane()).subscribed, false)
  })

  test('the configuration of the number shows it while it stands, and what was there before afterwards', async (t) => {
    const own = await startSubscriber(t)
    const agent = await startSubscriber(t)
    const world = testWorld()
    const [app, ...others] = world.apps
    assert.ok(app)
    const webhook = { callback_url: own.url, verify_token: 'vt' }
    const server = await startTestServer({
      engine,
      env: { VOCABULARY: 'whatsapp' },
      world: { ...world, apps: [{ ...app, webhook }, ...others] },
    })
    t.after(() => server.stop())
    const path = `/v23.0/${numbers.main}`
    const read = async () => {
      const query = { fields: 'webhook_configuration' }
      return (await server.client.get(path, { token: tokens.owner, query })).body.webhook_configuration
    }
    const change = async (json: object) => {
      const answer = await server.client.post(path, { token: tokens.owner, json })
      assert.deepEqual(answer.body, { success: true }, answer.text)
    }
    const linked = await server.client.post(linksOf, { token: tokens.owner })
    assert.equal(linked.status, 200, linked.text)
    for (const before of ['', `${own.url}/of-the-number`]) {
      await change({ webhook_configuration: { override_callback_uri: before } })
      const expected = { application: own.url, ...(before && { phone_number: before }) }
      assert.deepEqual(await read(), expected)
      await change(temporary(agent.url, { verify_token: 'of-the-agent' }))
      assert.deepEqual(await read(), { application: own.url, phone_number: agent.url })
      await change(removal)
      assert.deepEqual(await read(), expected)
    }
  })
})
