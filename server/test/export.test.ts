import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { systemRandom } from '../src/base/keys/random.ts'
import type { Database } from '../src/db/database.ts'
import { serviceSecret } from '../src/db/secrets/stored-secrets.ts'
import { worldParts } from '../src/world/parts.ts'
import { runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, onOneDatabase, openPlace, type StorePlace, useTestDatabase } from './harness/databases.ts'

const account = '1000000000000001'
const number = '4000000000000001'
const anotherNumber = '4000000000000003'

/**
 * Every table that a world file fills but tokens, with the columns that are made anew when a file is applied; secrets are sealed anew,
 * and are compared in the files.
 */
const filledTables: Readonly<Record<string, readonly string[]>> = {
  nodes: [],
  businesses: ['created_time'],
  extended_credits: [],
  business_users: ['created_time'],
  apps: ['created_time', 'secret', 'secret_time'],
  app_subscriptions: ['created_time', 'verify_token', 'verify_token_hash'],
  accounts: ['created_time'],
  account_access: ['created_time'],
  subscribed_apps: ['created_time'],
  migration_intents: [],
  onbehalf_requests: ['created_time'],
  bots: [],
  schedules: ['created_time', 'updated_time'],
  phone_numbers: ['creation_time', 'last_onboarded_time', 'registration_epoch'],
  business_profiles: [],
  compliance_info: [],
  qr_codes: ['creation_time'],
  groups: ['created_time'],
  group_participants: ['joined_time'],
  call_permissions: [],
  message_templates: ['created_time', 'last_updated_time', 'quality_time'],
  users: [],
  blocked_users: ['created_time'],
}

async function readFilled(database: Database): Promise<Record<string, unknown[]>> {
  const filled: Record<string, unknown[]> = {}
  for (const [table, generated] of Object.entries(filledTables)) {
    const { rows } = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(table)}`.execute(database.read.query)
    assert.ok(rows.length > 0, `${table} has something to compare`)
    const kept = rows.map((row) => Object.entries(row).filter(([column]) => !generated.includes(column)))
    filled[table] = kept.map((row) => JSON.stringify(row)).sort()
  }
  return filled
}

test('every table that is exported is compared', () => {
  const exported = worldParts.flatMap((part) => part.export?.table ?? [])
  assert.deepEqual(
    exported.filter((table) => !Object.hasOwn(filledTables, table)),
    [],
    'add these tables to `filledTables`, with the columns that applying a file sets anew, and rows of them to worlds/demo.yaml',
  )
})

onOneDatabase('the command export', 'sqlite', (engine) => {
  let first: StorePlace
  let second: StorePlace
  before(async () => {
    first = await makeMigratedPlace(engine)
    second = await makeMigratedPlace(engine)
  })
  after(async () => {
    await first.remove()
    await second.remove()
  })

  const optionsOf = (place: StorePlace) => ({
    env: { DATA_DIR: place.dataDir, ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }) },
    cwd: place.dataDir,
  })

  async function exportFrom(place: StorePlace): Promise<string> {
    const { code, stdout, stderr } = await runCommand(['export'], optionsOf(place))
    assert.equal(code, 0, stderr)
    return stdout
  }

  /** Changes of many kinds through the API, among them states that only the API leads to. */
  async function changeThroughTheApi(): Promise<void> {
    const server = await startCommand(['serve', '--port', '0'], optionsOf(first))
    const post = async (path: string, body: object) => {
      const answer = await fetch(`${server.url}/v23.0/${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer demo-token', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      assert.equal(answer.status, 200, `${path}: ${await answer.clone().text()}`)
    }
    await post(account, { name: 'yes: "quoted" # and\u2028more' })
    await post(`${account}/phone_numbers`, { cc: '1', phone_number: '6315551055', verified_name: 'Branch 2' })
    await post(`${number}/conversational_automation`, { prompts: ['0x1f', 'null'], enable_welcome_message: true })
    await post(`${number}/message_qrdls`, { prefilled_message: ' two\nlines \n' })
    await post(`${number}/groups`, { messaging_product: 'msgapp', subject: 'Fern friends', description: '- a\n- b\n' })
    await joinGroup(server.url, { user_wa_id: '16505551239', name: 'null' })
    await joinGroup(server.url, { user_wa_id: '16505551238' })
    await post(`${number}/msgapp_business_profile`, { messaging_product: 'msgapp', about: '~', websites: [] })
    await post(`${number}/block_users`, { messaging_product: 'msgapp', block_users: [{ user: '16505551234' }] })
    await post(number, { new_display_name: 'Lucky Shrub Anew', search_visibility: 'HIDDEN', pin: '123456' })
    await post(`${anotherNumber}/deregister`, { messaging_product: 'msgapp' })
    await post('4000000000000004', { connection_status: 'DISCONNECTED' })
    await post(`${account}/schedules`, {
      name: 'Holidays',
      schedule_type: 'CUSTOM',
      is_active: false,
      recurrence_pattern: { end_date: '2099-12-31', frequency: 'YEARLY' },
    })
    await post('3000000000000001/subscriptions', {
      object: 'msgapp_business_account',
      callback_url: `${server.url}/nowhere`,
      verify_token: 'x',
      fields: ['messages'],
    }).then(
      () => assert.fail('a callback that is none was taken'),
      (error: Error) => assert.match(error.message, /could not be verified/),
    )
    assert.equal((await server.stop('SIGTERM')).code, 0)
  }

  async function joinGroup(url: string, user: object): Promise<void> {
    const post = async (path: string, token: string, body: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      assert.equal(answer.status, 200)
      return (await answer.json()) as { invite_link: string }
    }
    const link = { messaging_product: 'msgapp' }
    const { invite_link } = await post('/v23.0/6000000000000001/invite_link', 'demo-token', link)
    await post('/gateway/groups/join', 'demo-gateway-token', { invite_link, ...user })
  }

  test('an export that is applied to an empty store makes the same store, and its export is the same text', async () => {
    await changeThroughTheApi()
    const text = await exportFrom(first)
    const file = join(second.dataDir, 'world.yaml')
    await writeFile(file, text)
    const applied = await runCommand(['apply', file], optionsOf(second))
    assert.equal(applied.code, 0, applied.stderr)
    assert.equal(await exportFrom(second), text)

    const [before, after] = [await openPlace(first), await openPlace(second)]
    try {
      assert.deepEqual(await readFilled(after), await readFilled(before))
    } finally {
      await before.close()
      await after.close()
    }
    const again = await runCommand(['apply', file], optionsOf(first))
    assert.match(again.stdout, /: 0 created, 0 updated, \d+ unchanged\.\n$/)
  })

  test('the secrets of apps are in it and said to be; tokens are not, and are said to be missing', async () => {
    const { stdout, stderr } = await runCommand(['export'], optionsOf(first))
    assert.match(stdout, /secret: shrub-app-secret\n/)
    assert.doesNotMatch(stdout, /token: demo-token|tokens:/)
    assert.match(stderr, /The file holds the secrets of apps/)
    assert.match(stderr, /left out: 5 tokens, .*\b1 two-step PINs\b/)
    assert.match((await runCommand(['export', '--help'], optionsOf(first))).stdout, /secrets\s+of\s+apps/)
  })
})

onOneDatabase('a snapshot', 'sqlite', (engine) => {
  const store = useTestDatabase(engine)

  test('a snapshot shows one moment to all its reads, while others write and read on', async () => {
    const { database } = store
    const count = async (db: Pick<Database['read'], 'query'>) =>
      (await db.query.selectFrom('service_secrets').select('name').execute()).length
    await database.snapshot(async (db) => {
      const before = await count(db)
      await serviceSecret(database, systemRandom, 'n')
      assert.equal(await count(db), before)
      assert.equal(await count(database.read), before + 1)
    })
  })
})
