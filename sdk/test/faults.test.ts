import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { after, before, beforeEach, describe, type TestContext, test } from 'node:test'
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  type ClientOptions,
  InternalServerError,
  NotFoundError,
  type OperationName,
  PermissionDeniedError,
  RateLimitError,
  RequestTimeoutError,
  Switchboard,
  SwitchboardError,
  UnprocessableEntityError,
} from '@switchboard/client'
import { createSwitchboard, type FaultRule, type TestSwitchboard } from '@switchboard/testing'
import { skipWaits } from './skip-waits.ts'

/** A real server that misbehaves on purpose; nothing of it is imitated. */
describe('a server that misbehaves', () => {
  let sb: TestSwitchboard
  const account = '1000000000000001'
  const user = '16505551234'
  const waits = skipWaits()
  before(async () => {
    sb = await createSwitchboard()
  })
  beforeEach(() => sb.reset())
  after(() => sb.close())

  /** A client that notes what it sends. */
  function noting(options: ClientOptions = {}) {
    const sent: { method: string; headers: Record<string, string> }[] = []
    const client = new Switchboard({
      baseUrl: sb.url,
      token: sb.token,
      gatewayToken: sb.gatewayToken,
      operatorToken: sb.operatorToken,
      ...options,
      fetch: (url, init) => {
        sent.push({ method: init.method, headers: init.headers })
        return fetch(url, init)
      },
    })
    return { client, sent }
  }

  const failing = (operation: OperationName, effect: FaultRule['effect'], times = 1): Promise<void> =>
    sb.faults([{ match: { operation }, effect, times }])

  for (const [what, effect] of [
    ['a 500', { status: 500 }],
    ['a connection that breaks', { drop: true }],
    ['a 429', { status: 429 }],
  ] as const) {
    test(`a read is sent again after ${what}`, async () => {
      await failing('account.read', effect)
      const { client, sent } = noting()
      const { name } = await client.accounts.retrieve(account, { fields: ['name'] })
      assert.ok(name)
      assert.equal(sent.length, 2)
    })
  }

  test('a read is given up after two more tries', async () => {
    await failing('account.read', { status: 500 }, 9)
    const { client, sent } = noting()
    await assert.rejects(client.accounts.retrieve(account), InternalServerError)
    assert.equal(sent.length, 3)
  })

  for (const [what, effect, error] of [
    ['a 500', { status: 500 }, InternalServerError],
    ['a connection that breaks', { drop: true }, APIConnectionError],
  ] as const) {
    test(`a write that may have been done is not sent again after ${what}`, async () => {
      await failing('qr_codes.save', effect)
      const { client, sent } = noting()
      await assert.rejects(client.qrCodes.create(sb.number, { prefilled_message: 'Hi' }), error)
      assert.equal(sent.length, 1)
    })
  }

  test('a write is sent again after a 429, which comes before anything was done', async () => {
    await failing('qr_codes.save', { status: 429 })
    const { client, sent } = noting()
    waits.length = 0
    await client.qrCodes.create(sb.number, { prefilled_message: 'Hi' })
    assert.equal(sent.length, 2)
    const [wait = 0, ...others] = waits
    assert.ok(others.length === 0 && wait >= 1_000 && wait <= 1_250, `it waited ${waits} ms, not 1 s and a little`)
    assert.deepEqual(
      sent.map(({ headers }) => headers['x-retry-count']),
      [undefined, '1'],
    )
  })

  for (const [what, effect] of [
    ['a 500', { status: 500 }],
    ['a connection that breaks', { drop: true }],
  ] as const) {
    test(`a message is sent again after ${what}, under one key, and arrives once`, async () => {
      const phone = sb.user(user)
      await phone.write(sb.number, 'Hello?')
      await failing('messages.send', effect)
      const { client, sent } = noting()
      await client.messages.send(sb.number, { to: user, text: { body: 'Once' } })
      await phone.waitForMessage({ text: 'Once' })
      await client.messages.send(sb.number, { to: user, text: { body: 'Last' } })
      await phone.waitForMessage({ text: 'Last' })
      assert.equal(phone.messages.length, 2)
      const keys = sent.map(({ headers }) => headers['idempotency-key'])
      assert.ok(keys[0] && keys[0] === keys[1] && keys[2] !== keys[0])
    })
  }

  test('a key of the caller gives the first response again', async () => {
    await sb.user(user).write(sb.number, 'Hello?')
    const { client } = noting()
    const send = () =>
      client.messages.send(sb.number, { to: user, text: { body: 'Hi' } }, { idempotencyKey: 'order-4711' })
    assert.deepEqual((await send()).messages, (await send()).messages)
  })

  test('a refused connection is tried again, also for a write', async () => {
    const { client, sent } = noting({ baseUrl: await findClosedPort(), maxRetries: 1 })
    await assert.rejects(client.qrCodes.create('1', { prefilled_message: 'Hi' }), (error) => {
      return error instanceof APIConnectionError && error.isRefused && /ECONNREFUSED/.test(error.message)
    })
    assert.equal(sent.length, 2)
  })

  test('a response that comes too late is a timeout', async () => {
    await failing('account.read', { delay: '30s' }, 9)
    const { client, sent } = noting({ maxRetries: 1 })
    await assert.rejects(client.accounts.retrieve(account, {}, { timeout: 50 }), APIConnectionTimeoutError)
    assert.equal(sent.length, 2)
  })

  test('a signal ends a request, and the waiting between two tries', async () => {
    await failing('account.read', { delay: '30s' })
    const { client } = noting()
    const waiting = new AbortController()
    const call = client.accounts.retrieve(account, {}, { signal: waiting.signal })
    waiting.abort(new Error('changed my mind'))
    await assert.rejects(call, (error) => error instanceof APIUserAbortError && /mind/.test(String(error.cause)))

    await failing('account.read', { status: 500 }, 9)
    const between = new AbortController()
    const aborted = new Switchboard({
      baseUrl: sb.url,
      token: sb.token,
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        setImmediate(() => between.abort())
        return response
      },
    })
    await assert.rejects(aborted.accounts.retrieve(account, {}, { signal: between.signal }), APIUserAbortError)
  })

  for (const [status, code, expected] of [
    [400, 100, BadRequestError],
    [401, 190, AuthenticationError],
    [403, 200, PermissionDeniedError],
    [404, 803, NotFoundError],
    [422, 131047, UnprocessableEntityError],
    [429, 130429, RateLimitError],
    [500, 2, InternalServerError],
  ] as const) {
    test(`${status} with code ${code} is a ${expected.name}`, async () => {
      await failing('messages.send', { status, code }, 9)
      const { client } = noting({ maxRetries: 0 })
      await assert.rejects(client.messages.send(sb.number, { to: user, text: { body: 'Hi' } }), (error) => {
        assert.ok(error instanceof expected && error instanceof APIError)
        assert.deepEqual([error.name, error.status, error.code], [expected.name, status, code])
        assert.equal(error.headers.get('x-switchboard-fault'), 'rule=0; effect=status')
        assert.match(error.trace ?? '', /^[0-9a-f]{32}$/)
        return true
      })
    })
  }

  test('an unknown object of the second vocabulary is a NotFoundError that says what helps', async () => {
    const error = {
      message: '(#100) Object does not exist',
      code: 100,
      error_subcode: 33,
      error_data: { details: 'Why' },
    }
    const fetch = async () => Response.json({ error }, { status: 400 })
    const client = new Switchboard({ baseUrl: sb.url, token: sb.token, fetch })
    await assert.rejects(client.accounts.retrieve('1'), (thrown) => {
      assert.ok(thrown instanceof NotFoundError)
      assert.deepEqual([thrown.status, thrown.detail, thrown.name], [400, 'Why', 'NotFoundError'])
      return true
    })
  })

  test('waiting in vain is one request with a typed error', async () => {
    const { client, sent } = noting()
    await assert.rejects(client.operator.feed.wait({ type: 'call', timeout: '0.05' }), RequestTimeoutError)
    assert.equal(sent.length, 1)
  })

  test('a list is read to its end over pages that fail', async () => {
    for (const word of ['one', 'two', 'three']) await sb.client.qrCodes.create(sb.number, { prefilled_message: word })
    await sb.faults([{ match: { operation: 'qr_codes.list' }, effect: { drop: true }, rate: 0.5, times: 3 }])
    const { client } = noting({ maxRetries: 9 })
    const seen: string[] = []
    for await (const { prefilled_message } of client.qrCodes.list(sb.number, { limit: 1 })) seen.push(prefilled_message)
    assert.deepEqual(seen.slice(0, 3), ['three', 'two', 'one'])
    const page = await client.qrCodes.list(sb.number, { limit: 2 })
    assert.equal(page.hasNextPage(), true)
    assert.equal((await page.getNextPage()).data[0]?.prefilled_message, 'one')
    const words = (await Array.fromAsync(page)).map(({ prefilled_message }) => prefilled_message)
    assert.deepEqual(words, seen)
    const pages = await Array.fromAsync(client.qrCodes.list(sb.number, { limit: 2 }).iterPages())
    assert.deepEqual(
      pages.flatMap(({ data }) => data.map((code) => code.prefilled_message)),
      seen,
    )
    assert.throws(() => pages.at(-1)?.getNextPage(), { name: 'SwitchboardError', message: /^this is the last page/ })
    assert.equal((await client.qrCodes.list(sb.number, { limit: 1 }).toArray(2)).length, 2)
  })

  test('a stream goes on behind the last event after its connection broke, and says reset', async (t) => {
    const proxy = await openProxy(t, sb.url)
    const { client } = noting({ baseUrl: proxy.url })
    const stream = client.gateway.stream({ user_wa_id: user })
    await stream.opened
    const events = stream[Symbol.asyncIterator]()
    const next = async () => (await events.next()).value ?? assert.fail('it ended')
    const phone = sb.user(user)
    await phone.write(sb.number, 'one')
    const first = await next()
    assert.equal(first.event, 'message')
    proxy.cut()
    await phone.write(sb.number, 'two')
    const second = await next()
    assert.ok(second.event === 'message')
    assert.deepEqual(second.data['text'], { body: 'two' })
    assert.equal(stream.lastEventId, second.id)
    await sb.reset()
    for (;;) if ((await next()).event === 'reset') break
    stream.close()
    assert.equal((await events.next()).done, true)
  })

  test('a stream that the server refuses is an error', async () => {
    const client = new Switchboard({ baseUrl: sb.url, token: 'wrong' })
    await assert.rejects(Array.fromAsync(client.operator.feed.stream()), AuthenticationError)
  })

  test('an own header and the response beside the data', async () => {
    const { client, sent } = noting({ headers: { 'X-Test': 'yes' } })
    const { data, response, trace } = await client.accounts.retrieve(account).withResponse()
    assert.equal(data.id, account)
    assert.equal(response.headers.get('x-svctrace-id'), trace)
    assert.equal(sent[0]?.headers['x-test'], 'yes')
  })

  test('an error says in its stack which line made the call', async () => {
    const read = () => noting({ maxRetries: 0 }).client.accounts.retrieve('1')
    for (const call of [read, () => read().withResponse()]) {
      const error = await call().catch((failure: Error) => failure)
      assert.ok(error instanceof NotFoundError)
      assert.match(error.stack ?? '', /AccountsMethods\.retrieve .+\n +at read \(.+faults\.test\.ts/)
    }
  })

  test('a client takes other options, and is the same client otherwise', async () => {
    const { client, sent } = noting({ headers: { 'x-test': 'yes' }, maxRetries: 0 })
    const patient = client.withOptions({ maxRetries: 2 })
    await failing('account.read', { status: 500 })
    assert.equal((await patient.accounts.retrieve(account)).id, account)
    assert.deepEqual([client.maxRetries, sent.length, sent[1]?.headers['x-test']], [0, 2, 'yes'])
  })

  test('an id that would change the path is refused before anything is sent', async () => {
    const { client, sent } = noting()
    for (const id of ['', '..', undefined as unknown as string])
      await assert.rejects(client.accounts.retrieve(id), SwitchboardError)
    await assert.rejects(client.accounts.retrieve('1/2'), APIError)
    assert.equal(sent.length, 1)
  })

  test('a token that no header holds is refused before anything is sent, and is not in the error', async () => {
    const { client, sent } = noting({ token: 'not\nshown' })
    await assert.rejects(client.accounts.retrieve(account), {
      name: 'SwitchboardError',
      message: /^the token for the business door has/,
    })
    await assert.rejects(client.accounts.retrieve(account, {}, { token: ' ' }), /is empty$/)
    assert.equal((await client.accounts.retrieve(account, {}, { token: `${sb.token}\n` })).id, account)
    assert.equal(sent.length, 1)
  })
})

async function findClosedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

/** Passes connections on until they are cut. */
async function openProxy(t: TestContext, target: string): Promise<{ url: string; cut(): void }> {
  const { port } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const other = connect(Number(port), '127.0.0.1')
    for (const one of [socket, other]) {
      sockets.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        socket.destroy()
        other.destroy()
      })
    }
    socket.pipe(other).pipe(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  t.after(() => {
    cut()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut }
}
