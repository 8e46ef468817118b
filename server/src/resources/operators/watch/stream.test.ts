import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertArgument, assertError, like } from '../../../../test/harness/errors.ts'
import { startSecondProcess } from '../../../../test/harness/second-process.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { subscribe } from '../../../../test/harness/subscriber.ts'
import { handInText } from '../../../../test/harness/webhooks.ts'
import { accounts, ids, numbers, strangerIds, tokens } from '../../../../test/harness/world.ts'
import { notFound, waitTooLong } from '../../../graph/errors.ts'
import { nothingHappened } from '../errors.ts'

type Item = Record<string, unknown>

interface Heard {
  readonly id: string
  readonly type: string
  readonly data: Item
}

/** A listener of Server-Sent Events. */
async function listen(t: TestContext, url: string, query = '', lastId?: string) {
  const stop = new AbortController()
  t.after(() => stop.abort())
  const response = await fetch(`${url}/operator/stream${query}`, {
    headers: { authorization: `Bearer ${tokens.operator}`, ...(lastId !== undefined && { 'last-event-id': lastId }) },
    signal: stop.signal,
  })
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
  const heard: Heard[] = []
  const reader = (response.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const next = async (): Promise<boolean> => {
    const { value, done } = await reader.read()
    if (done) return false
    text += value
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]))
      const data = fields.get('data')
      if (data !== undefined) {
        heard.push({ id: fields.get('id') ?? '', type: fields.get('event') ?? '', data: JSON.parse(data) })
      }
    }
    return true
  }
  // The first comment: from here on everything is heard.
  await next()
  return {
    heard,
    stop: () => stop.abort(),
    async until(fits: (one: Heard) => boolean): Promise<Heard> {
      for (;;) {
        const found = heard.find(fits)
        if (found) return found
        assert.ok(await next(), 'the stream ended')
      }
    },
    async toEnd(): Promise<void> {
      while (await next());
    },
  }
}

onOneDatabase('what operators watch', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const get = (path: string, query: Record<string, string> = {}, token: string = tokens.operator) =>
    server.client.get(`/operator/${path}`, { token, query })

  test('a stream has requests, events, messages, deliveries and tries as they happen', async (t) => {
    const subscriber = await subscribe(t, server)
    const stream = await listen(t, server.url)
    const answer = await handInText(server, 'streamed.1')
    await subscriber.whenPosted(1)
    const attempt = await stream.until(({ type }) => type === 'try')
    const delivered = await stream.until(({ type, data }) => type === 'delivery' && stateOf(data) === 'delivered')
    const message = await stream.until(({ type }) => type === 'message')
    await stream.until(({ type }) => type === 'event')
    const request = await stream.until(({ data }) => detailsOf(data)['operation'] === 'receiver.post')
    const trace = answer.headers.get('x-svctrace-id')
    for (const one of [attempt, delivered, message, request]) assert.equal(one.data['trace'], trace, one.type)
    assert.deepEqual([message.data['account_id'], message.data['phone_number_id']], [ids.account, numbers.main])
    assert.equal(detailsOf(attempt.data)['status'], 200)
    assert.equal(new Set(stream.heard.map(({ id }) => id)).size, stream.heard.length, 'each of them once')
  })

  test('a stream is filtered by type, account and number, and by the limits of the token', async (t) => {
    await subscribe(t, server)
    const events = await listen(t, server.url, '?types=event')
    const elsewhere = await listen(t, server.url, `?types=event&account_id=${accounts.shared}`)
    await handInText(server, 'filtered.1')
    await events.until(({ type }) => type === 'event')
    assert.ok(events.heard.every(({ type }) => type === 'event'))
    assert.deepEqual(elsewhere.heard, [])
    assertArgument(await get('stream', { types: 'event,rain' }), 'types')
  })

  test('a stream resumes behind the last that was seen, and says reset where that is not known', async (t) => {
    await subscribe(t, server)
    const first = await listen(t, server.url, '?types=message')
    await handInText(server, 'resumed.1')
    const last = await first.until(({ type }) => type === 'message')
    first.stop()
    await handInText(server, 'resumed.2')
    const second = await listen(t, server.url, '?types=message', last.id)
    const next = await second.until(({ type }) => type === 'message')
    assert.match(JSON.stringify(next.data), /resumed\.2/)
    const third = await listen(t, server.url, '?types=message', 'event-999999')
    await third.until(({ type }) => type === 'reset')
  })

  // The embedded store has one process.
  const onMany = engine === 'postgres' ? test : () => undefined

  onMany('every process shows what happens on all of them', async (t) => {
    const { app, client } = await startSecondProcess(server)
    t.after(() => app.close(1000))
    const stream = await listen(t, client.url)
    await handInText(server, 'elsewhere.1')
    await stream.until(({ type }) => type === 'message')
    await get('state')
    await stream.until(({ data }) => detailsOf(data)['operation'] === 'operator.read_state')
  })

  test('waiting gives the first that fits, of the past too', async (t) => {
    await subscribe(t, server)
    const soon = get('wait', { type: 'message', account_id: ids.account, timeout: '30s' })
    // Only what happens while it waits counts: it is sent until it is heard.
    let isDone = false
    const done = soon.finally(() => {
      isDone = true
    })
    for (let count = 0; !isDone; count++) await handInText(server, `awaited.${count}`)
    const { status, body } = await done
    assert.deepEqual([status, body.type, body.account_id], [200, 'message', ids.account])
    server.clock.advance(60_000)
    await handInText(server, 'past.1')
    const past = await get('wait', { type: 'event', since: '10s', phone_number_id: numbers.main })
    assert.match(past.text, /past\.1/)
  })

  test('408 when nothing came, 400 for a wait that is too long', async () => {
    const query = { type: 'call', account_id: strangerIds.account, timeout: '0.01' }
    assertError(await get('wait', query), nothingHappened({ type: 'call', waited: 0.01 }))
    assertError(await get('wait', { type: 'call', timeout: '61s' }), waitTooLong('timeout'))
  })

  test('a trace has all that a request set off, in order', async (t) => {
    const subscriber = await subscribe(t, server)
    // A delivery ends later than its try began, and still stands before it.
    subscriber.answerWith((_post, response) => {
      server.clock.advance(5)
      response.end()
    })
    const trace = 'ab'.repeat(16)
    const traceparent = `00-${trace}-${'cd'.repeat(8)}-01`
    const json = {
      object: 'msgapp_business_account',
      entry: [{ id: ids.account, changes: [{ field: 'messages', value: traced('traced.1') }] }],
    }
    await server.client.post('/msgapp/webhooks', { token: tokens.gateway, json, headers: { traceparent } })
    await server.app.settle()
    const { body } = await get(`traces/${trace}`)
    assert.deepEqual(
      body.data.map(({ type }: Item) => type),
      ['request', 'event', 'message', 'delivery', 'try'],
    )
    assert.match(String(subscriber.posts[0]?.headers['traceparent']), new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`))
    await server.client.post(`/v23.0/${ids.account}`, {
      token: tokens.owner,
      json: { name: 'Traced' },
      headers: { traceparent: traceparent.replaceAll('ab', 'ef') },
    })
    const message = { messaging_product: 'msgapp', to: '16505551234', text: { body: 'Traced' } }
    await server.client.post(`/v23.0/${numbers.main}/messages`, {
      token: tokens.owner,
      json: message,
      headers: { traceparent: traceparent.replaceAll('ab', 'fe') },
    })
    await server.app.settle()
    const sent = (await get(`traces/${'fe'.repeat(16)}`)).body.data.map(({ type }: Item) => type)
    assert.deepEqual(sent.slice(0, 3), ['request', 'audit', 'event'])
    const written = (await get(`traces/${'ef'.repeat(16)}`)).body.data
    assert.deepEqual(
      written.map(({ type }: Item) => type),
      ['request', 'audit'],
    )
    assertError(await get(`traces/${trace}`, {}, tokens.limitedOperator), notFound())
    assertError(await get('traces/none'), notFound())
  })

  test('requests are kept with headers and bodies, secrets redacted', async () => {
    await server.client.post(`/v23.0/${ids.account}?access_token=hidden-in-the-query`, {
      token: tokens.owner,
      json: { name: 'Kept', secret: 'hidden-in-the-body' },
    })
    const { body, text } = await get('requests', { operation: 'account.update', limit: '1' })
    const [request] = body.data
    assert.deepEqual([request.status, request.door, request.business_id], [200, 'business', ids.business])
    assert.match(request.request_body, /Kept/)
    assert.match(request.response_body, /success/)
    assert.equal(request.request_headers.authorization, '…')
    for (const secret of ['hidden-in-the-query', 'hidden-in-the-body', tokens.owner]) assert.ok(!text.includes(secret))
    await server.client.get(`/v23.0/${ids.account}`, { token: 'nobody' })
    const [refused] = (await get('requests', { door: 'business', status: '401', limit: '1' })).body.data
    assert.equal(refused.error.code, 190)
    const limited = (await get('requests', {}, tokens.limitedOperator)).body.data
    for (const one of limited) assert.equal(one.business_id, strangerIds.business)
  })

  test('secrets are hidden however they are written; bodies of worlds are not kept', async () => {
    const path = `/v23.0/${numbers.main}/register`
    const json = { 'content-type': 'application/json' }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const bodies: [string, Record<string, string>][] = [
      ['{"messaging_product":"msgapp","p\\u0069n":"135791","a":{"token":["135791"]}}', json],
      ['messaging_product=msgapp&p%69n=135791', form],
      [
        '--b\r\nContent-Disposition: form-data; name="pin"\r\n\r\n135791\r\n--b--\r\n',
        { 'content-type': 'multipart/form-data; boundary=b' },
      ],
    ]
    for (const [raw, headers] of bodies) await server.client.post(path, { token: tokens.owner, raw, headers })
    const found = (await get('requests', { operation: 'phone_numbers.register', limit: '3' })).body.data
    assert.equal(found.length, 3)
    for (const { request_body } of found) assert.match(request_body, /^(?!.*135791).*…/s)

    const world = { tokens: [{ token: 'hidden-in-a-world', app_id: 'nobody' }], nonsense: 1 }
    const raw = JSON.stringify(world)
    await server.client.post('/operator/reset', { token: tokens.operator, json: { world: raw } })
    await server.client.post('/operator/world', { token: tokens.operator, raw, headers: json })
    await server.client.get('/operator/world', { token: tokens.operator })
    for (const operation of ['sandbox.reset', 'operator.apply_world', 'operator.export_world']) {
      const [request] = (await get('requests', { operation, limit: '1' })).body.data
      assert.deepEqual([request?.operation, request?.request_body, request?.response_body], [operation, null, null])
    }
  })

  test('a request that nobody can read ends nothing, while somebody listens', async (t) => {
    await listen(t, server.url)
    const query = `x=["[${'\\"['.repeat(4_000)}`
    const { status } = await server.client.get(`/nothing/a/b/c?${encodeURI(query)}`)
    assert.ok(status >= 400 && status < 500)
    assert.equal((await get('requests', { limit: '1000' })).status, 200)
  })

  test('what operators watch refused requests of strangers push out no others', async () => {
    const { headers } = await server.client.get(`/v23.0/${numbers.main}`, { token: tokens.owner })
    const trace = headers.get('x-svctrace-id') ?? ''
    for (let index = 0; index < 1100; index++) await server.client.get(`/v23.0/${ids.account}`)
    const kept = (await get('requests', { trace })).body.data
    assert.equal(kept.length, 1)
    const refused = (await get('requests', { status: '401', limit: '1000' })).body.data
    assert.ok(refused.length >= 100 && refused.length <= 130, `${refused.length} of the refused`)
  })

  test('large requests push out the oldest, so that what is kept is bounded', async () => {
    const about = 'x'.repeat(16_000)
    for (let index = 0; index < 140; index++) {
      await server.client.post(`/v23.0/${ids.account}`, {
        token: tokens.owner,
        json: { name: `Large ${index}`, about },
      })
    }
    const { body } = await get('requests', { operation: 'account.update', limit: '1000' })
    const kept = body.data.map(({ request_body }: { request_body: string }) => request_body)
    assert.match(kept[0], /Large 139/)
    assert.ok(!kept.some((text: string) => text.includes('Large 0"')), 'the first is gone')
    const bytes = kept.reduce((sum: number, text: string) => sum + text.length, 0)
    assert.ok(bytes <= 2 << 20, `${bytes} bytes of bodies`)
    assert.ok(bytes > 1 << 20, `only ${bytes} bytes of bodies`)
  })

  onMany('a stream ends when the service stops', async (t) => {
    const { app, client } = await startSecondProcess(server)
    const stream = await listen(t, client.url)
    await Promise.all([stream.toEnd(), app.close(10_000)])
  })
})

onOneDatabase('what operators watch of events whose content was removed', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { MESSAGE_BODY_KEEP: '0' } })
  const get = (path: string, query: Record<string, string> = {}) =>
    server.client.get(`/operator/${path}`, { token: tokens.operator, query })

  test('traces, wait and a stream show them without their values, and a try without its body', async (t) => {
    const subscriber = await subscribe(t, server)
    const stream = await listen(t, server.url, '?types=event')
    const answer = await handInText(server, 'removed.1')
    const { id } = await stream.until(({ data }) => JSON.stringify(data).includes('removed.1'))
    await subscriber.whenPosted(1)
    await server.app.settle()
    server.clock.advance(60_000)
    await server.app.sweep()

    const trace = await get(`traces/${answer.headers.get('x-svctrace-id')}`)
    assert.equal(trace.status, 200, trace.text)
    const shown = trace.body.data.filter(({ type }: Item) => type === 'event' || type === 'message')
    const removed = { value: null, content_removed: true, subject: null }
    const data = { event_id: id.replace('event-', ''), field: 'messages', ...removed }
    assert.deepEqual(shown.map(detailsOf), [data, data])
    const { delivery_id } = detailsOf(trace.body.data.find(({ type }: Item) => type === 'try'))
    const delivery = await get(`deliveries/${delivery_id}`)
    assert.deepEqual([delivery.status, delivery.body.tries[0].request.body], [200, null], delivery.text)
    const past = await get('wait', { type: 'message', since: '1h' })
    assert.deepEqual([past.status, detailsOf(past.body)], [200, data], past.text)

    await handInText(server, 'removed.2')
    await stream.until((one) => JSON.stringify(one.data).includes('removed.2'))
  })
})

// The embedded store has one process.
describe('what other processes tell operators who watch (postgres)', () => {
  const server = useTestServer({ engine: 'postgres' })

  test('what other processes tell operators who watch is not shown where it has another form, and harms nothing', async (t) => {
    const stream = await listen(t, server.url, '?types=timer')
    const none = { business_id: null, account_id: null, phone_number_id: null, trace: null }
    const good = { id: 'timer-good', type: 'timer', time: server.clock.now(), ...none, data: { kind: 'told' } }
    const others = [
      ...[null, 7, [], {}, 'timer'],
      { ...good, id: 1 },
      { ...good, type: 'rain' },
      ...[undefined, null, 'now', 8.64e15 + 1].map((time) => ({ ...good, time })),
      { ...good, account_id: 5 },
      { ...good, trace: undefined },
      { ...good, data: null },
    ]
    // With a member that only a newer version knows.
    const said = [...others, { ...good, mood: 'new' }].map((one) => JSON.stringify(one))
    for (const one of [said.slice(0, -1), said.slice(-1)]) {
      await server.database.notifications?.send('switchboard', JSON.stringify({ from: 'another', said: one }))
    }
    await stream.until(({ id }) => id === good.id)
    const told = stream.heard.map(({ data }) => data).filter((one) => detailsOf(one)['kind'] === 'told')
    assert.deepEqual(told, [{ ...good, time: new Date(good.time).toISOString() }])
  })
})

onOneDatabase('outside a sandbox', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { SANDBOX: 'off' } })
  test('requests are kept without their paths, headers and bodies', async () => {
    await server.client.get(`/v23.0/${ids.account}`, { token: tokens.owner })
    const { body } = await server.client.get('/operator/requests', { token: tokens.operator })
    assert.ok(body.data.length > 0)
    for (const request of body.data) {
      for (const name of ['target', 'request_headers', 'request_body']) assert.ok(!(name in request), name)
    }
    assertError(
      await server.client.get('/operator/wait', { token: tokens.operator, query: { type: 'timer', timeout: '0' } }),
      like(nothingHappened, { type: 'timer' }),
    )
  })
})

function detailsOf(data: Item): Item {
  return (data['data'] ?? {}) as Item
}

function stateOf(data: Item): unknown {
  return detailsOf(data)['state']
}

function traced(id: string) {
  const message = { from: '16505551234', id, timestamp: '1780315200', type: 'text', text: { body: 'Hello' } }
  return {
    messaging_product: 'msgapp',
    metadata: { display_phone_number: '16315551001', phone_number_id: numbers.main },
    contacts: [{ profile: { name: 'Ana' }, wa_id: '16505551234' }],
    messages: [message],
  }
}
