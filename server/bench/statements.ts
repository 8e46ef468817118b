import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createDatabase, startPostgres } from '../test/harness/postgres.ts'
import { countPosts, makeBacklog, moreNumbers, postMessages, writeEventWorld } from './events.ts'
import { sendRequests } from './load.ts'
import { neighbour, neighbourNumber } from './neighbour.ts'
import { packServer, startOnPostgres, startSink } from './processes.ts'
import { noMessageLimits, onlineUsers, textMessage, users, waitForPosts } from './sending.ts'

/**
 * node server/bench/statements.ts [WAITING]: what each statement of PostgreSQL costs for a text with its two webhooks, alone and beside
 * so many deliveries of another app that wait (50,000). For finding out where time goes; rates are those of `npm run bench`.
 */
const waiting = Number(process.argv[2] ?? 50_000)
const texts = 2000
const webhooksOfText = 2
const shown = 20

packServer()
const folder = await mkdtemp(join(tmpdir(), 'switchboard-statements-'))
const postgres = await startPostgres(tmpdir(), { isDurable: true })
const sink = await startSink()
const world = await writeEventWorld(folder, `${sink.url}/`, moreNumbers.length, { users: onlineUsers, ...neighbour })
const dataDir = join(folder, 'data')
const { url } = await createDatabase(postgres.url)
const start = () => startOnPostgres({ url, dataDir, world, env: noMessageLimits })
await (await start()).stop()
const server = await start()
const client = new pg.Client({ connectionString: url })
try {
  await client.connect()
  await client.query('CREATE EXTENSION pg_stat_statements')
  // Who has written may be written to; and the runtime has compiled the code by then.
  await postMessages([server], 20 * users.length, users.length)
  await send()
  console.table(await measure())
  await makeBacklog({ DATA_DIR: dataDir, DATABASE_URL: url }, world, waiting, neighbourNumber)
  console.log(`Beside ${waiting} deliveries that wait:`)
  console.table(await measure())
} finally {
  await client.end()
  await Promise.all([server.stop(), sink.stop()])
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}

async function send(): Promise<void> {
  const before = await countPosts(sink)
  await sendRequests([server], texts, textMessage)
  await waitForPosts(sink, before + webhooksOfText * texts)
}

async function measure(): Promise<object[]> {
  await client.query('SELECT pg_stat_statements_reset()')
  await send()
  const { rows } = await client.query(
    `SELECT ROUND((1000 * total_exec_time / $1)::numeric, 1) AS "us a text", calls, ROUND((1000 * mean_exec_time)::numeric) AS "us a call",
       shared_blks_hit / calls AS "pages a call", LEFT(REGEXP_REPLACE(query, '\\s+', ' ', 'g'), 90) AS statement
     FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
     ORDER BY total_exec_time DESC LIMIT $2`,
    [texts, shown],
  )
  return rows
}
