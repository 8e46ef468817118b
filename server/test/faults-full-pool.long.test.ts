import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { Agent } from 'undici'
import { storeBusy } from '../src/graph/errors.ts'
import { tooManyWrites } from '../src/http/errors.ts'
import { type RunningServer, startCommand } from './harness/command.ts'
import { makeStorePlace, type StorePlace } from './harness/databases.ts'
import { assertError } from './harness/errors.ts'
import { until } from './harness/until.ts'
import { envelopeOf, messagesChange, textMessage } from './harness/webhooks.ts'
import { numbers, testWorld, tokens } from './harness/world.ts'

interface Answer {
  readonly status: number
  readonly retryAfter: number
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects.
  readonly body: any
}

/** PostgreSQL that does not get on: what becomes of requests, of health and of operators when every connection is taken. */
describe('every connection to PostgreSQL is taken', () => {
  let place: StorePlace
  let server: RunningServer
  let holder: pg.Client
  let watcher: pg.Client
  const agent = new Agent({ connections: 2500 })
  before(async () => {
    place = await makeStorePlace('postgres')
    const world = join(place.dataDir, 'world.json')
    await writeFile(world, JSON.stringify(testWorld()))
    server = await startCommand(['serve', '--port', '0', '--world', world], {
      cwd: place.dataDir,
      env: {
        DATA_DIR: place.dataDir,
        DATABASE_URL: place.databaseUrl as string,
        DATABASE_TIMEOUT: '20s',
        // Longer than it takes to post so much that some of it is refused.
        DATABASE_LOCK_TIMEOUT: '6s',
        RATE_LIMITS: 'off',
        LOG_LEVEL: 'warn',
      },
    })
    holder = new pg.Client({ connectionString: place.databaseUrl as string })
    watcher = new pg.Client({ connectionString: place.databaseUrl as string })
    await Promise.all([holder.connect(), watcher.connect()])
  })
  after(async () => {
    await server.stop('SIGKILL')
    await agent.destroy()
    await Promise.all([holder.end(), watcher.end()])
    await place.remove()
  })

  async function call(path: string, token: string, json?: object): Promise<Answer> {
    const response = await agent.request({
      origin: server.url,
      path,
      method: json ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, ...(json && { 'content-type': 'application/json' }) },
      ...(json && { body: JSON.stringify(json) }),
    })
    const text = await response.body.text()
    return {
      status: response.statusCode,
      retryAfter: Number(response.headers['retry-after']),
      body: text.startsWith('{') ? JSON.parse(text) : text,
    }
  }

  const profile = `/v23.0/${numbers.main}/msgapp_business_profile`
  const countWaiting = async () => {
    const query = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return (await watcher.query(query)).rowCount ?? 0
  }

  test('every connection to PostgreSQL is taken by reads of a locked table: they end in time with a transient error, health and operators go on, and it passes', async () => {
    await holder.query('BEGIN')
    await holder.query('LOCK TABLE business_profiles IN ACCESS EXCLUSIVE MODE')
    // The first one takes the connection that look-ups share; the others see that it is stuck.
    const reads = [call(profile, tokens.owner)]
    await until(async () => (await countWaiting()) === 1, 'the first read waits')
    const isStuck = async () => {
      reads.push(...Array.from({ length: 4 }, () => call(profile, tokens.owner)))
      return (await countWaiting()) >= 9
    }
    await until(isStuck, 'reads have taken every connection but the reserve')
    for (let round = 0; round < 3; round++) {
      const alive = await Promise.all([
        call('/healthz', ''),
        call('/readyz', ''),
        call('/operator/nodes', tokens.operator),
        call('/operator/deliveries', tokens.operator),
      ])
      assert.deepEqual(
        alive.map(({ status }) => status),
        [200, 200, 200, 200],
        JSON.stringify(alive.map(({ body }) => body)),
      )
    }
    const refused = await call(`/v23.0/${numbers.main}`, tokens.owner)
    assertError(refused, storeBusy({ seconds: 5 }))
    for (const { status, retryAfter, body } of await Promise.all(reads)) {
      assert.deepEqual([status, body.error.is_transient, retryAfter], [500, true, 5], JSON.stringify(body))
    }
    await holder.query('ROLLBACK')
    await until(async () => (await call(profile, tokens.owner)).status === 200, 'reads work again')
  })

  test('every connection to PostgreSQL is taken by inbound events that wait for a lock: too many are refused at once, the others in time, and all are taken afterwards', async () => {
    let serial = 0
    const post = () =>
      call(
        '/msgapp/webhooks',
        tokens.gateway,
        envelopeOf([messagesChange(textMessage(`wamid.CROWD${serial++}`, 'msgapp'))]),
      )
    assert.equal((await post()).status, 200)
    await holder.query('BEGIN')
    await holder.query('LOCK TABLE events IN EXCLUSIVE MODE')
    const posts = Array.from({ length: 1500 }, post)
    const first = await Promise.any(
      posts.map(async (post) => ((await post).status === 429 ? post : Promise.reject(post))),
    )
    assertError(first, tooManyWrites({ seconds: 1 }))
    assert.equal(first.retryAfter, 1)
    assert.equal((await call('/healthz', '')).status, 200)
    const answers = await Promise.all(posts)
    const statuses = new Set(answers.map(({ status }) => status))
    assert.deepEqual([...statuses].sort(), [429, 500])
    for (const answer of answers.filter(({ status }) => status === 500)) {
      assertError(answer, storeBusy({ seconds: 5 }))
    }
    await holder.query('ROLLBACK')
    assert.equal((await post()).status, 200)
    assert.doesNotMatch(server.stderr(), /a request failed/)
  })
})
