import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { runProcess } from './harness/command.ts'
import { groupCalls } from './harness/group-calls.ts'
import { startSecondProcess } from './harness/second-process.ts'
import { startTestServer } from './harness/server.ts'
import { subscribe } from './harness/subscriber.ts'
import { until } from './harness/until.ts'
import { handInText } from './harness/webhooks.ts'
import { ids, tokens } from './harness/world.ts'

async function startApi(t: TestContext) {
  const env = { ROLE: 'api', PUBLIC_URL: 'http://api.example' }
  const server = await startTestServer({ engine: 'postgres', env })
  t.after(() => server.stop())
  return server
}

async function startWorker(t: TestContext, server: Awaited<ReturnType<typeof startApi>>) {
  const worker = await startSecondProcess(server, { ROLE: 'worker', PUBLIC_URL: 'http://worker.example' })
  t.after(() => worker.app.close(0))
  return worker
}

test('what an api process was handed in is delivered by a worker, and by nobody before', async (t) => {
  const api = await startApi(t)
  const subscriber = await subscribe(t, api)
  assert.equal((await handInText(api, 'wamid.1')).status, 200)
  assert.equal((await handInText(api, 'wamid.2')).status, 200)
  const worker = await startWorker(t, api)
  await worker.app.settle()
  assert.deepEqual(subscriber.messageIds(), ['wamid.1', 'wamid.2'])

  const delivered = /^switchboard_delivery_attempts_total\{outcome="delivered"\} 2$/m
  assert.match((await worker.client.get('/metrics')).text, delivered)
  assert.doesNotMatch((await api.client.get('/metrics')).text, /^switchboard_delivery_attempts_total\{/m)
})

test('an api process takes in its note of a locked lane itself: a worker of the version before would not', async (t) => {
  const api = await startApi(t)
  await subscribe(t, api)
  assert.equal((await handInText(api, 'wamid.1')).status, 200)
  const lanes = api.database.read.query.selectFrom('lanes').select('next_due')
  await api.database.transaction(async ({ query }) => {
    await query.updateTable('lanes').set({ next_due: null }).execute()
  })
  const holder = new pg.Client({ connectionString: api.databaseUrl as string })
  holder.on('error', () => undefined)
  await holder.connect()
  await holder.query('BEGIN; SELECT id FROM lanes FOR UPDATE')
  assert.equal((await handInText(api, 'wamid.2')).status, 200)
  assert.deepEqual(await lanes.execute(), [{ next_due: null }])
  await holder.end()
  const isDue = async () => (await lanes.execute()).every(({ next_due }) => next_due !== null)
  await until(isDue, 'the lane is due')
  assert.deepEqual(await api.database.read.query.selectFrom('lane_wakes').selectAll().execute(), [])
})

test('a timer that an api process set goes off in a worker', async (t) => {
  const api = await startApi(t)
  const calls = groupCalls(api)
  assert.equal((await calls.create({ subject: 'Gardeners' })).status, 200)
  api.clock.advance(1000)
  // A write, after which a process that ran timers would look for what is due.
  assert.equal((await handInText(api, 'wamid.1')).status, 200)
  const worker = await startWorker(t, api)
  await worker.app.settle()
  const told = (await calls.events()).map(({ value }) => value.groups[0].invite_link)
  assert.equal(told.length, 1)
  assert.match(told[0], /^http:\/\/worker\.example\//)
})

test('a worker answers the operators alone', async (t) => {
  const api = await startApi(t)
  const { client } = await startWorker(t, api)
  for (const path of ['/healthz', '/readyz', '/readyz/process', '/metrics'])
    assert.equal((await client.get(path)).status, 200, path)
  const token = { token: tokens.owner }
  for (const path of [`/v23.0/${ids.phone_number}`, '/', '/docs', '/msgapp/webhooks', '/gateway/outbox']) {
    assert.equal((await client.get(path, token)).status, 404, path)
  }
  assert.equal((await api.client.get(`/v23.0/${ids.phone_number}`, token)).status, 200)
})

for (const args of [['serve', '--role', 'api'], ['start', '--role', 'worker'], ['serve']]) {
  test(`on SQLite ${args.join(' ')}${args.length === 1 ? ' with ROLE=worker' : ''} is refused in one line, and makes no store`, async (t) => {
    const cwd = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
    t.after(() => rm(cwd, { recursive: true }))
    const refused = await runProcess(args, { cwd, env: args.length === 1 ? { ROLE: 'worker' } : {} })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^switchboard: ROLE is (api|worker), which takes PostgreSQL: [^\n]+\n$/)
    assert.deepEqual(await readdir(cwd), [])
  })
}
