import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { day, hour, minute } from '../src/base/time/duration.ts'
import { onBothDatabases } from './harness/databases.ts'
import { type TestServer, useTestServer } from './harness/server.ts'
import { refuseWith, subscribe, takeIt } from './harness/subscriber.ts'
import { handInText, userOf } from './harness/webhooks.ts'
import { tokens } from './harness/world.ts'

/** As an operator moves the clock of a sandbox, in steps of the probes of a subscriber that is down. */
async function pass(server: TestServer, milliseconds: number, step = 5 * minute): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += step) {
    const json = { advance: `${step / minute}m` }
    const moved = await server.client.post('/operator/clock', { token: tokens.operator, json })
    assert.equal(moved.status, 200, moved.text)
    await server.app.settle()
  }
}

onBothDatabases('a subscriber that answers 500 for long', (engine) => {
  const lines: { msg: string; level: number }[] = []
  const sink = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const log = Object.assign(pino({ level: 'info' }, sink), { line() {} })
  const server = useTestServer({ engine, log, env: { WEBHOOK_GIVE_UP_AFTER: '3d' } })
  const about = () => lines.map(({ msg }) => msg).filter((msg) => /^a (?:delivery|subscriber) /.test(msg))
  const query = () => server.database.read.query
  const readDeliveries = () =>
    query().selectFrom('deliveries').select(['id', 'state', 'attempts']).orderBy('id').execute()

  test('a subscriber that answers 500 for a day is probed, loses nothing and fills neither the log nor the store; for longer than the limit, everything given up is shown and can be sent again', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    const messages = Array.from({ length: 24 }, (_, index) => ({ id: `m.${index}`, user: userOf(index % 4) }))
    for (const { id, user } of messages) {
      await handInText(server, id, user)
      await pass(server, hour)
    }
    const posts = subscriber.posts.length
    t.diagnostic(`${posts} posts in a day`)
    // The retries of four conversations, one at a time.
    assert.ok(posts > 30 && posts < 24 * 12 + 30, `${posts} posts`)
    const attempts = await query().selectFrom('delivery_attempts').select('delivery_id').execute()
    t.diagnostic(`${attempts.length} rows of attempts`)
    assert.ok(attempts.length <= posts)
    const waiting = await readDeliveries()
    assert.deepEqual(
      new Set(waiting.map(({ state }) => state)),
      new Set(['waiting']),
      'nothing is given up before its time',
    )
    assert.deepEqual(about(), ['a delivery failed', 'a subscriber is down, and is tried with one post at a time'])

    subscriber.answerWith(takeIt)
    // The longest delay of a retry: nothing new comes that would try the subscriber earlier.
    await pass(server, 29 * hour, hour)
    const taken = subscriber.messageIds().slice(posts)
    assert.equal(new Set(taken).size, messages.length)
    for (let user = 0; user < 4; user++) {
      const own = messages.filter((message) => message.user === userOf(user)).map(({ id }) => id)
      assert.deepEqual(
        taken.filter((id) => own.includes(id)),
        own,
        'each conversation in order, each message once',
      )
    }
    assert.equal(about().at(-1), 'a subscriber is back')

    lines.length = 0
    subscriber.answerWith(refuseWith(500))
    for (let index = 0; index < 8; index++) await handInText(server, `late.${index}`, userOf(index))
    await pass(server, 3 * day - hour, hour)
    assert.ok((await readDeliveries()).slice(-8).every(({ state }) => state === 'waiting'))
    await pass(server, 2 * hour, hour)
    const failed = (await readDeliveries()).filter(({ state }) => state === 'failed')
    assert.equal(failed.length, 8, 'all are given up')
    const listed = await server.client.get('/operator/deliveries?state=failed', { token: tokens.operator })
    assert.equal(listed.body.data.length, 8, listed.text)
    t.diagnostic(`lines of the log: ${about().length}`)
    subscriber.answerWith(takeIt)
    const replayed = await server.client.post('/operator/deliveries/replay', {
      token: tokens.operator,
      json: { ids: failed.map(({ id }) => String(id)) },
    })
    assert.deepEqual(replayed.body, { replayed: 8 })
    await pass(server, 10 * minute)
    const again = subscriber.messageIds().slice(-8)
    assert.deepEqual(
      again.toSorted(),
      Array.from({ length: 8 }, (_, index) => `late.${index}`),
    )
  })
})
