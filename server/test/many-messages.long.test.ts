import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { day } from '../src/base/duration.ts'
import { silentLog } from '../src/base/log.ts'
import { systemRandom } from '../src/base/random.ts'
import type { Database, Transaction } from '../src/db/database.ts'
import { MessageRetention } from '../src/resources/messages/retention.ts'
import { startTestServer } from './harness/server.ts'
import { numbers, tokens } from './harness/world.ts'

const user = '16505559500'
const old = 20_000

/** Messages of one chat, a millisecond apart; the newest was sent now. */
async function fill(database: Database, now: number, count: number): Promise<void> {
  await database.transaction(async ({ query }: Transaction) => {
    await sql`INSERT INTO messages (id, chat_id, phone_number_id, user_wa_id, direction, type, is_voice, state, created_time,
        sent_time, delivered_time, expires_time)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      SELECT 'wamid.' || i, ${`${numbers.main}/${user}`}, ${numbers.main}, ${user}, 'to_user', 'text', FALSE, 'delivered',
        ${now} - ${count} + i, ${now}, ${now}, ${now} FROM n`.execute(query)
    await sql`INSERT INTO message_contents (message_id, content, created_time)
      SELECT id, '{"value":{"body":"A text of some length, as people write them."}}', created_time FROM messages`.execute(
      query,
    )
  })
}

test('a sweep among a million messages holds up no write for 50 ms', async (t) => {
  const server = await startTestServer({ engine: 'sqlite' })
  t.after(() => server.stop())
  const { database, clock } = server
  const count = 1_000_000
  await fill(database, clock.now(), count)
  const times: number[] = []
  const timed: Database = {
    ...database,
    transaction: (work, options) =>
      database.transaction(async (tx) => {
        const start = performance.now()
        const result = await work(tx)
        times.push(performance.now() - start)
        return result
      }, options),
  }
  const newer = count - old
  const rules = { messageKeep: newer, messageBodyKeep: newer, idempotencyKeep: day, webhookKeep: day, streamKeep: day }
  const start = performance.now()
  await new MessageRetention({ database: timed, clock, random: systemRandom, log: silentLog, rules }).sweep()
  const took = performance.now() - start
  times.sort((one, other) => one - other)
  const [median = 0, longest = 0] = [times[times.length >> 1], times.at(-1)]
  t.diagnostic(
    `${old} of ${count} in ${took.toFixed(0)} ms, ${times.length} transactions: median ${median.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`,
  )
  const left = await database.read.query
    .selectFrom('messages')
    .select(sql<number>`COUNT(*)`.as('count'))
    .executeTakeFirstOrThrow()
  assert.ok(Math.abs(left.count - newer) <= 1, String(left.count))
  assert.ok(longest < 50, `${longest} ms`)
})

test('the last page of a chat with 100,000 messages costs what its first page costs', async (t) => {
  const server = await startTestServer({ engine: 'sqlite' })
  t.after(() => server.stop())
  await fill(server.database, server.clock.now(), 100_000)
  const read = (query: Record<string, string>) =>
    server.client.get(`/gateway/users/${user}/messages`, {
      token: tokens.gateway,
      query: { phone_number_id: numbers.main, limit: '100', ...query },
    })
  async function measure(query: Record<string, string>): Promise<number> {
    const times: number[] = []
    for (let i = 0; i < 21; i++) {
      const start = performance.now()
      assert.equal((await read(query)).status, 200)
      times.push(performance.now() - start)
    }
    return times.sort((one, other) => one - other)[10] ?? 0
  }
  let after = ''
  for (let page = 0; page < 999; page++) after = (await read(after ? { after } : {})).body.paging.cursors.after
  const [first, last] = [await measure({}), await measure({ after })]
  t.diagnostic(`first page ${first.toFixed(1)} ms, last page ${last.toFixed(1)} ms`)
  assert.ok(last < 3 * first, `${last} ms against ${first} ms`)
})
