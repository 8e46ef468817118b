import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { openStream } from '../../../test/harness/event-stream.ts'
import { messageSides } from '../../../test/harness/messages.ts'
import { startSecondProcess } from '../../../test/harness/second-process.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { until } from '../../../test/harness/until.ts'
import { accounts, ids, numbers, partnerIds, tokens } from '../../../test/harness/world.ts'
import { findCaller, insertToken, revokeToken } from '../../auth/tokens.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { day, second } from '../../base/time/duration.ts'
import { notFound } from '../../graph/errors.ts'
import { recordForStream } from '../../stream/stream-record.ts'
import { tooManyStreams } from './errors.ts'

const maxStreams = 4

onOneDatabase("the users' stream", 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { MAX_STREAMS: String(maxStreams) } })
  const sides = messageSides(server)

  const listen = (t: TestContext, query: Record<string, string> = {}, last?: string, token: string = tokens.gateway) =>
    openStream(t, server.url, { token, query, ...(last !== undefined && { last }) })

  async function makeToken(secret: string, granted: readonly string[] | null): Promise<string> {
    const token = {
      secret,
      app_id: ids.application,
      scopes: ['gateway'] as const,
      accounts: granted,
      expires_time: null,
    }
    await server.database.transaction((tx) => insertToken(tx, server.clock, systemRandom, token))
    return secret
  }

  test("the users' stream tells messages of both directions, statuses and typing in order, each with an id", async (t) => {
    const user = sides.newUser()
    const stream = await listen(t, { user_wa_id: user })
    const written = await sides.write(user)
    const sent = await sides.send(user)
    assert.equal((await sides.act(sent, 'read')).status, 200)
    const typing = { status: 'read', message_id: written, typing_indicator: { type: 'text' } }
    assert.equal((await sides.post(typing)).status, 200)
    const events = await stream.first(7)
    const timestamp = String(server.clock.now() / 1000)
    const status = (id: string, name: string) => ({ id, status: name, user_wa_id: user, timestamp })
    assert.deepEqual(
      events.slice(2).map(({ event, data }) => [event, data]),
      [
        ['status', status(sent, 'sent')],
        ['status', status(sent, 'delivered')],
        ['status', status(sent, 'read')],
        ['status', status(written, 'read')],
        ['typing', { phone_number_id: numbers.main, user_wa_id: user, until: String(server.clock.now() / 1000 + 25) }],
      ],
    )
    const [incoming, outgoing] = events
    assert.deepEqual([incoming?.event, outgoing?.event], ['message', 'message'])
    assert.deepEqual(
      [incoming?.data.id, incoming?.data.direction, incoming?.data.text],
      [written, 'to_business', { body: 'Hello' }],
    )
    assert.deepEqual(
      [outgoing?.data.id, outgoing?.data.direction, outgoing?.data.from],
      [sent, 'to_user', '16315551001'],
    )
    const positions = events.map(({ id }) => Number(id))
    assert.deepEqual(
      positions,
      [...new Set(positions)].sort((one, other) => one - other),
    )
  })

  test('a token that is limited to a business hears at once of an account that the business gets later', async (t) => {
    const secret = 'token-of-one-business'
    const token = { secret, app_id: ids.application, scopes: ['gateway', 'operator'], accounts: null } as const
    const limited = { ...token, businesses: [partnerIds.business], expires_time: null }
    await server.database.transaction((tx) => insertToken(tx, server.clock, systemRandom, limited))
    const stream = await listen(t, {}, undefined, secret)
    const number = { id: '4000000000000097', display_phone_number: '+1 631-555-1097', registered: true }
    const json = {
      accounts: [{ id: '1000000000000097', business_id: partnerIds.business, name: 'Later', phone_numbers: [number] }],
    }
    const applied = await server.client.post('/operator/world', { token: tokens.operator, json })
    assert.equal(applied.status, 200, applied.text)
    const from = sides.newUser()
    await sides.write(from)
    const wrote = { phone_number_id: number.id, from, type: 'text', text: { body: 'Hello, partner' } }
    const written = await server.client.post('/gateway/messages', { token: secret, json: wrote })
    assert.equal(written.status, 200, written.text)
    const [heard] = await stream.first(1)
    assert.equal(heard?.data.phone_number_id, number.id)
  })

  test("the users' stream also has what the business is not told: read without receipts; nothing of what a user who blocked the number does not get", async (t) => {
    const [shy, blocking] = [sides.newUser(), sides.newUser()]
    await sides.write(shy)
    await sides.write(blocking)
    await sides.gateway(`users/${shy}`, { read_receipts: false })
    await sides.gateway(`users/${blocking}/chats/${numbers.main}`, { blocked: true })
    const [one, other] = [await listen(t, { user_wa_id: shy }), await listen(t, { user_wa_id: blocking })]
    const unseen = await sides.send(blocking)
    await sides.act(await sides.send(shy), 'read')
    assert.deepEqual(
      (await one.first(4)).map(({ data }) => data.status),
      [undefined, 'sent', 'delivered', 'read'],
    )
    assert.deepEqual(
      (await other.first(1)).map(({ data }) => [data.id, data.status]),
      [[unseen, 'sent']],
    )
  })

  test('listeners hear what they ask for, and other accounts are unseen', async (t) => {
    const user = sides.newUser()
    const granular = await makeToken('token-of-a-stream-for-one-account', [accounts.shared])
    const ofNumber = await listen(t, { phone_number_id: numbers.shared })
    const limited = await listen(t, {}, undefined, granular)
    const all = await listen(t)
    const open = (token: string, phone_number_id: string) =>
      server.client.get('/gateway/stream', { token, query: { phone_number_id } })
    assertError(await open(granular, numbers.main), notFound)
    assertError(await open(tokens.gateway, '4999999999999999'), notFound)
    await sides.write(user)
    const written = await sides.gateway('messages', {
      phone_number_id: numbers.shared,
      from: user,
      type: 'text',
      text: { body: 'Hello' },
    })
    assert.equal(written.status, 200, written.text)
    await all.first(2)
    for (const stream of [ofNumber, limited]) {
      assert.deepEqual(
        (await stream.first(1)).map(({ data }) => data.phone_number_id),
        [numbers.shared],
      )
    }
  })

  test('a message of a group is told to each participant, with the statuses of each', async (t) => {
    const link = await server.client.get(`/v23.0/${ids.group}/invite_link`, { token: tokens.owner })
    const [writer, reader] = [sides.newUser(), sides.newUser()]
    for (const user_wa_id of [writer, reader]) {
      await sides.gateway('groups/join', { invite_link: link.body.invite_link, user_wa_id })
    }
    const stream = await listen(t, { user_wa_id: reader })
    await sides.gateway('messages', { group_id: ids.group, from: writer, type: 'text', text: { body: 'All here?' } })
    await sides.post({ recipient_type: 'group', to: ids.group, text: { body: 'Yes' } })
    assert.deepEqual(
      (await stream.first(3)).map(({ event, data }) => [event, data.text?.body ?? data.status]),
      [
        ['message', 'All here?'],
        ['message', 'Yes'],
        ['status', 'delivered'],
      ],
    )
  })

  test('Last-Event-ID goes on from there, with what happened while nobody listened', async (t) => {
    const user = sides.newUser()
    const before = await listen(t, { user_wa_id: user })
    const first = await sides.write(user)
    const [heard] = await before.first(1)
    before.close()
    const missed = await sides.write(user)
    const after = await listen(t, { user_wa_id: user }, heard?.id)
    const next = await sides.write(user)
    assert.deepEqual(
      (await after.first(2)).map(({ data }) => data.id),
      [missed, next],
    )
    assert.equal(heard?.data.id, first)
  })

  test('many missed events come in order, and none twice', async (t) => {
    const user = sides.newUser()
    const before = await listen(t, { user_wa_id: user })
    await sides.write(user)
    const [heard] = await before.first(1)
    before.close()
    const event = { type: 'typing', phone_number_id: numbers.main, user_wa_id: user } as const
    const numbered = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...event, data: { n: from + index } }))
    const record = (from: number, count: number) =>
      server.database.transaction(async (tx) => recordForStream(tx, server.clock.now(), numbered(from, count)))
    await record(0, 700)
    await record(700, 700)
    const [, after] = await Promise.all([record(1400, 700), listen(t, { user_wa_id: user }, heard?.id)])
    await record(2100, 100)
    const events = await after.first(2200)
    assert.deepEqual(
      events.map(({ data }) => data.n),
      Array.from({ length: 2200 }, (_, index) => index),
    )
  })

  test('reset, then what is new: an id that is unknown, or older than STREAM_KEEP', async (t) => {
    const user = sides.newUser()
    const before = await listen(t, { user_wa_id: user })
    await sides.write(user)
    const [heard] = await before.first(1)
    before.close()
    server.clock.advance(day)
    for (const last of ['999999999999', 'no id', '', heard?.id ?? '']) {
      // The newest event of all is never too old: nothing was missed.
      await sides.write(user)
      const stream = await listen(t, { user_wa_id: user }, last)
      const next = await sides.write(user)
      const [reset, message] = await stream.first(2)
      assert.deepEqual([reset?.event, reset?.data, message?.data.id], ['reset', {}, next], last)
      assert.match(reset?.id ?? '', /^\d+$/)
      stream.close()
      await until(async () => (await countOpen()) === 0, 'the stream is closed')
    }
  })

  /** How many streams can still be opened tells how many are. */
  async function countOpen(): Promise<number> {
    const stop = new AbortController()
    let opened = 0
    for (; opened <= maxStreams; opened++) {
      const headers = { authorization: `Bearer ${tokens.gateway}` }
      const { status } = await fetch(`${server.url}/gateway/stream`, { headers, signal: stop.signal })
      if (status === 429) break
    }
    stop.abort()
    return maxStreams - opened
  }

  test('MAX_STREAMS: one more is 429 until one is closed', async (t) => {
    await until(async () => (await countOpen()) === 0, 'no stream is open')
    await until(async () => {
      const answer = await fetch(`${server.url}/gateway/stream`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${tokens.gateway}` },
      })
      return answer.status === 200
    }, 'there is room')
    const streams = []
    for (let index = 0; index < maxStreams; index++) streams.push(await listen(t))
    const refused = await server.client.get('/gateway/stream', { token: tokens.gateway })
    assertError(refused, tooManyStreams({ seconds: 5 }))
    assert.equal(refused.headers.get('retry-after'), '5')
    streams[0]?.close()
    await until(async () => {
      const stop = new AbortController()
      const headers = { authorization: `Bearer ${tokens.gateway}` }
      const { status } = await fetch(`${server.url}/gateway/stream`, { headers, signal: stop.signal })
      stop.abort()
      return status === 200
    }, 'another one is taken')
  })

  test("the users' stream refuses who may not listen, and what is malformed", async () => {
    const get = (token: string | undefined, query: Record<string, string> = {}) =>
      server.client.get('/gateway/stream', { ...(token !== undefined && { token }), query })
    assert.equal((await get(undefined)).status, 401)
    assert.equal((await get('no-such-token')).status, 401)
    assert.equal((await get(tokens.owner)).status, 403)
    assert.equal((await get(tokens.gateway, { user_wa_id: 'Ada' })).status, 400)
  })

  test('a comment comes every 15 s, and a token that is revoked ends the stream within a minute', async (t) => {
    // Another one, where nobody listens yet: its timers are those of this test.
    const { app, client } = await startSecondProcess(server)
    t.after(() => {
      t.mock.timers.reset()
      return app.close(1000)
    })
    t.mock.timers.enable({ apis: ['setInterval'] })
    const secret = await makeToken('token-of-a-stream-that-ends', null)
    const stream = await openStream(t, client.url, { token: secret })
    assert.equal(stream.comments(), 1)
    t.mock.timers.tick(15 * second)
    await stream.commented(2)
    t.mock.timers.tick(15 * second)
    await stream.commented(3)
    await server.database.transaction(async (tx) => {
      const token = await findCaller(tx, secret)
      assert.ok(token && (await revokeToken(tx, server.clock, token.caller.token_id)))
    })
    t.mock.timers.tick(30 * second)
    await stream.ended
  })

  test("who reads the users' stream too slowly is dropped, and nobody else waits", async (t) => {
    const user = sides.newUser()
    await sides.write(user)
    const id = await sides.send(user, { text: { body: 'x'.repeat(4096) } })
    const quick = await listen(t, { user_wa_id: user })
    const { hostname, port } = new URL(server.url)
    const slow = connect(Number(port), hostname)
    t.after(() => slow.destroy())
    await once(slow, 'connect')
    slow.pause()
    slow.write(
      `GET /gateway/stream HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${tokens.gateway}\r\n\r\n`,
    )
    const message = { type: 'message', phone_number_id: numbers.main, user_wa_id: user, message_id: id } as const
    const batch = Array.from({ length: 500 }, () => message)
    let told = 0
    const isDropped = once(slow, 'close')
    let isOver = false
    void isDropped.then(() => {
      isOver = true
    })
    for (; told < 20_000 && !isOver; told += batch.length) {
      await server.database.transaction(async (tx) => recordForStream(tx, server.clock.now(), batch))
      await quick.first(told + batch.length)
      // A paused socket does not see its end: reading on after the server has cut it off does.
      if (told > 5000) slow.resume()
    }
    await isDropped
    assert.equal(quick.events.length, told)
  })

  test('what happens in one process is told in another; a stop ends streams', async (t) => {
    const second = await startSecondProcess(server)
    const { app, client } = second
    const user = sides.newUser()
    const stream = await openStream(t, client.url, { token: tokens.gateway, query: { user_wa_id: user } })
    const id = await sides.write(user)
    assert.equal((await stream.first(1))[0]?.data.id, id)
    await app.close(1000)
    await stream.ended
  })
})
