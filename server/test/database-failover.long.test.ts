import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { runCommand, startCommand } from './harness/command.ts'
import { OrderSink } from './harness/order-sink.ts'
import { ReplicatedPostgres } from './harness/replicated-postgres.ts'
import { until } from './harness/until.ts'
import { ids, testWorld } from './harness/world.ts'
import { Writers } from './harness/writers.ts'

const users = 12
/** Milliseconds from the promotion of a standby until everybody writes to it. A primary that hangs is given up after 3 s. */
const atMost = 8000

test('DATABASE_URL with two hosts: after a failover the same process writes to the other one within seconds, and nothing is lost', async (t) => {
  const database = await ReplicatedPostgres.start()
  const dataDir = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
  const sink = await new OrderSink().start()
  t.after(async () => {
    await sink.end()
    await database.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const world = testWorld()
  const webhook = { callback_url: sink.url, verify_token: 'vt', fields: ['messages'] }
  const apps = world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app))
  const file = join(dataDir, 'world.json')
  await writeFile(file, JSON.stringify({ ...world, apps }))
  const env = {
    DATABASE_URL: `${database.url}?target_session_attrs=read-write`,
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
    WEBHOOK_LEASE: '5s',
    WEBHOOK_RETRY_DELAYS: '100ms',
  }
  const options = { cwd: dataDir, env }
  const server = await startCommand(['serve', '--port', '0', '--data', dataDir, '--world', file], options)
  t.after(() => server.stop('SIGKILL'))
  const writers = new Writers(users, () => server.url)
  writers.start(10)
  t.after(() => writers.halt())
  /** Every user gets something acknowledged that was sent from now on. */
  const goOn = async () => {
    const before = [...writers.acknowledged]
    const isFurther = (count: number, user: number) => count > (before[user] ?? 0) + 1
    await until(() => writers.acknowledged.every(isFurther), 'everybody writes on')
  }
  /** Promotes a standby, and waits until everybody writes to it. */
  async function promote(node: 0 | 1, what: string): Promise<void> {
    await database.promote(node)
    const promoted = performance.now()
    await goOn()
    const took = Math.round(performance.now() - promoted)
    t.diagnostic(`${what}: everybody writes ${took} ms after the promotion`)
    assert.ok(took < atMost, `${what}: ${took} ms`)
  }
  await goOn()

  await database.kill(0)
  await promote(1, 'a kill of the primary')
  await database.follow(0)
  await goOn()

  await database.shutDown(1)
  await promote(0, 'a switchover')
  await database.follow(1)
  await goOn()
  const { code, stderr } = await runCommand(['token', 'list'], options)
  assert.equal(code, 0, stderr)

  await database.freeze(0)
  await promote(1, 'a primary that hangs')
  // It comes back, and takes itself for the primary: whoever was connected to it is not there any more.
  await database.thaw(0)
  await goOn()
  const old = new pg.Client({ connectionString: database.urlOf(0) })
  await old.connect()
  const { rows } = await old.query(
    `SELECT state, query FROM pg_stat_activity WHERE application_name = 'switchboard'
     AND wait_event IS DISTINCT FROM 'SyncRep'`,
  )
  await old.end()
  assert.deepEqual(rows, [])

  await writers.halt()
  await sink.whenTaken(writers.count)
  assert.deepEqual(sink.early, [])
  t.diagnostic(`${writers.count} messages acknowledged, ${writers.refused} posts refused meanwhile`)
  const moves = server
    .stderr()
    .split('\n')
    .filter((line) => line.includes('another host of the database'))
  assert.equal(moves.length, 3, server.stderr())
})
