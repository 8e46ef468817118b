import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ManualClock } from '../src/base/time/clock.ts'
import { WindowCounts } from '../src/base/time/window-counts.ts'
import { rateLimitReached } from '../src/limits/errors.ts'
import type { Answer, CallOptions } from './harness/client.ts'
import { onOneDatabase } from './harness/databases.ts'
import { assertError } from './harness/errors.ts'
import { type TestServer, useTestServer } from './harness/server.ts'
import { subscribe } from './harness/subscriber.ts'
import { envelopeOf, messagesChange, signHubByHand, textMessage } from './harness/webhooks.ts'
import { ids, numbers, strangerIds, tokens } from './harness/world.ts'

/** Whoever tries secrets until one fits is slowed down, by address; who is known goes on. */

const allowed = 5
const account = `/v23.0/${ids.account}`
const env = { RATE_LIMITS: 'on', RATE_LIMIT_FAILURES: `${allowed}/1m`, TRUST_PROXY: '127.0.0.1' }
let lastAddress = 0

/** A caller at an address that nobody had before. */
function makeCaller(server: TestServer, address = `198.51.100.${++lastAddress}`) {
  const call = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
    server.client.call(method, path, { ...options, headers: { ...options.headers, 'x-forwarded-for': address } })
  return {
    get: (path: string, options?: CallOptions) => call('GET', path, options),
    post: (path: string, options?: CallOptions) => call('POST', path, options),
    async guess(times: number): Promise<void> {
      for (let index = 0; index < times; index++) {
        assert.equal((await call('GET', account, { token: `wrong-${index}` })).status, 401)
      }
    },
  }
}

function assertSlowed(answer: Answer): void {
  const wait = Number(answer.headers.get('retry-after'))
  assert.ok(wait >= 1 && wait <= 60, `Retry-After is ${wait}`)
  assert.equal(answer.body.error.is_transient, true)
  const counted = 'wrong tokens, secrets of apps and their proofs, signatures and verify tokens, per address'
  assertError(answer, rateLimitReached({ count: 5, period: '1m', counted, seconds: wait }))
}

onOneDatabase('guesses', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env })
  const envelope = JSON.stringify(envelopeOf([messagesChange(textMessage('m'))]))
  const signed = (secret: string): CallOptions => ({
    raw: envelope,
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': signHubByHand(envelope, secret) },
  })
  const ask = (verify_token: string): CallOptions => ({
    query: { 'hub.mode': 'subscribe', 'hub.verify_token': verify_token, 'hub.challenge': '1' },
  })

  test('wrong tokens are refused as ever, until there are too many of them', async () => {
    const caller = makeCaller(server)
    await caller.guess(allowed)
    assertSlowed(await caller.get(account, { token: 'wrong-again' }))
    server.clock.advance(59_999)
    assertSlowed(await caller.get(account, { token: 'wrong-again' }))
    server.clock.advance(1)
    await caller.guess(allowed)
    assertSlowed(await caller.get(account, { token: 'wrong-again' }))
  })

  for (const [name, call] of [
    ['a table route', (caller) => caller.get(account, { token: 'wrong' })],
    ['a write', (caller) => caller.post(account, { token: 'wrong', json: { name: 'Shrubs' } })],
    ['the gateway', (caller) => caller.get('/gateway/outbox', { token: 'wrong', query: { to: '1' } })],
    ['media', (caller) => caller.get(`/media/${ids.media}`, { token: 'wrong' })],
    ['the receiver with a token', (caller) => caller.post('/msgapp/webhooks', { token: 'wrong', raw: envelope })],
    ['the receiver with a signature', (caller) => caller.post('/msgapp/webhooks', signed('wrong'))],
    [
      'the receiver with what is no signature',
      (caller) => caller.post('/msgapp/webhooks', { raw: envelope, headers: { 'x-hub-signature-256': 'sha256=zz' } }),
    ],
    ['the handshake', (caller) => caller.get('/msgapp/webhooks', ask('wrong'))],
  ] satisfies [string, (caller: ReturnType<typeof makeCaller>) => Promise<Answer>][]) {
    test(`failures at ${name} count, and are refused once there were too many anywhere`, async () => {
      const caller = makeCaller(server)
      const { status } = await call(caller)
      assert.ok(status === 401 || status === 403, `${status}`)
      await caller.guess(allowed - 1)
      assertSlowed(await call(caller))
    })
  }

  test('nothing is looked up for whoever is refused: even a good token that is not known yet', async () => {
    const caller = makeCaller(server)
    await caller.guess(allowed)
    assertSlowed(await caller.get(account, { token: tokens.managementOnly }))
    assertSlowed(await caller.post('/msgapp/webhooks', signed('shrub-app-secret')))
    server.clock.advance(60_000)
    assert.equal((await caller.get(account, { token: tokens.managementOnly })).status, 200)
  })

  test('a token that was good a moment ago goes on although others at its address are guessing', async () => {
    const caller = makeCaller(server)
    await caller.guess(1)
    assert.equal((await caller.get(account, { token: tokens.owner })).status, 200)
    await caller.guess(allowed - 1)
    assertSlowed(await caller.get(account, { token: 'wrong' }))
    assert.equal((await caller.get(account, { token: tokens.owner })).status, 200)
    assert.equal((await caller.post(account, { token: tokens.owner, json: { name: 'Shrubs' } })).status, 200)
    assert.equal((await caller.get(account, { token: tokens.owner })).status, 200)
  })

  test('a token that was good before anybody guessed goes on too, also when it is looked up again', async () => {
    const theirs = `/v23.0/${strangerIds.account}`
    server.clock.advance(60_000)
    const caller = makeCaller(server)
    assert.equal((await caller.get(theirs, { token: tokens.stranger })).status, 200)
    await caller.guess(allowed)
    assertSlowed(await caller.get(account, { token: 'wrong' }))
    // Nothing that was known of tokens is used any longer.
    const json = { app_id: ids.application }
    assert.equal((await makeCaller(server).post('/operator/tokens', { token: tokens.operator, json })).status, 200)
    assert.equal((await caller.get(theirs, { token: tokens.stranger })).status, 200)
  })

  test('other addresses go on', async () => {
    const caller = makeCaller(server)
    await caller.guess(allowed)
    assertSlowed(await caller.get(account, { token: 'wrong' }))
    assert.equal((await makeCaller(server).get(account, { token: 'wrong' })).status, 401)
    assert.equal((await makeCaller(server).get(account, { token: tokens.messagingOnly })).status, 403)
  })

  test('IPv6 is counted by networks of 64 bits', async () => {
    await makeCaller(server, '2001:db8:0:1::1').guess(allowed)
    assertSlowed(await makeCaller(server, '2001:db8:0:1:ffff::2').get(account, { token: 'wrong' }))
    assert.equal((await makeCaller(server, '2001:db8:0:2::1').get(account, { token: 'wrong' })).status, 401)
  })

  test('a request without a token, and what is refused for another reason, is no guess', async () => {
    const caller = makeCaller(server)
    for (let index = 0; index < 2 * allowed; index++) {
      assert.equal((await caller.get(account)).status, 401)
      assert.equal((await caller.get('/v23.0/1999999999999999', { token: tokens.owner })).status, 404)
      assert.equal((await caller.get(`/v23.0/${numbers.main}/unknown`, { token: tokens.owner })).status, 404)
    }
    assert.equal((await caller.get(account, { token: 'wrong' })).status, 401)
  })

  test('a good verify token goes on where it was used before', async (t) => {
    await subscribe(t, server)
    const caller = makeCaller(server)
    await caller.guess(1)
    assert.equal((await caller.get('/msgapp/webhooks', ask('vt'))).status, 200)
    await caller.guess(allowed - 1)
    assertSlowed(await caller.get('/msgapp/webhooks', ask('wrong')))
    assert.equal((await caller.get('/msgapp/webhooks', ask('vt'))).status, 200)
  })

  test('addresses of media that are made up are slowed down by token', async () => {
    const path = `/media/${ids.media}`
    const query = { expires: '1900000000', signature: 'A'.repeat(32) }
    const caller = makeCaller(server)
    for (let index = 0; index < allowed; index++) {
      assert.equal((await caller.get(path, { token: tokens.owner, query })).status, 404)
    }
    assertSlowed(await caller.get(path, { token: tokens.owner, query }))
    assert.equal((await caller.get(account, { token: tokens.owner })).status, 200)
    assert.equal((await makeCaller(server).get(path, { token: tokens.messagingOnly, query })).status, 404)
  })
})

describe('guesses where limits are off', () => {
  const server = useTestServer({ engine: 'sqlite', env: { ...env, RATE_LIMITS: 'off' } })

  test('guesses where limits are off are refused one by one, and never slowed down', () =>
    makeCaller(server).guess(4 * allowed))
})

describe('counts by key', () => {
  test('counts by key take no more room than for so many keys, whatever comes', () => {
    const counts = new WindowCounts(new ManualClock(0), 1000, 100)
    for (let index = 0; index < 10_000; index++) counts.add(`key ${index}`, 1)
    assert.equal(counts.size, 100)
    assert.equal(counts.read('key 0').points, 0)
    assert.equal(counts.read('key 9999').points, 1)
  })

  test('counts by key are empty again when their time is over, also when the clock was set back', () => {
    const clock = new ManualClock(10_000)
    const counts = new WindowCounts(clock, 1000)
    counts.add('key', 3)
    assert.deepEqual(counts.read('key'), { points: 3, remaining: 1000 })
    clock.advance(999)
    assert.equal(counts.add('key', 1), 4)
    clock.advance(1)
    assert.ok(counts.isEmpty)
    counts.add('key', 1)
    clock.advance(-5000)
    assert.deepEqual(counts.read('key'), { points: 0, remaining: 0 })
  })
})
