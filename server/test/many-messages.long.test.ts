import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { systemRandom } from '../src/base/keys/random.ts'
import { silentLog } from '../src/base/log/log.ts'
import { day } from '../src/base/time/duration.ts'
import type { Database, Transaction } from '../src/db/database.ts'
import { MessageRetention } from '../src/resources/messages/retention/message-retention.ts'
import { onBothDatabases } from './harness/databases.ts'
import { messageSides } from './harness/messages.ts'
import { useTestServer } from './harness/server.ts'
import { UndisturbedTimes } from './harness/stolen-time.ts'
import { numbers, tokens } from './harness/world.ts'

const user = '16505559500'
const inChat = 100_000
const inAll = 250_000
/** All but the newest. */
const old = inAll - 1000

/** Messages of one chat, a millisecond apart; the newest was sent now, and the first 100,000 are unread. */
async function fill(database: Database, now: number, from: number, count: number): Promise<void> {
  await database.transaction(async ({ query }: Transaction) => {
    const first = sql`CAST(${now - inAll} AS BIGINT)`
    const time = sql`CAST(${now} AS BIGINT)`
    await sql`INSERT INTO messages (id, chat_id, phone_number_id, user_wa_id, direction, type, is_voice, state, created_time,
        sent_time, delivered_time, expires_time)
      WITH RECURSIVE n (i) AS (SELECT CAST(${from + 1} AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < CAST(${from + count} AS BIGINT))
      SELECT 'wamid.' || i, ${`${numbers.main}/${user}`}, ${numbers.main}, ${user}, 'to_user', 'text', FALSE,
        CASE WHEN i <= ${sql.lit(inChat)} THEN 'delivered' ELSE 'read' END,
        ${first} + i, ${time}, ${time}, ${time} FROM n`.execute(query)
    await sql`INSERT INTO message_contents (message_id, content, created_time)
      SELECT id, '{"value":{"body":"A text of some length, as people write them."}}', created_time FROM messages
      WHERE created_time > ${first} + ${sql.lit(from)} AND created_time <= ${first} + ${sql.lit(from + count)}
      ON CONFLICT DO NOTHING`.execute(query)
  })
}

/** What so many runs took, in milliseconds, in order. */
async function time(count: number, run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const start = performance.now()
    await run()
    times.push(performance.now() - start)
  }
  return times.sort((one, other) => one - other)
}

onBothDatabases('very many messages', (engine) => {
  const server = useTestServer({ engine })
  const list = async (path: string, query: Record<string, string>) => {
    const answer = await server.client.get(`/gateway/users/${user}/${path}`, { token: tokens.gateway, query })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }
  const read = (query: Record<string, string>) =>
    list('messages', { phone_number_id: numbers.main, limit: '100', ...query })
  const medianOf = async (run: () => Promise<unknown>) => (await time(21, run))[10] ?? 0

  test(`a chat with ${inChat} messages opens in milliseconds, and its last page costs what its first page costs`, async (t) => {
    await messageSides(server).write(user)
    const small = await medianOf(() => read({}))
    await fill(server.database, server.clock.now(), 0, inChat)
    let after = ''
    for (let page = 0; page < inChat / 100 - 1; page++)
      after = (await read(after ? { after } : {})).paging.cursors.after
    const [first, last] = [await medianOf(() => read({})), await medianOf(() => read({ after }))]
    const chats = await medianOf(() => list('chats', {}))
    t.diagnostic(
      `${engine}: first page ${first.toFixed(1)} ms (of a chat with one message ${small.toFixed(1)} ms), last page ${last.toFixed(1)} ms, the list of chats ${chats.toFixed(1)} ms`,
    )
    assert.ok(last < 3 * first, `${last} ms against ${first} ms`)
    assert.ok(first < 50, `${first} ms`)
    assert.ok(chats < 50, `${chats} ms, with ${inChat} unread`)
  })

  test(`a sweep of ${old} messages holds up no write for 50 ms`, async (t) => {
    const { database, clock } = server
    await fill(database, clock.now(), inChat, inAll - inChat)
    const [steps, meanwhile, alone] = [new UndisturbedTimes(), new UndisturbedTimes(), new UndisturbedTimes()]
    const timed: Database = {
      ...database,
      transaction: (work, options) => database.transaction((tx) => steps.time(() => work(tx)), options),
    }
    const newer = inAll - old
    const rules = {
      messageKeep: newer,
      messageBodyKeep: newer,
      idempotencyKeep: day,
      webhookKeep: day,
      streamKeep: day,
    }
    const sides = messageSides(server)
    for (let count = 0; count < 2000; count++) await alone.time(() => sides.send(user))
    const start = performance.now()
    let isSwept = false
    const sweep = new MessageRetention({ database: timed, clock, random: systemRandom, log: silentLog, rules })
    const sweeping = sweep.sweep().finally(() => {
      isSwept = true
    })
    const writing = (async () => {
      while (!isSwept) await meanwhile.time(() => sides.send(user))
    })()
    await Promise.all([sweeping, writing])
    const took = performance.now() - start
    t.diagnostic(
      `${engine}: ${old} in ${took.toFixed(0)} ms; transactions: ${steps}; sends meanwhile: ${meanwhile}; alone: ${alone}`,
    )
    const { count } = await database.read.query
      .selectFrom('messages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('created_time', '<=', clock.now() - newer)
      .executeTakeFirstOrThrow()
    assert.equal(Number(count), 0)
    const [step, held, usual] = [steps.nearlyLongest, meanwhile.nearlyLongest, alone.nearlyLongest]
    assert.ok(step - usual < 50, `a transaction of the sweep took ${step} ms, a send alone ${usual} ms`)
    assert.ok(held - usual < 50, `a send took ${held} ms, alone ${usual} ms`)
  })
})
