import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { describe, mock, type TestContext, test } from 'node:test'
import {
  APIConnectionError,
  APIError,
  type Client,
  InternalServerError,
  NotFoundError,
  Switchboard,
  SwitchboardError,
} from '@switchboard/client'
import { Agent, fetch as fetchOfUndici, setGlobalDispatcher } from 'undici'
import manifest from '../package.json' with { type: 'json' }
import { testCertificate } from './certificate.ts'
import { skipWaits } from './skip-waits.ts'
import { connect, listenOn } from './small-server.ts'

const message = { to: '16505551234', text: { body: 'Hi' } }
const number = '4000000000000001'

/** How a message is answered, one after another; the last answer for all others. */
async function answering(t: TestContext, answers: ((response: ServerResponse) => void)[]) {
  const seen: IncomingHttpHeaders[] = []
  const { client, baseUrl } = await connect(t, (request, response) => {
    seen.push(request.headers)
    request.resume().on('end', () => (answers.length > 1 ? answers.shift() : answers[0])?.(response))
  })
  return { client, seen, baseUrl }
}

describe('what is sent again', () => {
  const waits = skipWaits()
  const sent = '{"messages":[{"id":"wamid.1"}]}'

  for (const [what, spoil] of [
    [
      'ends in its body',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': sent.length }).write(sent.slice(0, 9))
        setImmediate(() => response.destroy())
      },
    ],
    ['is no JSON', (response: ServerResponse) => response.end(sent.slice(0, 9))],
  ] as const) {
    test(`a message is sent again under its key when its 200 ${what}`, async (t) => {
      const { client, seen } = await answering(t, [spoil, (response) => response.end(sent)])
      const { messages } = await client.messages.send(number, message)
      assert.equal(messages[0]?.id, 'wamid.1')
      assert.ok(seen.length === 2 && seen[0]?.['idempotency-key'] === seen[1]?.['idempotency-key'])
    })
  }

  test('each try says who sends it, and which one it is', async (t) => {
    const { client, seen } = await answering(t, [(response) => response.writeHead(503).end()])
    await assert.rejects(client.messages.send(number, message), InternalServerError)
    const agent = `switchboard-client/${manifest.version} (node/${process.versions.node})`
    assert.deepEqual(
      seen.map((headers) => [headers['user-agent'], headers['x-retry-count']]),
      [
        [agent, undefined],
        [agent, '1'],
        [agent, '2'],
      ],
    )
    await assert.rejects(client.withOptions({ headers: { 'User-Agent': 'shop/1' } }).accounts.retrieve('1'), APIError)
    assert.equal(seen.at(-1)?.['user-agent'], 'shop/1')
  })

  test('Retry-After is waited for, and a little longer, never shorter', async (t) => {
    const { client } = await answering(t, [
      (response) => response.writeHead(429, { 'retry-after': '30' }).end(),
      (response) => response.writeHead(503, { 'retry-after': '0' }).end(),
      (response) => response.end('{}'),
    ])
    waits.length = 0
    await client.accounts.retrieve('1')
    const [long = 0, short = 0] = waits
    assert.ok(long > 30_000 && long <= 33_000 && short > 0 && short <= 250, `${waits}`)
  })

  test('an error has the key under which the message can be sent again', async (t) => {
    const ending = new AbortController()
    const { client, seen, baseUrl } = await answering(t, [
      (response) => response.writeHead(409).end('{}'),
      (response) => response.destroy(),
      () => ending.abort(),
      (response) => response.end(sent),
    ])
    const keyOf = async (call: Promise<unknown>, name: string) => {
      const error = await call.catch((failure: unknown) => failure)
      assert.ok(error instanceof SwitchboardError && error.name === name)
      return error.idempotencyKey
    }
    const once = { maxRetries: 0 }
    const key = await keyOf(client.messages.send(number, message, once), 'ConflictError')
    assert.equal(key, seen[0]?.['idempotency-key'])
    const again = client.messages.send(number, message, { ...once, idempotencyKey: key })
    assert.equal(await keyOf(again, 'APIConnectionError'), key)
    const aborted = client.messages.send(number, message, { idempotencyKey: 'mine', signal: ending.signal })
    assert.equal(await keyOf(aborted, 'APIUserAbortError'), 'mine')
    const nowhere = client.withOptions({ baseUrl: baseUrl.replace(/\d+$/, '65009') })
    assert.match((await keyOf(nowhere.messages.send(number, message), 'APIConnectionError')) ?? '', /^[0-9a-f]{32}$/)
    assert.equal(seen.length, 3)
    await client.messages.send(number, message, { idempotencyKey: key })
    assert.equal(seen[3]?.['idempotency-key'], key)
    assert.ok(!('idempotencyKey' in new SwitchboardError('x')))
  })

  test('a key is refused where it does nothing', async (t) => {
    const { client, seen } = await answering(t, [(response) => response.end('{}')])
    // @ts-expect-error: only what sends messages takes one
    const call = client.qrCodes.create(number, { prefilled_message: 'Hi' }, { idempotencyKey: 'a' })
    await assert.rejects(call, { name: 'SwitchboardError', message: 'qr_codes.save takes no idempotencyKey' })
    await client.messages.markAsRead(number, 'wamid.1', {}, { idempotencyKey: 'a' })
    assert.equal(seen.length, 1)
  })
})

test('of the body of an error the start is read, and the connection ends', async (t) => {
  const page = `<html>${'x'.repeat(99_999)}`
  const closed: Promise<unknown>[] = []
  const { client } = await connect(
    t,
    (_request, response) => {
      response.writeHead(502)
      const write = () => void (response.destroyed || response.write(page, write))
      write()
      closed.push(once(response, 'close'))
    },
    { maxRetries: 0 },
  )
  await assert.rejects(client.accounts.retrieve('1'), (error) => {
    assert.ok(error instanceof InternalServerError)
    assert.equal(error.body, page.slice(0, 65_536))
    assert.ok(error.message.length < 300)
    return true
  })
  await Promise.all(closed)
})

test('a signal that outlives its requests keeps nothing of them', async (t) => {
  const { signal } = new AbortController()
  const { client } = await connect(t, (request, response) =>
    response.writeHead(request.url?.endsWith('2') ? 404 : 200).end('{}'),
  )
  await client.accounts.retrieve('1', {}, { signal })
  await assert.rejects(client.accounts.retrieve('2', {}, { signal }), NotFoundError)
  const stream = client.operator.feed.stream({}, { signal })
  await stream.opened
  stream.close()
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('a token goes to no other host, whatever is redirected', async (t) => {
  const other = await connect(t, (_request, response) => response.end('{}'))
  const { client, asked } = await connect(t, (_request, response) =>
    response.writeHead(307, { location: `${other.baseUrl}/elsewhere` }).end('x'.repeat(100_000)),
  )
  await assert.rejects(client.accounts.retrieve('1'), /redirects to http:.+\/elsewhere: give that as baseUrl$/)
  await assert.rejects(Array.fromAsync(client.operator.feed.stream()), /redirects to/)
  assert.deepEqual([asked.length, other.asked.length], [2, 0])
})

describe('the environment', () => {
  const withEnvironment = (t: TestContext, values: Record<string, string>) => {
    const names = ['URL', 'TOKEN', 'GATEWAY_TOKEN', 'OPERATOR_TOKEN'].map((name) => `SWITCHBOARD_${name}`)
    const before = names.map((name) => [name, process.env[name]] as const)
    t.after(() => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    })
    for (const name of names) delete process.env[name]
    for (const [name, value] of Object.entries(values)) process.env[`SWITCHBOARD_${name}`] = value
  }
  const tokensOf = (client: Client) =>
    Promise.all((['business', 'gateway', 'operator', 'open'] as const).map((door) => client.tokenFor(door)))

  test('the environment says where the server is, and has the tokens, where options are left out', async (t) => {
    withEnvironment(t, { URL: 'https://shop.example/sb/', TOKEN: 'one ', GATEWAY_TOKEN: 'two', OPERATOR_TOKEN: '' })
    const client = new Switchboard()
    assert.equal(client.baseUrl, 'https://shop.example/sb')
    assert.deepEqual(await tokensOf(client), ['one', 'two', 'one', undefined])
    const given = new Switchboard({ baseUrl: 'http://127.0.0.1:1', token: 'given', operatorToken: 'own' })
    assert.equal(given.baseUrl, 'http://127.0.0.1:1')
    assert.deepEqual(await tokensOf(given), ['given', 'given', 'own', undefined])
    assert.deepEqual(await tokensOf(client.withOptions({ gatewayToken: 'other' })), ['one', 'other', 'one', undefined])
  })

  test('the environment may be empty, forbidden, or not there at all', async (t) => {
    withEnvironment(t, {})
    assert.equal(new Switchboard().baseUrl, 'http://127.0.0.1:8080')
    const { process } = globalThis
    const forbidden = new Proxy({}, { get: () => assert.fail('not permitted') })
    for (const place of [undefined, {}, { env: {}, versions: {} }, { env: forbidden }]) {
      const client = (() => {
        Object.defineProperty(globalThis, 'process', { value: place, configurable: true, writable: true })
        try {
          return new Switchboard({ headers: { 'X-A': 'b' } })
        } finally {
          Object.defineProperty(globalThis, 'process', { value: process, configurable: true, writable: true })
        }
      })()
      assert.deepEqual([client.baseUrl, client.headers], ['http://127.0.0.1:8080', { 'x-a': 'b' }])
      assert.deepEqual(await tokensOf(client), [undefined, undefined, undefined, undefined])
    }
  })
})

describe('options of fetch', () => {
  test('options of fetch carry the certificate of a client, for requests and for streams', async (t) => {
    const { key, cert } = testCertificate
    const server = createSecureServer({ key, cert, ca: cert, requestCert: true }, (request, response) => {
      if (request.url === '/operator/stream') {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('id: 1\nevent: call\ndata: {}\n\n')
      } else response.end('{"id":"1"}')
    })
    const baseUrl = `https://localhost:${await listenOn(t, server)}`
    const dispatcher = new Agent({ connect: { key, cert, ca: cert } })
    const anonymous = new Agent({ connect: { ca: cert } })
    t.after(() => Promise.all([dispatcher.destroy(), anonymous.destroy()]))
    const client = new Switchboard({ baseUrl, token: 't', fetch: fetchOfUndici, fetchOptions: { dispatcher } })
    assert.equal((await client.accounts.retrieve('1')).id, '1')
    for await (const { id } of client.operator.feed.stream()) {
      assert.equal(id, '1')
      break
    }
    const refused = client.accounts.retrieve('1', {}, { fetchOptions: { dispatcher: anonymous }, maxRetries: 0 })
    await assert.rejects(refused, APIConnectionError)
  })

  test('options of fetch change nothing of what the client says itself', async (t) => {
    const inits: object[] = []
    const { client } = await connect(t, (_request, response) => response.end('{}'), {
      fetchOptions: { keepalive: false, ...{ method: 'DELETE', headers: {}, signal: null, redirect: 'follow' } },
      fetch: (url, init) => {
        inits.push(init)
        return fetch(url, init)
      },
    })
    await client.accounts.retrieve('1', {}, { fetchOptions: { cache: 'no-store' } })
    const [{ method, redirect, keepalive, cache, headers }] = inits as [Record<string, unknown>]
    assert.deepEqual([method, redirect, keepalive, cache], ['GET', 'manual', false, 'no-store'])
    assert.equal((headers as Record<string, string>)['authorization'], 'Bearer t')
  })
})

describe('a timeout beyond the limits of Node', () => {
  test('a timeout beyond the limits of Node is waited for, and so is one of days', async (t) => {
    // Node gives up after 300 s. Here its limit is short, and what has none is answered when what has one was given up.
    const hasty = new Agent({ headersTimeout: 1, bodyTimeout: 1 })
    const global = globalThis as unknown as Record<symbol, unknown>
    const usual = [1, 2]
      .map((version) => Symbol.for(`undici.globalDispatcher.${version}`))
      .map((at) => [at, global[at]] as const)
    setGlobalDispatcher(hasty)
    t.after(() => {
      for (const [at, dispatcher] of usual) global[at] = dispatcher
      return hasty.destroy()
    })
    const waiting: (() => void)[] = []
    const { client } = await connect(t, (_request, response) => waiting.push(() => response.end('{"id":"1"}')))
    const patient = [Number.POSITIVE_INFINITY, 2 ** 40, 300_001].map((timeout) =>
      client.accounts.retrieve('1', {}, { timeout }),
    )
    await assert.rejects(
      client.accounts.retrieve('1', {}, { maxRetries: 0 }),
      (error) => error instanceof APIConnectionError && error.reason === 'UND_ERR_HEADERS_TIMEOUT',
    )
    for (const answer of waiting) answer()
    for (const { id } of await Promise.all(patient)) assert.equal(id, '1')
  })

  test('a timeout beyond the limits of Node leaves a fetch of its own alone', async () => {
    const read = mock.fn(async (_url: string, _init: object) => Response.json({ id: '1' }))
    await new Switchboard({ token: 't', fetch: read, timeout: Number.POSITIVE_INFINITY }).accounts.retrieve('1')
    assert.ok(!('dispatcher' in (read.mock.calls[0]?.arguments[1] ?? {})))
  })
})

describe('a request without a method', () => {
  const waits = skipWaits()

  test('a request without a method has tokens, retries, errors and the response', async (t) => {
    let status = 503
    const seen: unknown[] = []
    const { client, asked } = await connect(
      t,
      async (request, response) => {
        const body = (await Array.fromAsync(request)).join('')
        const { authorization, 'idempotency-key': key, 'content-type': type, 'x-a': own } = request.headers
        seen.push([authorization, key, type, own, body])
        response.writeHead(status, { 'x-svctrace-id': 'abc' }).end('{"id":"7"}')
        status = 200
      },
      { token: 'b', gatewayToken: 'g', operatorToken: 'o' },
    )
    const call = client.request<{ id: string }>({
      path: `/${number}/things`,
      query: { fields: ['a', 'b'], limit: 2, x: undefined },
    })
    const { data, trace } = await call.withResponse()
    assert.deepEqual([data.id, trace, waits.length], ['7', 'abc', 1])
    await client.request({
      method: 'PUT',
      path: '/gateway/things',
      door: 'gateway',
      body: { a: 1 },
      headers: { 'X-A': 'b' },
    })
    await client.request({ path: '/v22.0/me?a=b', token: 'mine' })
    status = 503
    await client.request({
      method: 'POST',
      path: '/operator/things',
      door: 'operator',
      body: 'bytes',
      idempotencyKey: 'k',
    })
    status = 503
    const unsafe = client.request({ method: 'POST', path: '/healthz', door: 'open' })
    await assert.rejects(unsafe, (error) => error instanceof InternalServerError && error.trace === 'abc')
    const response = await client.request({ path: '/x', as: 'response' })
    assert.equal(await response.text(), '{"id":"7"}')
    assert.deepEqual(asked, [
      `GET /v23.0/${number}/things?fields=a%2Cb&limit=2`,
      `GET /v23.0/${number}/things?fields=a%2Cb&limit=2`,
      'PUT /gateway/things',
      'GET /v22.0/me?a=b',
      'POST /operator/things',
      'POST /operator/things',
      'POST /healthz',
      'GET /v23.0/x',
    ])
    assert.deepEqual(seen.slice(1, 7), [
      ['Bearer b', undefined, undefined, undefined, ''],
      ['Bearer g', undefined, 'application/json', 'b', '{"a":1}'],
      ['Bearer mine', undefined, undefined, undefined, ''],
      ['Bearer o', 'k', 'application/octet-stream', undefined, 'bytes'],
      ['Bearer o', 'k', 'application/octet-stream', undefined, 'bytes'],
      [undefined, undefined, undefined, undefined, ''],
    ])
  })

  test('a request without a method names its path in an error, but no number of a user', async (t) => {
    const { client } = await connect(t, (_request, response) => response.writeHead(404).end('{}'))
    await assert.rejects(
      client.request({ path: 'https://elsewhere' }),
      /^SwitchboardError: the path of a request begins/,
    )
    await assert.rejects(client.request({ path: '/x' }), NotFoundError)
    const slow = await connect(t, () => undefined)
    const late = slow.client.request({ path: '/gateway/users/16505551234', door: 'gateway', timeout: 1, maxRetries: 0 })
    await assert.rejects(late, /no response to GET \/gateway\/users\/… within 1 ms/)
    const typed = () => {
      // @ts-expect-error: what comes back is not known
      void client.request({ path: '/x' }).then((thing) => thing.id)
    }
    assert.equal(typeof typed, 'function')
  })
})
