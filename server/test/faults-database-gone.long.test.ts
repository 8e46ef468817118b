import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { cannotReachStore } from '../src/graph/errors.ts'
import { startCommand } from './harness/command.ts'
import { makeMigratedPlace } from './harness/databases.ts'
import { assertError } from './harness/errors.ts'
import { EventPoster } from './harness/event-poster.ts'
import { PostgresProxy } from './harness/postgres-proxy.ts'
import { TallySink } from './harness/tally-sink.ts'
import { until } from './harness/until.ts'
import { ids, testWorld, tokens } from './harness/world.ts'

/**
 * PostgreSQL behind a proxy that goes silent, which no error tells of, and is cut then. What happens to several processes whose
 * database refuses them is in many-processes-at-work.long.test.ts.
 */

const timeout = 1000

interface Answer {
  readonly status: number
  readonly retryAfter: string | null
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects.
  readonly body: any
}

async function ask(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(url, { headers })
  const body = await response.json()
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body }
}

test('a database that goes silent, is cut off and comes back: clear errors, few lines in the log, nothing lost', async (t) => {
  const place = await makeMigratedPlace('postgres')
  const proxy = await new PostgresProxy(place.databaseUrl as string).start()
  const sink = await new TallySink().start()
  const world = join(place.dataDir, 'world.json')
  const base = testWorld()
  const webhook = { callback_url: `${sink.url}/events`, verify_token: 'vt', fields: ['messages'] }
  const apps = base.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app))
  await writeFile(world, JSON.stringify({ ...base, apps }))
  const server = await startCommand(['serve', '--port', '0', '--world', world], {
    cwd: place.dataDir,
    env: {
      DATA_DIR: place.dataDir,
      DATABASE_URL: proxy.url,
      DATABASE_CONNECTIONS: '4',
      DATABASE_TIMEOUT: `${timeout}ms`,
      LOG_LEVEL: 'warn',
      WEBHOOK_LEASE: '1s',
      WEBHOOK_RETRY_DELAYS: '100ms',
    },
  })
  t.after(async () => {
    await server.stop('SIGKILL')
    await proxy.end()
    await sink.end()
    await place.remove()
  })

  const poster = new EventPoster('silence', () => server.url)
  t.after(() => poster.halt())
  poster.start(() => 20)
  await until(() => poster.acknowledged.size >= 5, 'some events are handed in')

  const started = performance.now()
  const read = `${server.url}/v23.0/${ids.account}`
  const authorization = { authorization: `Bearer ${tokens.owner}` }
  async function assertGone(): Promise<void> {
    // More at once than there are connections, and for so long that the later ones wait for those that hang.
    const asked: Promise<Answer>[] = []
    for (let round = 0; round < 8; round++) {
      for (let count = 0; count < 12; count++) asked.push(ask(read, authorization))
      await wait(timeout / 5)
    }
    for (const { status, retryAfter, body } of await Promise.all(asked)) {
      assertError({ status, body }, cannotReachStore({ seconds: 5 }))
      assert.deepEqual([retryAfter, body.error.is_transient], ['5', true])
    }
    const ready = await ask(`${server.url}/readyz`)
    assert.deepEqual([ready.status, ready.body.reason], [503, 'the database does not answer'])
    assert.equal((await ask(`${server.url}/healthz`)).status, 200)
  }
  proxy.goSilent()
  await assertGone()
  await proxy.cut()
  await assertGone()
  await proxy.repair()
  await until(async () => (await ask(`${server.url}/readyz`)).status === 200, 'it is ready again')
  await until(async () => (await ask(read, authorization)).status === 200, 'it reads again')

  await poster.finish()
  assert.equal(poster.brokenOff, 0, 'every post was answered')
  for (const { status, body } of poster.refusals) assert.deepEqual([status, body.error.code], [500, 2])
  await sink.whenNothingIsMissing(() => {
    const came = new Set(sink.at('/events').map(({ body }) => body.entry[0].changes[0].value.messages[0].id))
    return [...poster.acknowledged].filter((id) => !came.has(id))
  })

  await server.shows(/the database answers again/)
  const { code, stderr } = await server.stop('SIGTERM')
  assert.equal(code, 0, stderr)
  const lines = stderr.trim().split('\n')
  const seconds = (performance.now() - started) / 1000
  const reports = lines.filter((text) => text.includes('the database does not answer')).length
  assert.ok(reports >= 1 && reports <= 1 + seconds / 60, `${reports} in ${seconds} s: ${stderr}`)
  // Connections that broke are reported once a second at the most.
  assert.ok(lines.length < 10 + seconds, stderr)
  assert.doesNotMatch(stderr, /"stack"|a request failed|could not be/)
  t.diagnostic(`${poster.acknowledged.size} events, ${poster.refusals.length} posts refused, ${lines.length} lines`)
})
