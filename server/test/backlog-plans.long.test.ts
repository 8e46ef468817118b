import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { messageSides } from './harness/messages.ts'
import { startTestServer } from './harness/server.ts'
import { subscribe } from './harness/subscriber.ts'
import { ids } from './harness/world.ts'

const backlog = 20_000
/** More than each connection takes of a statement until it keeps the plan. */
const roundsUntilPlanned = 15

/**
 * PostgreSQL keeps the plan of a statement until statistics of its tables are gathered again: on a large table that is long after a
 * backlog has come. A plan that was made when nothing waited must do then too.
 */
test('a text reads nothing of a backlog that came after its statements were planned', async (t) => {
  const server = await startTestServer({ engine: 'postgres' })
  const client = new pg.Client({ connectionString: server.databaseUrl })
  t.after(async () => {
    await client.end()
    await server.stop()
  })
  await client.connect()
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
  const sides = messageSides(server)
  await subscribe(t, server)
  const users = Array.from({ length: 20 }, () => sides.newUser())
  for (const user of users) await sides.write(user)
  const sendToAll = async () => {
    const answers = await Promise.all(users.map((to) => sides.post({ to, text: { body: 'Hello' } })))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    await server.app.settle()
  }
  const sendOften = async () => {
    for (let round = 0; round < roundsUntilPlanned; round++) await sendToAll()
  }
  const measurePages = async () => {
    await client.query('SELECT pg_stat_statements_reset()')
    await sendOften()
    const { rows } = await client.query<{ pages: string }>(
      `SELECT SUM(shared_blks_hit + shared_blks_read) AS pages FROM pg_stat_statements
       WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query LIKE '%deliveries%'`,
    )
    return Number(rows[0]?.pages) / (users.length * roundsUntilPlanned)
  }

  await sendOften()
  await client.query('ALTER TABLE deliveries SET (autovacuum_enabled = off)')
  await client.query('VACUUM ANALYZE')
  await sendOften()
  const before = await measurePages()
  await client.query(
    `WITH lane AS (
       INSERT INTO lanes (id, app_id, callback_url, leased_until, paused_until, failures)
       VALUES ('down', $1, 'http://127.0.0.1:9/', 0, 0, 0) RETURNING id
     )
     INSERT INTO deliveries (event_id, lane_id, account_id, app_id, field, conversation, state, attempts, earlier_attempts, due_time,
       created_time, started_time)
     SELECT 1000000000 + g, lane.id, $2, $1, 'messages', 'of ' || g % 1000, 'waiting', 0, 0, 9999999999999, 1, 1
     FROM lane, generate_series(1, ${backlog}) AS g`,
    [ids.application, ids.account],
  )
  const beside = await measurePages()
  t.diagnostic(`${Math.round(before)} pages a text before, ${Math.round(beside)} beside ${backlog} that wait`)
  assert.ok(beside < 1.3 * before, `${before} pages a text before, ${beside} beside a backlog`)
})
