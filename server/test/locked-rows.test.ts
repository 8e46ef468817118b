import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { insertLink, takeLink } from '../src/auth/sessions.ts'
import { TokenUses } from '../src/auth/token-uses.ts'
import { systemRandom } from '../src/base/keys/random.ts'
import { silentLog } from '../src/base/log/log.ts'
import { day } from '../src/base/time/duration.ts'
import { DatabaseBusy } from '../src/db/database.ts'
import { openPostgres } from '../src/db/postgres/postgres.ts'
import { Agreement } from '../src/processes/agreement.ts'
import { Heartbeat, listProcessesForOperators } from '../src/processes/heartbeat.ts'
import { MessageRetention } from '../src/resources/messages/retention/message-retention.ts'
import { wantStream } from '../src/stream/store.ts'
import { acceptTime, writeTrustedTime } from '../src/timers/store-clock.ts'
import { png } from './harness/media-files.ts'
import { messageSides } from './harness/messages.ts'
import { useTestServer } from './harness/server.ts'
import { until } from './harness/until.ts'
import { numbers, tokens } from './harness/world.ts'

/** Somebody's session has locked one row and does not let go, or a request holds one: what it does not concern goes on. */
describe('a locked row (postgres)', () => {
  let holder: pg.Client
  after(() => holder.end())
  // A statement that waited for the lock would wait in vain.
  const server = useTestServer({ engine: 'postgres' })
  const sides = messageSides(server)
  before(async () => {
    holder = new pg.Client({ connectionString: server.databaseUrl as string })
    await holder.connect()
  })

  test('a locked row of a message or of what it says: everything else that is old goes, and the message goes when its row is free', async (t) => {
    t.after(() => holder.query('ROLLBACK'))
    const user = sides.newUser()
    const [said, locked, gone] = [await sides.write(user), await sides.write(user), await sides.write(user)]
    const headers = { 'idempotency-key': 'locked-rows' }
    assert.equal((await sides.post({ to: user, text: { body: 'Hello' } }, { headers })).status, 200)
    server.clock.advance(2 * day)
    const { database, clock } = server
    const keep = {
      messageKeep: day,
      messageBodyKeep: day,
      idempotencyKeep: day,
      webhookKeep: 30 * day,
      streamKeep: day,
    }
    const retention = new MessageRetention({ database, clock, random: systemRandom, log: silentLog, rules: keep })
    const listLeft = async () => {
      const { query } = database.read
      const messages = await query.selectFrom('messages').select('id').where('user_wa_id', '=', user).execute()
      const contents = await query.selectFrom('message_contents').select('message_id').execute()
      const keys = await query.selectFrom('idempotency_keys').select('key').where('key', '=', 'locked-rows').execute()
      const events = await query.selectFrom('events').select('id').where('value', 'like', `%${user}%`).execute()
      const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
      const ours = contents.map(({ message_id }) => message_id).filter((id) => [said, locked, gone].includes(id))
      return { messages: ids(messages), contents: ours, keys: keys.length, events: events.length }
    }
    await server.app.settle()
    assert.deepEqual([(await listLeft()).messages.length, (await listLeft()).keys], [4, 1])
    await holder.query(`BEGIN; SELECT 1 FROM messages WHERE id = '${locked}' FOR UPDATE`)
    await holder.query(`SELECT 1 FROM message_contents WHERE message_id = '${said}' FOR UPDATE`)
    await retention.sweep()
    assert.deepEqual(await listLeft(), { messages: [locked], contents: [said], keys: 0, events: 0 })
    await holder.query('ROLLBACK')
    await retention.sweep()
    assert.deepEqual(await listLeft(), { messages: [], contents: [], keys: 0, events: 0 })
  })

  test('a locked row of a process that is gone: the others are heard of', async (t) => {
    t.after(() => holder.query('ROLLBACK'))
    await holder.query(
      `INSERT INTO processes (id, role, version, started_time, heard_time) VALUES ('dead', 'all', '1', 0, 0)`,
    )
    await holder.query(`BEGIN; SELECT 1 FROM processes WHERE id = 'dead' FOR UPDATE`)
    const { database, clock } = server
    const self = { id: 'alive', role: 'all' as const, version: '1', started_time: clock.now() }
    const settings = { digest: 'none', hashes: {} }
    const guard = { state: { hold: undefined, offset: 0, ahead: 0 }, mayDelete: () => true }
    const heartbeat = new Heartbeat(
      database,
      clock,
      silentLog,
      self,
      guard,
      new Agreement(database, silentLog, self.id, settings),
      new TokenUses(clock),
    )
    t.after(() => heartbeat.stop())
    heartbeat.start()
    await heartbeat.settle()
    const listIds = async () => (await listProcessesForOperators(database.read, -1)).map(({ id }) => id)
    assert.deepEqual((await listIds()).filter((id) => id === 'dead' || id === 'alive').toSorted(), ['alive', 'dead'])
    await holder.query('ROLLBACK')
    heartbeat.wake()
    await heartbeat.settle()
    assert.ok(!(await listIds()).includes('dead'))
  })

  test('a locked row of a link to sign in whose time is over: others sign in, and it is of no use', async (t) => {
    t.after(() => holder.query('ROLLBACK'))
    const { database, clock } = server
    const add = (name: string, expires_time: number) =>
      database.transaction((tx) =>
        insertLink(tx, systemRandom, { name, accounts: null, businesses: null, expires_time }),
      )
    const take = (code: string) => database.transaction((tx) => takeLink(tx, clock.now(), code))
    const [over, valid] = [await add('over', clock.now()), await add('valid', clock.now() + 1)]
    await holder.query(`BEGIN; SELECT 1 FROM console_links WHERE name = 'over' FOR NO KEY UPDATE`)
    assert.equal((await take(valid))?.name, 'valid')
    await holder.query('ROLLBACK')
    assert.equal(await take(over), undefined)
  })

  test('a locked row of which all processes write one: who waits for it is told so after DATABASE_LOCK_TIMEOUT, and is no outage', async (t) => {
    t.after(() => holder.query('ROLLBACK'))
    const reports = { onIdleError: assert.ifError, onMoved: assert.ifError, onFault: assert.ifError }
    const timeouts = { timeout: 240_000, lockTimeout: 100 }
    const options = { url: server.databaseUrl as string, maxConnections: 4, isPooled: false }
    const database = await openPostgres({ ...options, ...timeouts, ...reports })
    t.after(() => database.close())
    const now = server.clock.now()
    await wantStream(database, 'users', now)
    await writeTrustedTime(database, now)
    await holder.query('BEGIN; SELECT 1 FROM wanted_streams FOR UPDATE; SELECT 1 FROM store_clock FOR UPDATE')
    const isLocked = (error: unknown) => error instanceof DatabaseBusy && error.kind === 'locked'
    await assert.rejects(wantStream(database, 'users', now), isLocked)
    await assert.rejects(writeTrustedTime(database, now), isLocked)
    await assert.rejects(acceptTime(database, now), isLocked)
  })

  test('a locked row of a file: a media file is deleted after the message that is just being sent with it', async (t) => {
    t.after(() => holder.query('ROLLBACK'))
    const user = sides.newUser()
    await sides.write(user)
    const file = new Blob([Buffer.concat([png, Buffer.from('locked rows')])])
    const token = tokens.owner
    const { body } = await server.client.post(`/v23.0/${numbers.main}/media`, { token, multipart: { file } })
    const path = `/v23.0/${body.id}`
    const { sha256 } = (await server.client.get(path, { token })).body
    await holder.query(`BEGIN; SELECT 1 FROM files WHERE sha256 = '${sha256}' FOR UPDATE`)
    const countWaiting = async () => {
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return (await holder.query(waiting)).rows.length
    }
    const sent = sides.post({ to: user, type: 'image', image: { id: body.id } })
    await until(async () => (await countWaiting()) === 1, 'the message waits')
    let isDeleted = false
    const deleted = server.client.delete(path, { token }).finally(() => {
      isDeleted = true
    })
    await until(async () => isDeleted || (await countWaiting()) === 2, 'the deletion waits, too')
    assert.equal(isDeleted, false)
    await holder.query('ROLLBACK')
    assert.deepEqual([(await sent).status, (await deleted).status], [200, 200])
    assert.equal((await server.client.get(path, { token })).status, 404)
  })
})
