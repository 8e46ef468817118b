import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { Agent, type Dispatcher } from 'undici'
import { tooManyWrites } from '../src/http/errors.ts'
import { type RunningServer, startCommand } from './harness/command.ts'
import { makeMigratedPlace, type StorePlace } from './harness/databases.ts'
import { assertError } from './harness/errors.ts'
import { until } from './harness/until.ts'
import { ids, numbers, strangerIds, testWorld, tokens } from './harness/world.ts'

interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects.
  readonly body: any
}

/** Who has a row and does not let go of it, as a session of an operator can: what becomes of everybody else's requests. */
describe('a row on PostgreSQL that somebody has locked', () => {
  let place: StorePlace
  let server: RunningServer
  let start: (lockTimeout: string) => Promise<RunningServer>
  let holder: pg.Client
  /** Another session, because what one sees of the others stays the same for the length of its transaction. */
  let watcher: pg.Client
  const agent = new Agent({ connections: 1100 })
  before(async () => {
    place = await makeMigratedPlace('postgres')
    const world = join(place.dataDir, 'world.json')
    await writeFile(world, JSON.stringify(testWorld()))
    start = (lockTimeout) =>
      startCommand(['serve', '--port', '0', '--world', world], {
        cwd: place.dataDir,
        env: {
          DATA_DIR: place.dataDir,
          DATABASE_URL: place.databaseUrl as string,
          DATABASE_LOCK_TIMEOUT: lockTimeout,
          RATE_LIMIT_PLATFORM: '100000/1h',
          LOG_LEVEL: 'warn',
        },
      })
    server = await start('12s')
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

  async function call(path: string, token: string, about?: string): Promise<Answer> {
    const isWrite = about !== undefined
    const response: Dispatcher.ResponseData = await agent.request({
      origin: server.url,
      path,
      method: isWrite ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, ...(isWrite && { 'content-type': 'application/json' }) },
      ...(isWrite && { body: JSON.stringify({ messaging_product: 'msgapp', about }) }),
    })
    const retryAfter = response.headers['retry-after']
    return { status: response.statusCode, retryAfter: String(retryAfter), body: await response.body.json() }
  }

  const profile = (number: string) => `/v23.0/${number}/msgapp_business_profile`
  const writeLocked = () => call(profile(numbers.main), tokens.owner, 'locked')
  const countWaiting = async () => {
    const query = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return (await watcher.query(query)).rowCount ?? 0
  }

  async function lockRow(): Promise<void> {
    await holder.query('BEGIN')
    await holder.query(
      `INSERT INTO business_profiles (phone_number_id) VALUES ($1)
       ON CONFLICT (phone_number_id) DO UPDATE SET about = business_profiles.about`,
      [numbers.main],
    )
  }

  test('a row on PostgreSQL that somebody has locked holds up its own writers, who are told so in time, and neither reads, nor health, nor other apps', async () => {
    await lockRow()
    let settled = 0
    const writers = Array.from({ length: 12 }, async () => {
      const answer = await writeLocked()
      settled += 1
      return answer
    })
    // They may share a connection.
    await until(async () => (await countWaiting()) > 0, 'writers wait for the row')
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([
        call(`/v23.0/${numbers.main}`, tokens.owner),
        call(`/v23.0/${ids.account}/phone_numbers`, tokens.owner),
        call(`/v23.0/${strangerIds.phone_number}`, tokens.stranger),
        call(`/v23.0/${strangerIds.account}/phone_numbers`, tokens.stranger),
        call(profile(strangerIds.phone_number), tokens.stranger, 'free'),
        call('/readyz', ''),
      ])
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200, 200, 200],
      )
    }
    assert.equal(settled, 0, 'all of that happened while the writers waited')
    for (const { status, retryAfter, body } of await Promise.all(writers)) {
      const { code, is_transient, message } = body.error
      assert.deepEqual([status, code, is_transient, retryAfter], [500, 2, true, '5'])
      assert.equal(
        message,
        'Other requests were in the way of this one for too long, and nothing was changed; try again in 5 s.',
      )
    }
    assert.equal(await countWaiting(), 0)
    await holder.query('ROLLBACK')
    assert.equal((await writeLocked()).status, 200)
    await server.shows(/transactions waited too long for a lock or a connection, and were refused/)
    assert.doesNotMatch(server.stderr(), /a request failed|the database does not answer/)
    assert.equal(server.stderr().split('waited too long').length, 2, 'logged once')
  })

  test('hundreds of writes of one app that wait for a locked row do not push others out', async () => {
    // What a process does at the first write of an app is not what this is about.
    assert.equal((await call(profile(strangerIds.phone_number), tokens.stranger, 'before')).status, 200)
    let done = 0
    const flood = Array.from({ length: 400 }, async () => {
      const { status } = await call(profile(numbers.main), tokens.owner, 'flood')
      done += 1
      return status
    })
    await until(() => done > 0, 'the flood has begun')
    const before = done
    assert.equal((await call(profile(strangerIds.phone_number), tokens.stranger, 'between')).status, 200)
    assert.ok(done - before < 300, `${done - before} of the flood were done before the one of another app`)
    assert.deepEqual(new Set(await Promise.all(flood)), new Set([200]))
  })

  // faults-full-pool.long.test.ts has one for inbound events.
  test('an app that has a thousand writes waiting gets a 429 for the next', async () => {
    assert.equal((await server.stop('SIGTERM')).code, 0)
    server = await start('2m')
    await lockRow()
    const refusals: Answer[] = []
    const writers = Array.from({ length: 1050 }, async () => {
      const answer = await writeLocked()
      if (answer.status === 429) refusals.push(answer)
    })
    await Promise.race([until(() => refusals.length > 0, 'one is refused'), Promise.all(writers)])
    const [{ status, retryAfter, body } = assert.fail('none was refused')] = refusals
    assertError({ status, body }, tooManyWrites({ seconds: 1 }))
    assert.deepEqual([retryAfter, body.error.is_transient], ['1', true])
    assert.equal((await call(profile(strangerIds.phone_number), tokens.stranger, 'free')).status, 200)
    await holder.query('ROLLBACK')
    await Promise.all(writers)
  })
})
