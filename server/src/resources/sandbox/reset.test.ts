import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { startSecondProcess } from '../../../test/harness/second-process.ts'
import { startTestServer, type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { refuseWith, subscribe } from '../../../test/harness/subscriber.ts'
import { until } from '../../../test/harness/until.ts'
import { handInText } from '../../../test/harness/webhooks.ts'
import { ids, numbers, tokens } from '../../../test/harness/world.ts'
import { worldRefused } from '../operators/errors.ts'
import { sandboxNeedsAll } from './errors.ts'

const smallWorld = {
  businesses: [{ id: '2000000000000777', name: 'Small' }],
  apps: [{ id: '3000000000000777', name: 'Small app', business_id: '2000000000000777', secret: 'small-app-secret' }],
  tokens: [{ token: 'small-operator-token', app_id: '3000000000000777', scopes: ['operator'] }],
}

async function countFiles({ files }: TestServer): Promise<number> {
  return (await files.list()).length
}

onOneDatabase('a reset', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const reset = (json: object = {}, token: string = tokens.operator) =>
    server.client.post('/operator/reset', { token, json })
  const read = (path: string, token: string = tokens.operator) => server.client.get(`/operator/${path}`, { token })
  const upload = () =>
    server.client.post(`/v23.0/${numbers.main}/media`, {
      token: tokens.owner,
      json: { messaging_product: 'msgapp', file: `data:text/plain;base64,${btoa('to be forgotten')}` },
    })

  test('a reset brings back the world of the start: what was written is gone, files, faults and moved clock included', async (t) => {
    await reset()
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    await handInText(server, 'wamid.before')
    await server.app.settle()
    const media = await upload()
    assert.equal(media.status, 200, media.text)
    const files = await countFiles(server)
    await server.client.post('/operator/clock', { token: tokens.operator, json: { advance: '24h' } })
    await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: { name: 'Renamed' } })
    const answer = await reset()
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.success, true)
    assert.ok(answer.body.created > 10)
    assert.equal((await server.client.get(`/v23.0/${media.body.id}`, { token: tokens.owner })).status, 404)
    assert.equal(await countFiles(server), files - 1)
    assert.equal((await read('clock')).body.offset, 0)
    assert.equal((await read('state')).body.lanes.waiting, 0)
    const audit = (await read('audit')).body.data
    assert.deepEqual(
      audit.map(({ operation, time }: { operation: string; time: string }) => [operation, time]),
      [['sandbox.reset', new Date(server.clock.now()).toISOString()]],
    )
    const before = subscriber.posts.length
    await server.client.post('/operator/clock', { token: tokens.operator, json: { advance: '2h' } })
    assert.equal(subscriber.posts.length, before, 'nothing is delivered that the store does not know any more')
    await reset()
  })

  for (const [name, world] of [
    ['a JSON object', smallWorld],
    ['YAML', 'businesses:\n- id: "2000000000000777"\n  name: Small\n'],
  ] as const) {
    test(`a reset applies another world, as ${name}`, async () => {
      const token = typeof world === 'string' ? 'small-operator-token' : tokens.operator
      const answer = await reset({ world }, token)
      assert.equal(answer.status, 200, answer.text)
      const rows = await server.database.read.query.selectFrom('businesses').select('id').execute()
      assert.deepEqual(
        rows.map(({ id }) => id),
        ['2000000000000777'],
      )
      assert.equal((await read('state')).status, 401)
      if (typeof world === 'string') assert.equal((await read('state', token)).status, 401)
      else assert.equal((await read('state', 'small-operator-token')).status, 200)
    })
  }
})

onOneDatabase('a reset', 'postgres', (engine) => {
  const server = useTestServer({ engine })

  describe('changes nothing', () => {
    const reset = (json: object, token: string = tokens.operator) =>
      server.client.post('/operator/reset', { token, json })
    const countAccounts = async () =>
      (await server.database.read.query.selectFrom('accounts').select('id').execute()).length

    test('a reset changes nothing when the world is refused, with the places', async () => {
      const before = await countAccounts()
      for (const world of [{ businesses: [{ id: '2000000000000777' }] }, 'a: [', { apps: [{ id: 'x' }] }]) {
        assertError(await reset({ world }), worldRefused)
      }
      assert.equal(await countAccounts(), before)
    })

    test('a reset changes nothing for an operator who sees some tenants alone', async () => {
      assertError(await reset({}, tokens.limitedOperator), sandboxNeedsAll())
    })
  })

  test('amid requests: each sees the store before or after, or that its token is gone', async () => {
    const statuses = new Map<number, number>()
    const note = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1)
    let isOver = false
    const read = async () => {
      while (!isOver) {
        const { status, body } = await server.client.get(`/v23.0/${ids.account}`, { token: tokens.owner })
        note(status)
        assert.equal(body.id, ids.account)
      }
    }
    const write = async (index: number) => {
      while (!isOver) {
        const json = { name: `Name ${index}` }
        const { status, text } = await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json })
        note(status)
        assert.ok([200, 401].includes(status), text)
      }
    }
    const others = [read(), read(), ...[1, 2, 3, 4].map(write)]
    for (let round = 0; round < 5; round++) {
      const { status, text } = await server.client.post('/operator/reset', { token: tokens.operator, json: {} })
      assert.equal(status, 200, text)
    }
    isOver = true
    await Promise.all(others)
    assert.ok((statuses.get(200) ?? 0) > 0)
  })
})

test('a reset is noticed by the other processes', async (t) => {
  const server = await startTestServer({ engine: 'postgres', env: { RATE_LIMITS: 'on' } })
  const limits = { RATE_LIMITS: 'on', RATE_LIMIT_PLATFORM: '3/1h' }
  const other = await startSecondProcess(server, limits)
  t.after(async () => {
    await other.app.close(0)
    await server.stop()
  })
  const read = async () => (await other.client.get(`/v23.0/${ids.account}`, { token: tokens.owner })).status
  await until(async () => (await read()) === 429, 'the limit is reached')
  await server.client.post('/operator/reset', { token: tokens.operator, json: {} })
  await until(async () => (await read()) === 200, 'the other process counts anew')
})
