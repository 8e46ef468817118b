import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import type { StorePlace } from './harness/databases.ts'
import { Fleet } from './harness/fleet.ts'
import { OrderSink } from './harness/order-sink.ts'
import { until } from './harness/until.ts'
import { accounts, ids, testWorld } from './harness/world.ts'
import { Writers } from './harness/writers.ts'

/** How long nothing is heard of a process before another takes its lanes. */
const lease = 4000
const users = 24
const wantedTakeovers = 2

async function writeWorld({ dataDir }: StorePlace, callback_url: string): Promise<string> {
  const world = testWorld()
  const webhook = { callback_url, verify_token: 'vt', fields: ['messages'] }
  const file = join(dataDir, 'world.json')
  await writeFile(
    file,
    JSON.stringify({
      ...world,
      apps: world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app)),
      accounts: world.accounts.map((account) =>
        account.id === accounts.private ? { ...account, subscribed_apps: [ids.application] } : account,
      ),
    }),
  )
  return file
}

/** How often what a user wrote went back: to a message that had come before. */
function countReturns(arrivals: OrderSink['arrivals']): number {
  const byUser = Object.values(Object.groupBy(arrivals, ({ user }) => user)) as OrderSink['arrivals'][]
  const returns = byUser.map((ofUser) =>
    ofUser.filter(({ number }, i) => i > 0 && number <= (ofUser[i - 1]?.number ?? 0)),
  )
  return Math.max(...returns.map(({ length }) => length))
}

test('a process that is paused while it delivers, and wakes up late, neither overwrites nor reorders what another did', async (t) => {
  const sink = await new OrderSink().start()
  sink.answerWith((response) => setTimeout(() => response.end(), 30))
  const fleet = await Fleet.start({
    size: 2,
    env: {
      LOG_LEVEL: 'error',
      RATE_LIMITS: 'off',
      WEBHOOK_LEASE: `${lease}ms`,
      WEBHOOK_TIMEOUT: '5s',
      WEBHOOK_RETRY_DELAYS: '100ms',
    },
    writeWorld: (place) => writeWorld(place, sink.url),
  })
  const client = new pg.Client({ connectionString: fleet.place.databaseUrl as string })
  await client.connect()
  t.after(async () => {
    await client.end()
    for (const { pid } of fleet.servers) process.kill(pid, 'SIGCONT')
    await fleet.end()
    await sink.end()
  })
  // Who hands in does so at the process that is not paused.
  let writesAt = 0
  const writers = new Writers(users, () => (fleet.servers[writesAt] as { url: string }).url)
  // So seldom that most of the time goes by in waiting for the lease, not in writing.
  writers.start(200)
  t.after(() => writers.halt())
  const findOwner = async () => (await client.query('SELECT lease_owner FROM lanes')).rows[0]?.lease_owner
  let takeovers = 0
  for (let pause = 0; takeovers < wantedTakeovers; pause++) {
    assert.ok(pause < 10, 'one of the two holds the lane')
    const paused = pause % 2
    writesAt = 1 - paused
    await until(async () => (await findOwner()) !== null, 'somebody holds the lane')
    const owner = await findOwner()
    const { pid } = fleet.servers[paused] as { pid: number }
    process.kill(pid, 'SIGSTOP')
    const before = sink.count
    await until(() => sink.count > before + users, 'what is written meanwhile is delivered')
    if ((await findOwner()) !== owner) takeovers += 1
    process.kill(pid, 'SIGCONT')
  }
  await writers.halt()
  await sink.whenTaken(writers.count)
  t.diagnostic(`${writers.count} messages, ${sink.arrivals.length - writers.count} repeats, ${takeovers} takeovers`)
  assert.deepEqual(sink.early, [])
  assert.ok(
    countReturns(sink.arrivals) <= takeovers,
    'a conversation goes back once for each takeover, and never later',
  )
  await until(async () => {
    const { rows } = await client.query(`SELECT count(*) AS count FROM deliveries WHERE state <> 'delivered'`)
    return Number(rows[0].count) === 0
  }, 'everything is written down as delivered')
  const { rows: miscounted } = await client.query(
    `SELECT id FROM deliveries d WHERE attempts <> (SELECT count(*) FROM delivery_attempts a WHERE a.delivery_id = d.id)`,
  )
  assert.deepEqual(miscounted, [], 'each try is counted once')
})
