import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { openStream } from '../../../test/harness/event-stream.ts'
import { startSecondProcess } from '../../../test/harness/second-process.ts'
import { startTestServer, useTestServer } from '../../../test/harness/server.ts'
import { changeIn, subscribe } from '../../../test/harness/subscriber.ts'
import { until } from '../../../test/harness/until.ts'
import { anyUser, envelopeOf, handIn, handInText, metadata } from '../../../test/harness/webhooks.ts'
import { ids, numbers, tokens } from '../../../test/harness/world.ts'
import { notADuration } from '../operators/public.ts'
import {
  effectNeedsOne,
  faultErrorUnknown,
  faultOfNoRequest,
  faultOperationUnknown,
  sandboxNeedsAll,
} from './errors.ts'

onOneDatabase('faults', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const put = (rules: object[], token: string = tokens.operator) =>
    server.client.call('PUT', '/operator/faults', { token, json: { rules } })
  const list = async () => (await server.client.get('/operator/faults', { token: tokens.operator })).body.rules
  const readAccount = () => server.client.get(`/v23.0/${ids.account}`, { token: tokens.owner })
  const readNumber = () => server.client.get(`/v23.0/${numbers.main}`, { token: tokens.owner })

  test('faults are a list of rules, of which the first that matches wins, so often as it says', async () => {
    const rules = [
      { match: { phone_number_id: numbers.main }, times: 1, effect: { status: 429, code: 130429 } },
      { match: { door: 'business', app_id: ids.application, operation: 'account.read' }, effect: { status: 500 } },
    ]
    const answer = await put(rules)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.body.rules, [
      { ...rules[0], rate: 1, hits: 0 },
      { ...rules[1], rate: 1, effect: { status: 500, code: 2 }, hits: 0 },
    ])
    const hit = await readNumber()
    assert.deepEqual([hit.status, hit.body.error.code], [429, 130429])
    assert.equal(hit.headers.get('x-switchboard-fault'), 'rule=0; effect=status')
    assert.equal(hit.headers.get('retry-after'), '1')
    const after = await readNumber()
    assert.deepEqual([after.status, after.headers.get('x-switchboard-fault')], [200, null])
    for (const _ of [1, 2]) assert.equal((await readAccount()).status, 500)
    assert.deepEqual(
      (await list()).map(({ hits }: { hits: number }) => hits),
      [1, 2],
    )
    await put([])
    assert.equal((await readAccount()).status, 200)
  })

  test('faults delay a request, close its connection, or never hit with a rate of 0; the rules stay within reach', async () => {
    await put([{ effect: { drop: true }, match: { operation: 'account.read' } }, { effect: { delay: '300ms' } }])
    await assert.rejects(readAccount())
    const before = performance.now()
    const late = await readNumber()
    assert.equal(late.status, 200)
    assert.ok(performance.now() - before >= 290)
    assert.equal(late.headers.get('x-switchboard-fault'), 'rule=1; effect=delay')
    await put([{ effect: { drop: true } }])
    assert.equal((await list()).length, 1)
    await put([{ rate: 0, effect: { drop: true } }])
    assert.equal((await readAccount()).status, 200)
    await put([])
  })

  test('faults are in the log of requests and in the stream as they hit, whatever they do', async (t) => {
    const stream = await openStream(t, server.url, { path: '/operator/stream', token: tokens.operator })
    const faults = () => stream.events.flatMap(({ data }) => data.data.fault ?? []).sort()
    const limited = { app_id: ids.application, scopes: ['operator'], businesses: [ids.business] }
    const own = await server.client.post('/operator/tokens', { token: tokens.operator, json: limited })
    const watch = (token: string) =>
      openStream(t, server.url, { path: '/operator/stream', query: { types: 'delivery' }, token })
    const [ofOwner, ofStranger] = [await watch(own.body.token), await watch(tokens.limitedOperator)]
    const subscriber = await subscribe(t, server)
    await put([
      { match: { operation: 'account.read' }, effect: { delay: '1ms' } },
      { match: { callback: subscriber.url }, effect: { duplicate: true }, times: 1 },
    ])
    await readAccount()
    await handInText(server, 'wamid.shown')
    await until(async () => faults().length === 2, 'both are in the stream')
    assert.deepEqual(faults(), ['rule=0; effect=delay', 'rule=1; effect=duplicate'])
    // Who is limited to a business hears of what is its, and of nothing else.
    const hit = () => ofOwner.events.find(({ data }) => data.data.fault !== undefined)
    await until(async () => hit() !== undefined, 'the owner of the account hears of it')
    assert.equal(hit()?.data.business_id, ids.business)
    assert.deepEqual(ofStranger.events, [])
    const query = { operation: 'account.read', limit: '1' }
    const { body } = await server.client.get('/operator/requests', { token: tokens.operator, query })
    assert.equal(body.data[0].fault, 'rule=0; effect=delay')
    await put([])
  })

  test('faults send a webhook twice', async (t) => {
    const subscriber = await subscribe(t, server)
    await put([{ match: { callback: subscriber.url }, effect: { duplicate: true }, times: 1 }])
    await handInText(server, 'wamid.twice')
    await server.app.settle()
    await handInText(server, 'wamid.once')
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['wamid.twice', 'wamid.twice', 'wamid.once'])
    const [first, second] = subscriber.posts
    assert.deepEqual(first?.body, second?.body)
    assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id'])
    await put([])
  })

  test('faults hold webhooks until the rules are replaced, and then send them in order', async (t) => {
    const subscriber = await subscribe(t, server)
    await put([{ match: { app_id: ids.application, phone_number_id: numbers.main }, effect: { hold: true } }])
    for (const id of ['wamid.h1', 'wamid.h2', 'wamid.h3']) await handInText(server, id)
    await server.app.settle()
    await server.client.post('/operator/clock', { token: tokens.operator, json: { advance: '1h' } })
    assert.deepEqual(subscriber.messageIds(), [])
    await put([])
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['wamid.h1', 'wamid.h2', 'wamid.h3'])
    await server.client.post('/operator/clock', { token: tokens.operator, json: { real: true } })
  })

  test('faults let a subscriber seem to fail, and a retry deliver it', async (t) => {
    const subscriber = await subscribe(t, server)
    await put([
      { match: { callback: subscriber.url }, effect: { status: 503 }, times: 1 },
      { match: { callback: subscriber.url }, effect: { drop: true }, times: 1 },
    ])
    await handInText(server, 'wamid.failed')
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), [])
    await server.client.post('/operator/clock', { token: tokens.operator, json: { advance: '3h' } })
    await server.client.post('/operator/clock', { token: tokens.operator, json: { advance: '3h' } })
    assert.deepEqual(subscriber.messageIds(), ['wamid.failed'])
    await put([])
    await server.client.post('/operator/clock', { token: tokens.operator, json: { real: true } })
  })

  test('faults let a status come after later ones', async (t) => {
    const subscriber = await subscribe(t, server)
    await put([{ effect: { reorder: 2 }, times: 1 }])
    const report = (status: string) => {
      const statuses = [{ id: 'wamid.out', status, timestamp: '1780315200', recipient_id: anyUser }]
      return { field: 'messages', value: { messaging_product: 'msgapp', metadata, statuses } }
    }
    const answer = await handIn(server, envelopeOf(['sent', 'delivered', 'read'].map(report)))
    assert.equal(answer.status, 200, answer.text)
    await server.app.settle()
    assert.deepEqual(
      subscriber.posts.map((post) => changeIn(post).value.statuses[0].status),
      ['delivered', 'read', 'sent'],
    )
    await put([])
  })

  describe('are refused', () => {
    const refusals = [
      ['without an effect', { effect: {} }, like(effectNeedsOne, { argument: 'rules[0].effect' })],
      [
        'with two effects',
        { effect: { drop: true, delay: '1s' } },
        like(effectNeedsOne, { argument: 'rules[0].effect' }),
      ],
      ['with a code alone', { effect: { code: 4 } }, like(effectNeedsOne, { argument: 'rules[0].effect' })],
      [
        'with an error that there is not',
        { effect: { status: 418 } },
        like(faultErrorUnknown, { argument: 'rules[0].effect' }),
      ],
      [
        'with what is no duration',
        { effect: { delay: 'long' } },
        like(notADuration, { argument: 'rules[0].effect.delay' }),
      ],
      [
        'for an operation that there is not',
        { match: { operation: 'messages.sned' }, effect: { drop: true } },
        like(faultOperationUnknown, { argument: 'rules[0].match.operation' }),
      ],
      [
        'for webhooks of a door',
        { match: { door: 'business' }, effect: { hold: true } },
        like(faultOfNoRequest, { argument: 'rules[0].match' }),
      ],
    ] as const
    for (const [name, rule, error] of refusals) {
      test(name, async () => {
        assertError(await put([rule]), error)
        assert.deepEqual(await list(), [])
      })
    }

    test('faults are refused by an operator who sees some tenants alone', async () => {
      assertError(await put([], tokens.limitedOperator), sandboxNeedsAll())
    })
  })
})

test('fault rules hold in every process of the sandbox, and nowhere else', async (t) => {
  const server = await startTestServer({ engine: 'postgres' })
  const other = await startSecondProcess(server)
  const rules = [{ effect: { status: 500 } }]
  const put = await server.client.call('PUT', '/operator/faults', { token: tokens.operator, json: { rules } })
  assert.equal(put.status, 200, put.text)
  const closed = await startSecondProcess(server, { SANDBOX: 'off' })
  t.after(async () => {
    await other.app.close(0)
    await closed.app.close(0)
    await server.stop()
  })
  const read = async ({ client }: typeof other) =>
    (await client.get(`/v23.0/${ids.account}`, { token: tokens.owner })).status
  await until(async () => (await read(other)) === 500, 'the other process follows')
  assert.equal(await read(closed), 200)
  assert.equal((await closed.client.get('/operator/faults', { token: tokens.operator })).status, 404)
})
