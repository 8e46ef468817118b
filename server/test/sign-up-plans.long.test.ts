import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { startCommand } from './harness/command.ts'
import { makeStorePlace } from './harness/databases.ts'
import { DialogBrowser } from './harness/dialog.ts'
import { listWalked } from './harness/query-plans.ts'
import { redirectUri } from './harness/sign-up.ts'
import { StatementLog } from './harness/statement-log.ts'
import { ids, partnerIds, testWorld, tokens } from './harness/world.ts'

/** Businesses that are there besides, each with an account, a person, a connection, its token and a request of its own. */
const tenants = 5000
const first = 7_000_000_000_000_000

/** How one row of each table becomes another one: what must differ. */
const copies: Readonly<Record<string, string>> = {
  businesses: `'id', (${first} + g)::text, 'created_time', g`,
  accounts: `'id', (${first} + 100000 + g)::text, 'business_id', (${first} + g)::text, 'created_time', g`,
  account_access: `'account_id', (${first} + 100000 + g)::text, 'business_id', (${first} + g)::text, 'relation', 'owner'`,
  business_users: `'id', (${first} + 200000 + g)::text, 'business_id', (${first} + g)::text,
    'name', 'Person ' || g, 'email', g || '@people.example'`,
  connections: `'id', 'connection' || g, 'business_id', (${first} + g)::text,
    'account_id', (${first} + 100000 + g)::text, 'created_time', g`,
  tokens: `'id', 'token' || g, 'hash', 'hash' || g, 'app_id', (${first} + 300000 + g % 1000)::text, 'created_time', g`,
  onbehalf_requests: `'id', (${first} + 400000 + g)::text, 'account_id', (${first} + 100000 + g)::text, 'created_time', g`,
}

async function grow(client: pg.Client): Promise<void> {
  await client.query('SET session_replication_role = replica')
  for (const [table, changes] of Object.entries(copies)) {
    const { rowCount } = await client.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(one.whole, jsonb_build_object(${changes}))).*
       FROM (SELECT t AS whole FROM ${table} AS t LIMIT 1) AS one, generate_series(1, ${tenants}) AS g`,
    )
    assert.equal(rowCount, tenants, `${table} has grown`)
  }
  // All of them are clients of one app, too.
  await client.query(
    `INSERT INTO account_access (account_id, business_id, relation, created_time)
     SELECT id, $1, 'connected', created_time FROM accounts WHERE id > '${first}'`,
    [partnerIds.business],
  )
  await client.query('RESET session_replication_role')
  await client.query('VACUUM ANALYZE')
}

test('no list of a sign-up walks what all tenants have', async (t) => {
  const place = await makeStorePlace('postgres')
  const log = await new StatementLog(place.databaseUrl as string).start()
  const client = new pg.Client({ connectionString: place.databaseUrl })
  const world = testWorld()
  const apps = world.apps.map((app) =>
    app.id === partnerIds.application ? { ...app, redirect_uris: [redirectUri] } : app,
  )
  const file = join(place.dataDir, 'world.json')
  await writeFile(file, JSON.stringify({ ...world, apps }))
  const server = await startCommand(['serve', '--port', '0', '--world', file], {
    cwd: place.dataDir,
    env: { DATA_DIR: place.dataDir, DATABASE_URL: log.url, LOG_LEVEL: 'warn', SANDBOX: 'on' },
  })
  t.after(async () => {
    await server.stop('SIGKILL')
    await client.end()
    await log.end()
    await place.remove()
  })
  await client.connect()
  const get = async (path: string, token: string) => {
    const response = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    return JSON.parse(text)
  }
  const asked = { client_id: partnerIds.application, redirect_uri: redirectUri, state: '1', response_type: 'code' }
  const connect = async (more: Record<string, string> = {}) => {
    const { left, html } = await new DialogBrowser(server).open({ ...asked, auto: 'accept', ...more })
    assert.ok(left?.searchParams.get('code'), html)
  }
  await connect()
  const asking = { account_id: ids.account, requesting_business_id: partnerIds.business }
  const put = await fetch(`${server.url}/operator/onbehalf-requests`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${tokens.operator}`, 'content-type': 'application/json' },
    body: JSON.stringify(asking),
  })
  assert.equal(put.status, 200, await put.text())
  await grow(client)
  log.take()

  await connect()
  await connect({ user_id: ids.business_user })
  const browser = new DialogBrowser(server)
  await browser.open(asked)
  await browser.send('person', { user_id: ids.business_user })
  await browser.send('business', { business_id: ids.business })
  assert.equal(browser.page.url, '/dialog/account')
  const app = `app_id=${partnerIds.application}`
  const clients = `/v23.0/${partnerIds.application}/connected_client_businesses`
  const { data, paging } = await get(`${clients}?limit=5`, tokens.partner)
  assert.equal(data.length, 5)
  await get(`${clients}?limit=5&after=${paging.cursors.after}`, tokens.partner)
  await get(`/v23.0/${partnerIds.business}/client_msgapp_business_accounts?limit=5`, tokens.partner)
  await get(`/v23.0/${ids.business}/owned_msgapp_business_accounts?limit=5`, tokens.partner)
  for (const filter of ['', app, `${app}&state=live`, `business_id=${ids.business}`, `account_id=${ids.account}`]) {
    await get(`/operator/connections?limit=5&${filter}`, tokens.operator)
  }
  for (const filter of ['', app]) await get(`/operator/tokens?limit=5&${filter}`, tokens.operator)
  await get(`/operator/onbehalf-requests?limit=5&account_id=${ids.account}`, tokens.operator)
  await get(`/operator/businesses/${ids.business}/users`, tokens.operator)

  const statements = [...new Set(log.take().map(({ text }) => text.trim()))].filter((text) =>
    /^(select|with)\b/i.test(text),
  )
  assert.ok(statements.length > 20, `${statements.length} statements`)
  const walked: string[] = []
  for (const text of statements) {
    const tables = await listWalked(client, text, Object.keys(copies))
    if (tables.length > 0) walked.push(`${tables.join(', ')}: ${text.replaceAll(/\s+/g, ' ').slice(0, 300)}`)
  }
  assert.deepEqual(walked, [])
})
