import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createDatabase, startPostgres } from '../test/harness/postgres.ts'
import { countPosts, deadCallback, makeBacklog, moreNumbers, postMessages, writeEventWorld } from './events.ts'
import { sendRequests } from './load.ts'
import { packServer, startOnPostgres, startSink, watchPostgres } from './processes.ts'
import { noMessageLimits, onlineUsers, textMessage, users, waitForPosts } from './sending.ts'
import { readLogBytes } from './tables.ts'

const neighbourNumber = { account_id: '1000000000000009', phone_number_id: '4000000000000009' }
const neighbourApp = '3000000000000009'
const neighbour = {
  apps: [
    {
      id: neighbourApp,
      business_id: '2000000000000001',
      secret: 's',
      webhook: { callback_url: deadCallback, fields: ['messages'] },
    },
  ],
  accounts: [
    {
      id: neighbourNumber.account_id,
      business_id: '2000000000000001',
      name: 'Abroad',
      subscribed_apps: [neighbourApp],
      phone_numbers: [
        { id: neighbourNumber.phone_number_id, display_phone_number: '+1 631-555-1009', registered: true },
      ],
    },
  ],
}
const waiting = Number(process.argv[2] ?? 50000),
  amount = Number(process.argv[3] ?? 4000),
  rounds = Number(process.argv[4] ?? 3)
packServer()
const folder = await mkdtemp(join(tmpdir(), 'prof-'))
const postgres = await startPostgres(tmpdir(), { isDurable: true })
const database = watchPostgres(postgres.pid)
const sink = await startSink()
const world = await writeEventWorld(folder, `${sink.url}/`, moreNumbers.length, { users: onlineUsers, ...neighbour })
const dataDir = join(folder, 'data')
const url = (await createDatabase(postgres.url)).url
const start = () => startOnPostgres({ url, dataDir, world, env: noMessageLimits })
await (await start()).stop()
const ours = await start()
const c = new pg.Client({ connectionString: url })
await c.connect()
try {
  await c.query('CREATE EXTENSION pg_stat_statements')
} catch (e) {
  console.log(String(e))
}
await postMessages([ours], users.length * 2, users.length)
const send = async (n: number) => {
  const before = await countPosts(sink)
  await sendRequests([ours], n, textMessage)
  await waitForPosts(sink, before + 2 * n)
}
const measure = async (name: string) => {
  for (let r = 0; r < rounds; r++) {
    const [n0, d0, t0, l0] = [ours.cpu(), database(), performance.now(), await readLogBytes(url)]
    await send(amount)
    console.log(
      name,
      'node',
      ((ours.cpu() - n0) / amount).toFixed(0),
      'db',
      ((database() - d0) / amount).toFixed(0),
      'rate',
      ((amount / (performance.now() - t0)) * 1000).toFixed(0),
      'wal',
      (((await readLogBytes(url)) - l0) / amount).toFixed(0),
    )
  }
}
const dump = async (name: string) => {
  const { rows } = await c
    .query(
      `SELECT calls, total_exec_time*1000/${amount * rounds} AS us, total_plan_time*1000/${amount * rounds} AS plan, mean_exec_time*1000 AS mean, shared_blks_hit/greatest(calls,1) AS blks, rows, left(regexp_replace(query, '\\s+', ' ', 'g'), 150) AS q FROM pg_stat_statements WHERE dbid=(SELECT oid FROM pg_database WHERE datname=current_database()) ORDER BY total_exec_time DESC LIMIT 22`,
    )
    .catch(() => ({ rows: [] }))
  console.log('==', name, '(microseconds for each text)')
  for (const r of rows)
    console.log(
      r.us.toFixed(1).padStart(7),
      String(r.calls).padStart(7),
      ('mean ' + r.mean.toFixed(0)).padStart(10),
      ('blks ' + r.blks).padStart(10),
      r.q,
    )
}
try {
  await send(3000)
  await c.query('SELECT pg_stat_statements_reset()').catch(() => {})
  await measure('no backlog')
  await dump('no backlog')
  if (waiting) {
    await makeBacklog({ DATA_DIR: dataDir, DATABASE_URL: url }, world, waiting, neighbourNumber)
    await send(1000)
    await c.query('SELECT pg_stat_statements_reset()').catch(() => {})
    await measure('backlog')
    await dump('backlog')
  }
} finally {
  await c.end()
  await Promise.all([ours.stop(), sink.stop()])
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
