import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { startCommand } from './harness/command.ts'
import { writeAs } from './harness/crowd.ts'
import { makeStorePlace } from './harness/databases.ts'
import { StatementLog } from './harness/statement-log.ts'
import { until } from './harness/until.ts'
import { ids, numbers, testWorld, tokens } from './harness/world.ts'

const user = '16505551234'
/** Ids from here on are of rows that only fill the tables. */
const first = 8_100_000_000_000_000
/** Enough that to walk any of the tables costs several times what its index does. */
const rows = 2500

/** How one row of each table that grows becomes another one: what must differ. */
const copies: Readonly<Record<string, string>> = {
  tokens: `'id', 'token' || g, 'hash', 'hash' || g`,
  nodes: `'id', (${first} + g)::text`,
  phone_numbers: `'id', (${first} + g)::text, 'account_number_id', (${first} + 100000 + g)::text,
    'phone_number', (70000000000 + g)::text, 'username', null`,
  business_profiles: `'phone_number_id', (${first} + g)::text`,
  users: `'wa_id', (60000000000 + g)::text`,
  chats: `'id', 'chat' || g, 'user_wa_id', (60000000000 + g)::text`,
  messages: `'position', 1000000 + g, 'id', 'message' || g, 'chat_id', 'chat' || g`,
  message_contents: `'message_id', 'message' || g, 'words', jsonb_build_array('word' || g)`,
  received_messages: `'message_id', 'message' || g`,
  events: `'id', 1000000 + g, 'trace', 'trace' || g, 'subject_id', 'subject' || g`,
  // Half of them wait, and none is due.
  deliveries: `'id', 1000000 + g, 'event_id', 1000000 + g, 'conversation', 'chat' || g, 'due_time', 9999999999999,
    'state', CASE WHEN g % 2 = 0 THEN 'waiting' ELSE 'delivered' END, 'finished_time', CASE WHEN g % 2 = 1 THEN 1 END`,
  delivery_attempts: `'delivery_id', 1000000 + g`,
  activities: `'id', 1000000 + g, 'trace', 'trace' || g`,
  calls: `'id', 'call' || g, 'state', 'ended'`,
  searchable_names: `'id', 'named' || g, 'is_split', TRUE, 'time', g`,
  name_words: `'id', 'named' || g, 'time', g, 'word', 'word' || g`,
}

async function growTables(client: pg.Client): Promise<void> {
  // What fills the tables refers to nothing.
  await client.query('SET session_replication_role = replica')
  for (const [table, changes] of Object.entries(copies)) {
    const { rowCount } = await client.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(one.whole, jsonb_build_object(${changes}))).*
       FROM (SELECT t AS whole FROM ${table} AS t LIMIT 1) AS one, generate_series(1, ${rows}) AS g ON CONFLICT DO NOTHING`,
    )
    assert.equal(rowCount, rows, `${table} has grown`)
  }
  await client.query('RESET session_replication_role')
  // Words that are not in their index yet are read from end to end, and count for the planner. So does a page with rows that some
  // transaction under way might not see: then an index alone does not tell, and a walk seems cheaper.
  const unseen = `SELECT 1 FROM pg_class WHERE relname = ANY($1) AND relkind = 'r' AND relallvisible < relpages`
  await until(async () => {
    await client.query('VACUUM ANALYZE')
    return (await client.query(unseen, [Object.keys(copies)])).rowCount === 0
  }, 'every row is seen by everybody')
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
}

function listNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)]
}

/** The grown tables that a statement walks from end to end, by the plan that is kept for it. */
async function listWalked(client: pg.Client, text: string): Promise<string[]> {
  const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`)
  const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }]
  return listNodes(plan)
    .filter((node) => node['Node Type'] === 'Seq Scan')
    .map((node) => node['Relation Name'] ?? '')
    .filter((table) => table in copies)
}

async function startSubscriber(t: TestContext) {
  let posts = 0
  const sink = createServer((request, response) => {
    posts += 1
    request.resume()
    response.end()
  })
  sink.listen(0, '127.0.0.1')
  await once(sink, 'listening')
  t.after(() => {
    sink.closeAllConnections()
    sink.close()
  })
  return { url: `http://127.0.0.1:${(sink.address() as AddressInfo).port}/`, posts: () => posts }
}

test('no statement of a read, a write, an event, a message, the feed, a search or the question what became of it walks a table that grows', async (t) => {
  const place = await makeStorePlace('postgres')
  const subscriber = await startSubscriber(t)
  const log = await new StatementLog(place.databaseUrl as string).start()
  const client = new pg.Client({ connectionString: place.databaseUrl })
  const world = testWorld()
  const webhook = { callback_url: subscriber.url, verify_token: 'vt', fields: ['messages'] }
  const apps = world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app))
  const file = join(place.dataDir, 'world.json')
  await writeFile(file, JSON.stringify({ ...world, apps }))
  const server = await startCommand(['serve', '--port', '0', '--world', file], {
    cwd: place.dataDir,
    env: { DATA_DIR: place.dataDir, DATABASE_URL: log.url, LOG_LEVEL: 'warn' },
  })
  t.after(async () => {
    await server.stop('SIGKILL')
    await client.end()
    await log.end()
    await place.remove()
  })
  await client.connect()
  const headers = { authorization: `Bearer ${tokens.owner}`, 'content-type': 'application/json' }
  const call = async (path: string, body?: object) => {
    const url = `${server.url}/v23.0/${numbers.main}${path}`
    const init = body ? { method: 'POST', body: JSON.stringify({ messaging_product: 'msgapp', ...body }) } : {}
    const response = await fetch(url, { ...init, headers })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    return JSON.parse(text)
  }
  const ask = async (path: string) => {
    const response = await fetch(`${server.url}/operator/${path}`, {
      headers: { authorization: `Bearer ${tokens.operator}` },
    })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    return JSON.parse(text)
  }
  const find = async (q: string, token: string) => {
    const response = await fetch(`${server.url}/operator/find?${new URLSearchParams({ q, limit: '2' })}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(response.status, 200, await response.text())
  }
  const work = async (round: string) => {
    const before = subscriber.posts()
    await call('')
    await call('/msgapp_business_profile', { about: round })
    assert.equal(await writeAs(server, user, `wamid.${round}`), 200)
    // What comes twice is not as usual, so the store is asked first.
    assert.equal(await writeAs(server, user, `wamid.${round}`), 200)
    const { messages } = await call('/messages', { to: user, type: 'text', text: { body: round } })
    for (const query of ['', `?account_id=${ids.account}&phone_number_id=${numbers.main}`, '?since=1h']) {
      await ask(`feed${query}`)
    }
    await until(() => subscriber.posts() > before, 'the event is delivered')
    const count = () => client.query(`SELECT 1 FROM deliveries WHERE state = 'waiting' AND id < 1000000`)
    await until(async () => (await count()).rowCount === 0, 'all outcomes are stored')
    const { trace, subscribers } = await ask(`why/${messages[0].id}`)
    for (const id of [trace, subscribers[0].delivery_id, `wamid.${round}`]) await ask(`why/${id}`)
    for (const q of [`wamid.${round}`, '4711', '0123456789abcdef', '+1 650 555 1234', round, 'Lucky Shrub']) {
      await find(q, tokens.operator)
      await find(q, tokens.limitedOperator)
    }
  }

  await work('warm')
  await client.query(`
    INSERT INTO name_words (word, time, id, kind) SELECT 'lucky', 1, id, kind FROM searchable_names LIMIT 1;
    INSERT INTO calls (id, phone_number_id, user_wa_id, direction, state, created_time)
      SELECT 'call', id, '${user}', 'USER_INITIATED', 'ended', 1 FROM phone_numbers LIMIT 1`)
  await growTables(client)
  log.take()
  await work('grown')
  const texts = new Set(log.take().map(({ text }) => text.trim()))
  const statements = [...texts].filter((text) => /^(select|insert|update|delete|with)\b/i.test(text))
  assert.ok(statements.length > 20, `${statements.length} statements`)
  const walked: string[] = []
  for (const text of statements) {
    const tables = await listWalked(client, text)
    if (tables.length > 0) walked.push(`${tables.join(', ')}: ${text.replaceAll(/\s+/g, ' ').slice(0, 300)}`)
  }
  assert.deepEqual(walked, [])
})
