import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { byForm } from '../../../test/harness/form.ts'
import { startSecondProcess } from '../../../test/harness/second-process.ts'
import { startTestServer, type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { refuseWith, subscribe, takeIt } from '../../../test/harness/subscriber.ts'
import { until } from '../../../test/harness/until.ts'
import { handInText } from '../../../test/harness/webhooks.ts'
import { ids, tokens } from '../../../test/harness/world.ts'
import type { App } from '../../app.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { day, hour, second } from '../../base/time/duration.ts'
import { forgetTimer } from '../../carrier/send.ts'
import { argumentWrong } from '../../graph/errors.ts'
import { setTimer } from '../../timers/set.ts'
import { notADuration } from '../operators/errors.ts'
import { clockNeedsOne, clockNotBack, clockTooFar, sandboxNeedsAll } from './errors.ts'

onOneDatabase('the clock of a sandbox', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const read = (client = server.client) => client.get('/operator/clock', { token: tokens.operator })
  const move = (json: object, token: string = tokens.operator) => server.client.post('/operator/clock', { token, json })
  const shown = (offset: number) => ({ now: new Date(server.clock.now() + offset).toISOString(), offset })

  test('the clock of a sandbox is the real one until it is moved: forward, to a time, and back to the real one', async () => {
    assert.deepEqual((await read()).body, shown(0))
    assert.deepEqual((await move({ advance: '24h' })).body, shown(day))
    assert.deepEqual((await move({ advance: '90s' })).body, shown(day + 90 * second))
    const time = new Date(server.clock.now() + 30 * day).toISOString()
    assert.deepEqual((await move({ set: time })).body, { now: time, offset: 30 * day })
    assert.deepEqual((await read()).body, shown(30 * day))
    assert.equal((await server.client.get('/operator/state', { token: tokens.operator })).body.time, time)
    assert.deepEqual((await move({ real: true })).body, shown(0))
  })

  test('the clock of a sandbox is moved by a form as well, and every move is in the audit log', async () => {
    const answer = await server.client.post('/operator/clock', { token: tokens.operator, form: { advance: '1h' } })
    assert.equal(answer.body.offset, hour)
    const { body } = await server.client.get('/operator/audit', { token: tokens.operator, query: { limit: '1' } })
    const [{ operation, node_id, node_kind }] = body.data
    assert.deepEqual([operation, node_id, node_kind], ['sandbox.move_clock', 'clock', 'sandbox'])
    await move({ real: true })
  })

  describe('is not moved', () => {
    const refusals = [
      ['by nothing', {}, clockNeedsOne()],
      ['by two things at once', { advance: '1h', real: true }, clockNeedsOne()],
      ['by real: false', { real: false }, clockNeedsOne()],
      ['by what is no duration', { advance: 'tomorrow' }, like(notADuration, { argument: 'advance' })],
      ['to what is no time', { set: 'tomorrow' }, like(argumentWrong, { argument: 'set' })],
      ['back', { set: '2020-01-01T00:00:00Z' }, like(clockNotBack, { argument: 'set' })],
      ['too far', { advance: '9999999d' }, like(clockTooFar, { argument: 'advance' })],
    ] as const
    for (const [name, json, error] of refusals) {
      test(name, async () => {
        assertError(await move(json), error)
        assert.equal((await read()).body.offset, 0)
      })
    }

    test('the clock of a sandbox is not moved by an operator who sees some tenants alone', async () => {
      assertError(await move({ advance: '1h' }, tokens.limitedOperator), sandboxNeedsAll())
    })
  })

  test('the clock of a sandbox ends tokens and codes, and what falls due is done before the response', async () => {
    const made = await server.client.post('/operator/tokens', {
      token: tokens.operator,
      json: { app_id: ids.application, scopes: ['operator'], expires: '1h' },
    })
    const { token } = made.body
    assert.equal((await server.client.get('/operator/state', { token })).status, 200)
    await move({ advance: '61m' })
    assert.equal((await server.client.get('/operator/state', { token })).status, 401)
    await move({ real: true })
    assert.equal((await server.client.get('/operator/state', { token })).status, 200)
  })

  test('the clock of a sandbox lets retries be sent before the response, signed with the real time', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    await handInText(server, 'wamid.retried')
    await server.app.settle()
    assert.equal(subscriber.posts.length, 1)
    subscriber.answerWith(takeIt)
    await move({ advance: '2h' })
    assert.equal(subscriber.posts.length, 2)
    const signed = Number(subscriber.posts[1]?.headers['webhook-timestamp']) * second
    assert.ok(Math.abs(signed - server.clock.now()) < 5 * 60 * second)
    await move({ real: true })
  })
})

onOneDatabase('the clock of a sandbox', 'sqlite', (engine) => {
  test('the clock of a sandbox is stored: the next start goes on with it, and where there is no sandbox it is not there, whatever is stored', async (t) => {
    const server = await startTestServer({ engine })
    const others: App[] = []
    t.after(async () => {
      for (const app of others) await app.close(0)
      await server.stop()
    })
    await server.client.post('/operator/clock', { token: tokens.operator, json: { advance: '24h' } })
    const next = await startSecondProcess(server)
    others.push(next.app)
    assert.equal((await next.client.get('/operator/clock', { token: tokens.operator })).body.offset, day)
    const closed = await startSecondProcess(server, { SANDBOX: 'off' })
    others.push(closed.app)
    for (const answer of [
      await closed.client.get('/operator/clock', { token: tokens.operator }),
      await closed.client.post('/operator/clock', { token: tokens.operator, json: { advance: '1h' } }),
      await closed.client.get('/operator/clock'),
    ]) {
      assert.equal(answer.status, 404, answer.text)
    }
    const { body } = await closed.client.get('/operator/state', { token: tokens.operator })
    assert.deepEqual([body.sandbox, body.time], [false, new Date(server.clock.now()).toISOString()])
  })

  // The work is the same on both databases; on PostgreSQL a timer takes several times as long to make.
  const count = byForm(300, engine === 'sqlite' ? 10_000 : 2000)
  test(`the clock of a sandbox does ${count} timers that are due together`, async (t) => {
    const server = await startTestServer({ engine })
    t.after(() => server.stop())
    await setTimers(server, count)
    const before = performance.now()
    const { status } = await server.client.post('/operator/clock', { token: tokens.operator, json: { advance: '30d' } })
    const milliseconds = performance.now() - before
    assert.equal(status, 200)
    assert.equal(await countTimers(server), 0)
    t.diagnostic(`${count} timers took ${Math.round(milliseconds)} ms`)
  })
})

/** Timers with nothing to forget. */
async function setTimers({ database, clock }: TestServer, count: number): Promise<void> {
  await database.transaction(async (tx) => {
    for (let index = 0; index < count; index++) {
      const due_time = clock.now() + hour + index * second
      await setTimer(tx, { clock, random: systemRandom }, { kind: forgetTimer, due_time, payload: { id: `${index}` } })
    }
  })
}

async function countTimers({ database }: TestServer): Promise<number> {
  return (await database.read.query.selectFrom('timers').select('id').where('kind', '=', forgetTimer).execute()).length
}

test('the clock of a sandbox is the same in every process within a second', async (t) => {
  const server = await startTestServer({ engine: 'postgres', env: { ROLE: 'api' } })
  const other = await startSecondProcess(server, { ROLE: 'all' })
  t.after(async () => {
    await other.app.close(0)
    await server.stop()
  })
  await setTimers(server, 20)
  const answer = await server.client.post('/operator/clock', { token: tokens.operator, json: { advance: '24h' } })
  assert.equal(answer.body.offset, day)
  // The process that was asked does no such work: the other one did it before the response.
  assert.equal(await countTimers(server), 0)
  const seen = async () => (await other.client.get('/operator/clock', { token: tokens.operator })).body.offset
  await until(async () => (await seen()) === day, 'the other process sees it')
})
