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
import { grownTables, growTables } from './harness/grown-tables.ts'
import { listWalked } from './harness/query-plans.ts'
import { StatementLog } from './harness/statement-log.ts'
import { until } from './harness/until.ts'
import { ids, numbers, testWorld, tokens } from './harness/world.ts'

const user = '16505551234'
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
  await growTables(client)
  log.take()
  await work('grown')
  const texts = new Set(log.take().map(({ text }) => text.trim()))
  const statements = [...texts].filter((text) => /^(select|insert|update|delete|with)\b/i.test(text))
  assert.ok(statements.length > 20, `${statements.length} statements`)
  const walked: string[] = []
  for (const text of statements) {
    const tables = await listWalked(client, text, grownTables)
    if (tables.length > 0) walked.push(`${tables.join(', ')}: ${text.replaceAll(/\s+/g, ' ').slice(0, 300)}`)
  }
  assert.deepEqual(walked, [])
})
