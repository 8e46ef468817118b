import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { type Engine, onOneDatabase } from '../../test/harness/databases.ts'
import { assertError } from '../../test/harness/errors.ts'
import { numberCalls } from '../../test/harness/number-calls.ts'
import { startSecondProcess } from '../../test/harness/second-process.ts'
import { sourcesOf, startTestServer, type TestServer } from '../../test/harness/server.ts'
import { type Sink, startSink } from '../../test/harness/sink.ts'
import { hour, minute, second } from '../base/time/duration.ts'
import { codeExpired } from '../resources/phone-numbers/errors.ts'

type Answer = (response: ServerResponse) => void

const take: Answer = (response) => response.writeHead(204).end()
const refuse: Answer = (response) => response.writeHead(503).end('busy')
const breakOff: Answer = (response) => response.destroy()

interface Carrier {
  readonly sink: Sink
  readonly server: TestServer
  readonly env: { readonly CARRIER_URL: string }
  readonly calls: ReturnType<typeof numberCalls>
}

/** A service whose carrier answers as told: once each, and the last for good. */
async function startWithCarrier(t: TestContext, engine: Engine, answers: Answer[]): Promise<Carrier> {
  const sink = await startSink(t, (_request, response) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    answer?.(response)
  })
  const env = { CARRIER_URL: `${sink.url}/send` }
  const server = await startTestServer({ engine, env })
  t.after(() => server.stop())
  return { sink, server, env, calls: numberCalls(server) }
}

async function createNumber({ calls }: Carrier): Promise<{ id: string; digits: string }> {
  const digits = calls.freshDigits()
  const answer = await calls.create({ phone_number: digits, verified_name: 'Lucky Shrub' })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(await calls.outbox(digits), [], 'the built-in carrier has no part in it')
  return { id: answer.body.id, digits }
}

function messagesOf({ requests }: Sink): { to: string; kind: string; code: string; language: string }[] {
  return requests.map(({ body }) => JSON.parse(body.toString()))
}

async function countTimers({ database }: TestServer): Promise<number> {
  const timers = await database.read.query
    .selectFrom('timers')
    .select('id')
    .where('kind', '=', 'carrier.post')
    .execute()
  return timers.length
}

test('a carrier gets a code once while it responds, although the clocks of two processes are further apart than a lease is long', async (t) => {
  const reached = Promise.withResolvers<ServerResponse>()
  const carrier = await startWithCarrier(t, 'postgres', [reached.resolve])
  const { sink, server, env } = carrier
  await createNumber(carrier)
  const response = await reached.promise
  for (const apart of [15 * second, -25 * second]) {
    const clock = { now: () => server.clock.now() + apart }
    const next = await startSecondProcess(server, env, { clock, timeSources: sourcesOf(server.clock) })
    await next.app.settle()
    await next.app.close(0)
    assert.equal(sink.requests.length, 1, `${apart} ms apart`)
  }
  take(response)
  await server.app.settle()
  assert.deepEqual([sink.requests.length, await countTimers(server)], [1, 0])
})

onOneDatabase('a carrier behind CARRIER_URL', 'sqlite', (engine) => {
  test('a carrier behind CARRIER_URL gets a code again after it failed, until it takes it, and then no more', async (t) => {
    const carrier = await startWithCarrier(t, engine, [refuse, breakOff, take])
    const { sink, server, calls } = carrier
    const { id, digits } = await createNumber(carrier)
    for (const [wait, posts] of [
      [0, 1],
      [second - 1, 1],
      [1, 2],
      [5 * second - 1, 2],
      [1, 3],
      [hour, 3],
    ] as const) {
      server.clock.advance(wait)
      await server.app.settle()
      assert.equal(sink.requests.length, posts)
    }
    assert.equal(await countTimers(server), 0)

    const [first] = sink.requests
    assert.deepEqual([first?.method, first?.target], ['POST', '/send'])
    assert.equal(first?.headers['content-type'], 'application/json')
    const [message, ...again] = messagesOf(sink)
    assert.ok(message)
    const { code, ...others } = message
    assert.deepEqual(others, { to: digits, kind: 'sms', language: 'en_US', sent_at: '2026-06-01T12:00:00.000Z' })
    assert.deepEqual(again, [message, message])
    assertError(await calls.verify(id, code), codeExpired())
  })

  test('a carrier behind CARRIER_URL is posted to by another process when the first one dies in the middle', async (t) => {
    let reached = (): void => undefined
    const isReached = new Promise<void>((resolve) => {
      reached = resolve
    })
    let held: ServerResponse | undefined
    const hold: Answer = (response) => {
      held = response
      reached()
    }
    const carrier = await startWithCarrier(t, engine, [hold, take])
    const { sink, server, env, calls } = carrier
    const { id } = await createNumber(carrier)
    await isReached

    const next = await startSecondProcess(server, env)
    t.after(() => next.app.close(0))
    await next.app.settle()
    // On PostgreSQL the first process may still be at it; an embedded store has one process, so whoever starts is the only one.
    assert.equal(sink.requests.length, engine === 'postgres' ? 1 : 2)
    server.clock.advance(minute)
    await next.app.settle()
    assert.equal(sink.requests.length, 2)
    assert.equal(await countTimers(server), 0)

    held?.destroy()
    await server.app.settle()
    server.clock.advance(minute)
    await Promise.all([server.app.settle(), next.app.settle()])
    const [first, second, ...others] = messagesOf(sink)
    assert.deepEqual([second, others], [first, []])
    assert.equal((await calls.verify(id, first?.code ?? '')).status, 200)
  })

  test('a carrier behind CARRIER_URL is not bothered with a code that has ended', async (t) => {
    const carrier = await startWithCarrier(t, engine, [refuse, take])
    const { sink, server, calls } = carrier
    const { id } = await createNumber(carrier)
    await server.app.settle()
    assert.equal((await calls.requestCode(id, { code_method: 'VOICE', language: 'de_DE' })).status, 200)
    server.clock.advance(minute)
    await server.app.settle()
    const [, newest, ...others] = messagesOf(sink)
    assert.deepEqual([newest?.kind, newest?.language, others], ['voice', 'de_DE', []])
    assert.equal((await calls.verify(id, newest?.code ?? '')).status, 200)
  })

  test('a carrier behind CARRIER_URL that never takes a code is given up on before the code is long dead', async (t) => {
    const carrier = await startWithCarrier(t, engine, [refuse])
    const { sink, server } = carrier
    await createNumber(carrier)
    for (let waits = 0; waits < 10; waits++) {
      await server.app.settle()
      server.clock.advance(5 * minute)
    }
    assert.equal(sink.requests.length, 7)
    assert.equal(await countTimers(server), 0)
  })

  test('a carrier behind CARRIER_URL hears nothing of a request that was refused', async (t) => {
    const carrier = await startWithCarrier(t, engine, [take])
    const { sink, server, calls } = carrier
    assert.equal((await calls.create({ phone_number: '16315551001', verified_name: 'Taken' })).status, 422)
    await server.app.settle()
    assert.deepEqual([sink.requests.length, await countTimers(server)], [0, 0])
  })
})
