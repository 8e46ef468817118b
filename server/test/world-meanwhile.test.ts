import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { type RunningServer, runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, type StorePlace } from './harness/databases.ts'
import { until } from './harness/until.ts'
import { ids, strangerIds, testWorld, tokens } from './harness/world.ts'

/** A world of a few thousand numbers takes seconds: other processes go on meanwhile. */
describe('while a world is being applied to PostgreSQL', () => {
  let place: StorePlace
  let server: RunningServer
  let holder: pg.Client
  let watcher: pg.Client
  before(async () => {
    place = await makeMigratedPlace('postgres')
    server = await startCommand(['serve', '--port', '0', '--world', await writeWorld(testWorld())], options())
    holder = new pg.Client({ connectionString: place.databaseUrl as string })
    watcher = new pg.Client({ connectionString: place.databaseUrl as string })
    await Promise.all([holder.connect(), watcher.connect()])
  })
  after(async () => {
    await server.stop('SIGKILL')
    await Promise.all([holder.end(), watcher.end()])
    await place.remove()
  })

  const options = () => ({
    cwd: place.dataDir,
    env: {
      DATA_DIR: place.dataDir,
      DATABASE_URL: place.databaseUrl as string,
      DATABASE_LOCK_TIMEOUT: '60s',
      LOG_LEVEL: 'warn',
    },
  })

  async function writeWorld(world: object): Promise<string> {
    const file = join(place.dataDir, 'world.json')
    await writeFile(file, JSON.stringify(world))
    return file
  }

  async function call(method: string, path: string, token: string, body?: object) {
    const response = await fetch(`${server.url}/v23.0/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }

  const createNumber = (phone_number: string) =>
    call('POST', `${strangerIds.account}/phone_numbers`, tokens.stranger, {
      cc: '1',
      phone_number,
      verified_name: 'Made meanwhile',
    })

  async function waitForWaiting(count: number, what: string): Promise<void> {
    const query = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    await until(async () => ((await watcher.query(query)).rowCount ?? 0) >= count, what)
  }

  /** Applies the test world with another name of its account and one more number, and stops between the checks and the writing. */
  async function applyUntilHeld(name: string, display_phone_number: string) {
    const { accounts, ...others } = testWorld()
    const changed = accounts.map((account) =>
      account.id === ids.account
        ? {
            ...account,
            name,
            phone_numbers: [...account.phone_numbers, { id: '4000000000007001', display_phone_number }],
          }
        : account,
    )
    const file = await writeWorld({ ...others, accounts: changed })
    await holder.query('BEGIN')
    await holder.query('SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE', [ids.account])
    const applied = runCommand(['apply', file], options())
    await waitForWaiting(1, 'the world waits for the account')
    return {
      async letGo() {
        await holder.query('COMMIT')
        return applied
      },
    }
  }

  test('another process creates things', async () => {
    const held = await applyUntilHeld('Applied beside others', '+1 631-555-7001')
    const created = await createNumber('6315557002')
    assert.equal(created.status, 200, JSON.stringify(created.body))
    const { code, stderr } = await held.letGo()
    assert.equal(code, 0, stderr)
    const read = await call('GET', ids.account, tokens.owner)
    assert.equal((read.body as { name: string }).name, 'Applied beside others')
  })

  test('a number that another process takes is refused to the world with its place, and nothing of that is written', async () => {
    const held = await applyUntilHeld('Never written', '+1 631-555-7003')
    const created = await createNumber('6315557003')
    assert.equal(created.status, 200, JSON.stringify(created.body))
    const { id } = created.body as { id: string }
    const { code, stderr } = await held.letGo()
    assert.equal(code, 1)
    assert.match(
      stderr,
      new RegExp(
        `accounts\\[\\d+\\]\\.phone_numbers\\[\\d+\\]\\.display_phone_number: the store has that phone number already, with the id ${id};`,
      ),
    )
    const read = await call('GET', ids.account, tokens.owner)
    assert.notEqual((read.body as { name: string }).name, 'Never written')
  })

  test('what the file describes is not removed before that is done', async () => {
    const held = await applyUntilHeld('Applied before the group went', '+1 631-555-7001')
    const deleted = call('DELETE', ids.group, tokens.owner)
    await waitForWaiting(2, 'whoever deletes the group waits')
    const { code, stderr } = await held.letGo()
    assert.equal(code, 0, stderr)
    assert.equal((await deleted).status, 200)
    assert.equal((await call('GET', ids.group, tokens.owner)).status, 404)
  })
})
