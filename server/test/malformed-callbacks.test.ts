import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, test } from 'node:test'
import { type Log, silentLog } from '../src/base/log/log.ts'
import { ManualClock } from '../src/base/time/clock.ts'
import { Egress } from '../src/egress/egress.ts'
import { EgressError } from '../src/egress/egress-error.ts'
import { callbackBodyWrong, callbackStatusWrong, callbackUnreachable } from '../src/egress/errors.ts'
import { resolveBySystem } from '../src/egress/resolve.ts'
import { onOneDatabase } from './harness/databases.ts'
import { assertOneOf } from './harness/errors.ts'
import { malformedAnswers } from './harness/malformed-answers.ts'
import { Chance } from './harness/seeded-random.ts'
import { useTestServer } from './harness/server.ts'
import { listenForTest, startSink } from './harness/sink.ts'
import { subscribe, takeIt } from './harness/subscriber.ts'
import { handInText } from './harness/webhooks.ts'
import { ids, tokens } from './harness/world.ts'

const hour = 3_600_000
/** Cases whose head is an answer of 200: a delivery is done with the head, whatever becomes of the body. */
const takenByDeliveries = new Set([
  'a body that breaks off',
  'a chunk without a size',
  'a chunk of an impossible size',
  'a chunk that breaks off',
  'trailers that are none',
  'an encoding that nobody asked for',
  'more than its length',
  'two answers',
])

function keepErrors(): { log: Log; errors: unknown[] } {
  const errors: unknown[] = []
  const keep = (...what: unknown[]) => void errors.push(what)
  return { log: Object.assign(Object.create(silentLog), { error: keep, fatal: keep }), errors }
}

onOneDatabase('a callback that breaks HTTP', 'sqlite', (engine) => {
  const { log, errors } = keepErrors()
  const server = useTestServer({ engine, log, env: { WEBHOOK_TIMEOUT: '10m' } })

  for (const [name, bytes] of Object.entries(malformedAnswers)) {
    test(`a callback that breaks HTTP is not verified when it sends ${name}`, async (t) => {
      const sink = await startSink(t, (_, response) => response.socket?.end(Buffer.from(bytes, 'latin1')))
      const answer = await server.client.post(`/v23.0/${ids.application}/subscriptions`, {
        token: tokens.owner,
        json: {
          object: 'msgapp_business_account',
          callback_url: `${sink.url}/hook`,
          verify_token: 'vt',
          fields: ['messages'],
        },
      })
      assertOneOf(answer, [callbackBodyWrong, callbackStatusWrong, callbackUnreachable])
      assert.deepEqual(errors, [])
    })
  }

  test('a callback that breaks HTTP gets each event again, and nothing is logged as a fault of our own', async (t) => {
    const subscriber = await subscribe(t, server)
    for (const [name, bytes] of Object.entries(malformedAnswers)) {
      subscriber.answerWith((_post, response) => response.socket?.end(Buffer.from(bytes, 'latin1')))
      const came = subscriber.posts.length
      assert.equal((await handInText(server, name)).status, 200)
      await server.app.settle()
      assert.equal(subscriber.posts.length, came + 1, name)
      subscriber.answerWith(takeIt)
      server.clock.advance(hour)
      await server.app.settle()
      assert.equal(subscriber.posts.length, came + (takenByDeliveries.has(name) ? 1 : 2), name)
      assert.deepEqual(errors, [], name)
    }
    const waiting = await server.database.read.query
      .selectFrom('deliveries')
      .select('id')
      .where('state', '<>', 'delivered')
      .execute()
    assert.deepEqual(waiting, [])
  })
})

describe('an answer with bytes changed at random', () => {
  const answer = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nKeep-Alive: timeout=5\r\n\r\n4\r\nbody\r\n0\r\n\r\n'

  test('an answer with bytes changed at random is an answer or an explained failure', async (t) => {
    const chance = new Chance(20_260_601)
    let bytes: Buffer = Buffer.alloc(0)
    const sink = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.end(bytes))
    })
    const { port } = await listenForTest(t, sink)
    const clock = new ManualClock(0)
    const egress = new Egress({
      allowInternal: true,
      timeout: 600_000,
      resolve: resolveBySystem,
      clock,
      userAgent: 'test',
    })
    t.after(() => egress.close())
    for (let round = 0; round < 400; round++) {
      bytes = mutate(chance, Buffer.from(answer, 'latin1'))
      try {
        const { status } = await egress.send({
          method: 'POST',
          url: `http://127.0.0.1:${port}/`,
          body: Buffer.from('x'),
        })
        assert.ok(status >= 100 && status <= 999, `${status}`)
      } catch (error) {
        assert.ok(error instanceof EgressError, `${JSON.stringify(bytes.toString('latin1'))}: ${error}`)
      }
    }
  })

  function mutate(chance: Chance, bytes: Buffer): Buffer {
    for (let changes = 1 + chance.below(3); changes > 0; changes--) {
      const at = chance.below(bytes.length)
      const end = Math.min(bytes.length, at + chance.below(8))
      const inserted = chance.pick([
        chance.bytes(1),
        chance.bytes(4),
        Buffer.from('\r\n'),
        Buffer.from('0'),
        Buffer.alloc(0),
      ])
      bytes = Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(end)])
    }
    return bytes
  }
})
