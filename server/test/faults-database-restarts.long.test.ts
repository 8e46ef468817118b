import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { startCommand } from './harness/command.ts'
import { OrderSink } from './harness/order-sink.ts'
import { startPostgres } from './harness/postgres.ts'
import { until } from './harness/until.ts'
import { ids, testWorld } from './harness/world.ts'
import { Writers } from './harness/writers.ts'

const users = 24
const restarts = 3

/** Kills one of its processes: PostgreSQL then ends all connections and starts anew from its log, as after a crash of its own. */
async function restartDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  process.kill(rows[0].pid, 'SIGKILL')
  await client.end().catch(() => undefined)
}

test('PostgreSQL that restarts while many posts are under way: nothing lost, each conversation in order, little sent twice', async (t) => {
  const database = await startPostgres()
  const dataDir = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
  const sink = await new OrderSink().start()
  sink.answerWith((response) => setTimeout(() => response.end(), 30))
  t.after(async () => {
    await sink.end()
    await database.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  // The server of the tests forgets what it acknowledged when it crashes; this one must not.
  await admin.query('ALTER SYSTEM SET synchronous_commit = on')
  await admin.query('SELECT pg_reload_conf()')
  await admin.end()

  const world = testWorld()
  const webhook = { callback_url: sink.url, verify_token: 'vt', fields: ['messages'] }
  const apps = world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app))
  const file = join(dataDir, 'world.json')
  await writeFile(file, JSON.stringify({ ...world, apps }))
  const server = await startCommand(['serve', '--port', '0', '--data', dataDir, '--world', file], {
    cwd: dataDir,
    env: {
      DATABASE_URL: database.url,
      LOG_LEVEL: 'error',
      RATE_LIMITS: 'off',
      WEBHOOK_LEASE: '5s',
      WEBHOOK_RETRY_DELAYS: '100ms',
    },
  })
  t.after(() => server.stop('SIGKILL'))

  const writers = new Writers(users, () => server.url)
  writers.start(10)
  t.after(() => writers.halt())
  for (let restart = 0; restart < restarts; restart++) {
    const before = sink.count
    await until(() => sink.count > before + 3 * users, 'events are delivered')
    await restartDatabase(database.url)
  }
  const before = sink.count
  await until(() => sink.count > before + 3 * users, 'deliveries go on by themselves')
  await writers.halt()
  await sink.whenTaken(writers.count)
  const repeats = sink.arrivals.length - writers.count
  t.diagnostic(`${writers.count} messages, ${writers.refused} posts refused meanwhile, ${repeats} repeats`)
  assert.deepEqual(sink.early, [])
  assert.ok(repeats <= restarts * 64, `only what was under way comes twice: ${repeats}`)
  assert.doesNotMatch(server.stderr(), /could not be|broke/)
})
