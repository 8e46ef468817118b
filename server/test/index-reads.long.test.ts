import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { day, minute, second } from '../src/base/time/duration.ts'
import { grownTables, growTables } from './harness/grown-tables.ts'
import { messageSides } from './harness/messages.ts'
import { startTestServer } from './harness/server.ts'
import { startSink } from './harness/sink.ts'
import { until } from './harness/until.ts'
import { ids, numbers, testWorld, tokens } from './harness/world.ts'

/** Tables that every event or message writes, by the amount of writes that an index adds to each. */
const hotTables = [
  'activities',
  'chats',
  'deliveries',
  'delivery_attempts',
  'events',
  'message_contents',
  'messages',
  'received_messages',
]

/** What a store that an earlier version filled is worked off by: no row is in it otherwise. */
const transitional = ['message_contents_without_words']

const components = [{ type: 'BODY', text: 'Half the price until Sunday.' }]
const language = 'en_US'
const saleTemplate = { id: '5100000000000199', name: 'sale', language, category: 'MARKETING', components }
const sale = { type: 'template', template: { name: 'sale', language: { code: language } } }

/** The numbers of an account, each of which may write to so many users only. */
function limited({ phone_numbers }: { readonly phone_numbers: readonly object[] }): object[] {
  return phone_numbers.map((number) => ({ ...number, messaging_limit_tier: 'TIER_50' }))
}

/** Milliseconds: a connection of PostgreSQL reports what it did when it has been idle for ten seconds, or works again. */
const reportedWithin = 15_000

async function startWorld(t: TestContext) {
  let isUp = true
  const sink = await startSink(t, (_, response) => {
    response.statusCode = isUp ? 200 : 500
    response.end()
  })
  const world = testWorld()
  const webhook = { callback_url: `${sink.url}/`, verify_token: 'vt', fields: ['messages'] }
  const apps = world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app))
  const accounts = world.accounts.map((account) =>
    account.id === ids.account ? { ...account, templates: [saleTemplate], phone_numbers: limited(account) } : account,
  )
  const env = { MAX_MARKETING_PER_USER_PER_DAY: '2', MESSAGE_BODY_KEEP: '1m' }
  const server = await startTestServer({ engine: 'postgres', world: { ...world, apps, accounts }, env })
  const client = new pg.Client({ connectionString: server.databaseUrl })
  t.after(async () => {
    await client.end()
    await server.stop()
  })
  await client.connect()
  const setUp = (value: boolean) => {
    isUp = value
  }
  return { server, client, sides: messageSides(server), setUp }
}

type World = Awaited<ReturnType<typeof startWorld>>

/** What businesses, users and operators do with messages and webhooks, and what the service does by itself. */
async function useEverything({ server, sides, setUp }: World, round: string): Promise<void> {
  const { app, clock } = server
  const read = async (path: string, token: string = tokens.operator, query: Record<string, string> = {}) => {
    const answer = await server.client.get(path, { token, query })
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    return answer.body
  }
  const profile = { messaging_product: 'msgapp', about: round }
  const path = `/v23.0/${numbers.main}/msgapp_business_profile`
  assert.equal((await server.client.post(path, { token: tokens.owner, json: profile })).status, 200)
  const user = sides.newUser()
  const incoming = await sides.write(user, { text: { body: `maple ${round}` } })
  assert.equal((await sides.post({ status: 'read', message_id: incoming })).status, 200)
  const sent = await sides.send(user)
  await sides.read(`users/${user}/chats`)
  await sides.read(`users/${user}/chats/${numbers.main}/messages`)
  await sides.send(sides.newUser(), sale)
  assert.equal((await sides.gateway(`users/${user}`, { presence: 'offline' })).status, 200)
  await sides.send(user)
  assert.equal((await sides.gateway(`users/${user}`, { presence: 'online' })).status, 200)
  await app.settle()
  setUp(false)
  await sides.write(user)
  await app.settle()
  await read('/metrics', '')
  const { data } = await read('/operator/deliveries', tokens.operator, { account_id: ids.account })
  await read('/operator/deliveries', tokens.operator, { app_id: ids.application })
  await read('/operator/deliveries', tokens.operator, { state: 'failed' })
  const { trace } = await read(`/operator/why/${sent}`)
  await read(`/operator/why/${data[0].id}`)
  await read(`/operator/why/${trace}`)
  await read('/operator/find', tokens.operator, { q: `maple ${round}` })
  await read('/operator/find', tokens.operator, { q: trace })
  await read('/operator/feed', tokens.operator, { since: '1h' })
  await read(`/v23.0/${ids.account}/activities`, tokens.owner)
  setUp(true)
  clock.advance(5 * minute)
  await app.settle()
}

test('each index of a table that every message or event writes is read by something', {
  timeout: 300_000,
}, async (t) => {
  const world = await startWorld(t)
  const { client } = world
  await useEverything(world, 'before')
  await growTables(client)
  // What most events said was removed.
  await client.query("UPDATE events SET value = '' WHERE id > 1000000")
  await client.query('VACUUM ANALYZE events')
  // Users to whom templates were sent are counted again only when the room that was counted before is used up.
  await client.query('DELETE FROM template_rooms')
  await client.query('SELECT pg_stat_reset()')
  await useEverything(world, 'grown')
  // What messages say goes after a minute, and old rows after a month.
  await world.server.app.sweep()
  world.server.clock.advance(31 * day)
  await world.server.app.sweep()
  assert.deepEqual(
    hotTables.filter((table) => !grownTables.includes(table)),
    [],
    'the planner reads a small table from end to end',
  )
  const unread = async () => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT indexrelname AS name FROM pg_stat_user_indexes JOIN pg_index USING (indexrelid)
       WHERE relname = ANY($1) AND idx_scan = 0 AND NOT indisunique AND indexrelname <> ALL ($2) ORDER BY 1`,
      [hotTables, transitional],
    )
    return rows.map(({ name }) => name)
  }
  let left: string[] = []
  const end = performance.now() + reportedWithin
  await until(async () => {
    left = await unread()
    return left.length === 0 || performance.now() > end
  }, 'what was read is counted')
  assert.deepEqual(left, [])
})

test('a message writes no index of its chat: the updates of chats are HOT', { timeout: 300_000 }, async (t) => {
  const { client, sides, server } = await startWorld(t)
  const users = Array.from({ length: 20 }, () => sides.newUser())
  const rounds = 15
  for (const user of users) await sides.write(user)
  for (let round = 0; round < rounds; round++) {
    server.clock.advance(second)
    for (const user of users) await (round % 2 === 0 ? sides.send(user) : sides.write(user))
  }
  await server.app.settle()
  const read = async () => {
    const { rows } = await client.query<{ updates: number; hot: number }>(
      `SELECT n_tup_upd::INTEGER AS updates, n_tup_hot_upd::INTEGER AS hot FROM pg_stat_user_tables WHERE relname = 'chats'`,
    )
    return rows[0] as { updates: number; hot: number }
  }
  await until(async () => (await read()).updates >= users.length * rounds, 'every update is counted')
  const { updates, hot } = await read()
  assert.ok(hot >= 0.9 * updates, `${hot} of ${updates} updates of chats were HOT`)
})
