import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { systemRandom } from '../src/base/keys/random.ts'
import { silentLog } from '../src/base/log/log.ts'
import { systemClock } from '../src/base/time/clock.ts'
import type { Database } from '../src/db/database.ts'
import { openDatabase } from '../src/db/open.ts'
import { migrate } from '../src/db/schema/migrate.ts'
import { listDue } from '../src/delivery/store/due-deliveries.ts'
import { applyWorld } from '../src/world/apply.ts'
import { readWorld } from '../src/world/read.ts'
import { makeMigratedPlace, unlockPlace } from './harness/databases.ts'
import { type DebianPostgres, startDebianPostgres } from './harness/debian-postgres.ts'
import { until } from './harness/until.ts'
import { ids, testWorld } from './harness/world.ts'

const backlog = 41_000
/** Milliseconds. To compile the statement takes seconds, to run it ten. */
const atOnce = 500
/** How PostgreSQL says in a plan that it was compiled. */
const compiled = /\bJIT:/

/** Compiles whatever reads a table, and logs the plan of every statement. */
const settings = {
  jit_above_cost: '1',
  jit_inline_above_cost: '0',
  jit_optimize_above_cost: '0',
  shared_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
}

describe('a PostgreSQL that compiles statements', () => {
  let server: DebianPostgres
  before(async () => {
    server = await startDebianPostgres(settings)
    const database = await open(false)
    try {
      await migrate(database, systemClock)
      const place = await makeMigratedPlace('sqlite')
      await unlockPlace(place, database)
      await place.remove()
      await applyWorld(database, systemClock, systemRandom, readWorld(JSON.stringify(testWorld()), 'test world'))
      await fill(database)
    } finally {
      await database.close()
    }
  })
  after(() => server.stop())

  function open(isPooled: boolean): Promise<Database> {
    return openDatabase({ dataDir: '', databaseUrl: server.url, maxConnections: 6, isPooled }, silentLog)
  }

  async function fill(database: Database): Promise<void> {
    const lane = { id: 'lane', app_id: ids.application, callback_url: 'http://127.0.0.1:9/', next_due: 1 }
    await database.transaction(async (tx) => {
      await tx.query
        .insertInto('lanes')
        .values({ ...lane, leased_until: 0, lease_owner: null, paused_until: 0, failures: 0 })
        .execute()
      await sql`
        INSERT INTO events (id, account_id, field, value, created_time)
        SELECT n, ${ids.account}, 'messages', '{}', 1 FROM generate_series(1, ${backlog}) AS n`.execute(tx.query)
      await sql`
        INSERT INTO deliveries (event_id, lane_id, account_id, app_id, field, conversation, state, attempts, earlier_attempts,
          due_time, created_time, started_time)
        SELECT id, 'lane', account_id, ${ids.application}, field, CAST(id % 1000 AS TEXT), 'waiting', 0, 0, 1, 1, 1
        FROM events`.execute(tx.query)
    })
  }

  test('a PostgreSQL that compiles statements compiles what others ask', async () => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query('SELECT COUNT(*) AS by_others FROM deliveries')
    await client.end()
    await until(async () => compiled.test((await server.readLog()).split('by_others').at(-1) ?? ''), 'it was compiled')
  })

  for (const isPooled of [false, true]) {
    test(`a PostgreSQL that compiles statements reads a backlog of ${backlog} deliveries at once${isPooled ? ', behind a pooler' : ''}`, async () => {
      const start = (await server.readLog()).length
      const database = await open(isPooled)
      const times: number[] = []
      for (let round = 0; round < 5; round++) {
        const began = performance.now()
        const due = await listDue(database, new Map([['lane', { limit: 100, known: [] }]]), Date.now())
        times.push(performance.now() - began)
        assert.equal(due.length, 100)
      }
      await database.transaction((tx) => sql`SELECT COUNT(*) AS last FROM deliveries`.execute(tx.query))
      await database.close()
      const readOwn = async () => (await server.readLog()).slice(start)
      await until(async () => (await readOwn()).includes('AS last'), 'all of it is logged')
      const log = await readOwn()
      assert.match(log, /CROSS JOIN LATERAL/)
      assert.doesNotMatch(log, compiled)
      assert.ok(Math.min(...times) < atOnce, `it took ${times.map(Math.round)} ms`)
    })
  }
})
