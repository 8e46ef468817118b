import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import type { Log } from '../src/base/log/log.ts'
import type { Clock } from '../src/base/time/clock.ts'
import { day, hour, minute, second } from '../src/base/time/duration.ts'
import type { TimeSources } from '../src/timers/clock-guard.ts'
import { acceptTime, readStoreClock, writeTrustedTime } from '../src/timers/store-clock.ts'
import { runCommand, startCommand } from './harness/command.ts'
import { type Engine, makeMigratedPlace, onBothDatabases, openPlace } from './harness/databases.ts'
import { messageSides } from './harness/messages.ts'
import { startSecondProcess } from './harness/second-process.ts'
import { sourcesOf, startTestServer, type TestServer } from './harness/server.ts'
import { refuseWith, subscribe, takeIt } from './harness/subscriber.ts'
import { until } from './harness/until.ts'
import { handInText } from './harness/webhooks.ts'
import { numbers, tokens } from './harness/world.ts'

const month = 31 * day

/** Clocks that somebody sets while the time goes on. */
class SetClocks {
  #process = 0
  #database = 0

  readonly sources = (clock: Clock): TimeSources => {
    const passed = () => clock.now() - this.#process
    return { monotonic: passed, ofDatabase: () => passed() + this.#database }
  }

  /** The process alone, which is all there is with an embedded store. */
  readonly embedded = (clock: Clock): TimeSources => ({ monotonic: () => clock.now() - this.#process })

  setProcess({ clock }: TestServer, milliseconds: number): void {
    this.#process += milliseconds
    clock.advance(milliseconds)
  }

  setBoth(server: TestServer, milliseconds: number): void {
    this.#database += milliseconds
    this.setProcess(server, milliseconds)
  }
}

interface Line {
  readonly level: number
  readonly msg: string
}

function keepLines(): { log: Log; about: (pattern: RegExp) => Line[] } {
  const lines: Line[] = []
  const log = Object.assign(pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }), {
    line: () => undefined,
  })
  return { log, about: (pattern) => lines.filter(({ msg }) => pattern.test(msg)) }
}

async function startWithClocks(t: TestContext, engine: Engine, env: Record<string, string> = {}) {
  const clocks = new SetClocks()
  const { log, about } = keepLines()
  const timeSources = engine === 'sqlite' ? clocks.embedded : clocks.sources
  const server = await startTestServer({ engine, log, timeSources, env: { MESSAGE_TTL: '40d', ...env } })
  t.after(() => server.stop())
  return { server, clocks, about }
}

/** What is in the store of that which goes when it is old. */
async function countKept({ database: { read } }: TestServer) {
  const { query } = read
  const count = async (table: 'messages' | 'message_contents' | 'events' | 'deliveries' | 'media' | 'uploads') =>
    (await query.selectFrom(table).selectAll().execute()).length
  return {
    messages: await count('messages'),
    contents: await count('message_contents'),
    events: await count('events'),
    deliveries: await count('deliveries'),
    media: await count('media'),
    uploads: await count('uploads'),
    waiting: (await query.selectFrom('deliveries').select('id').where('state', '=', 'waiting').execute()).length,
  }
}

async function fill(t: TestContext, server: TestServer) {
  const subscriber = await subscribe(t, server)
  subscriber.answerWith(refuseWith(500))
  const sides = messageSides(server)
  const user = sides.newUser()
  await sides.write(user)
  await sides.send(user)
  await server.app.settle()
  const before = await countKept(server)
  for (const [name, count] of Object.entries(before)) assert.notEqual(count, 0, name)
  return { subscriber, before }
}

async function goThroughDoors(server: TestServer) {
  const ready = await server.client.get('/readyz')
  const state = await server.client.get('/operator/state', { token: tokens.operator })
  const { text } = await server.client.get('/metrics')
  const read = (name: string) => Number(new RegExp(`^${RegExp.escape(name)} (.*)$`, 'm').exec(text)?.[1])
  return {
    ready,
    clock: state.body.clock,
    process: state.body.processes[0],
    offset: read('switchboard_clock_offset_seconds'),
    differs: read('switchboard_clock_held{reason="differs"}'),
    jumped: read('switchboard_clock_held{reason="jumped"}'),
  }
}

async function settleAndSweep({ app }: TestServer): Promise<void> {
  await app.settle()
  await app.sweep()
  await app.settle()
}

test('a process whose clock is days ahead of the database deletes, gives up and sends nothing, and says so', async (t) => {
  const { server, clocks, about } = await startWithClocks(t, 'postgres')
  const { subscriber, before } = await fill(t, server)
  const posts = subscriber.posts.length
  clocks.setProcess(server, month)
  await settleAndSweep(server)
  assert.deepEqual(await countKept(server), before)
  assert.equal(subscriber.posts.length, posts)
  const wrong = await goThroughDoors(server)
  assert.equal(wrong.ready.status, 503, wrong.ready.text)
  assert.match(wrong.ready.body.reason, /31 days ahead of the database's/)
  assert.deepEqual(wrong.clock, { offset: month / second, held: 'differs' })
  assert.equal(wrong.process.clock_offset, month / second)
  assert.deepEqual([wrong.offset, wrong.differs, wrong.jumped], [month / second, 1, 0])
  await settleAndSweep(server)
  assert.deepEqual(
    about(/differs from the database/).map(({ level }) => level),
    [50],
  )
  assert.equal(about(/agrees with the database/).length, 0)

  clocks.setProcess(server, -month)
  await settleAndSweep(server)
  const right = await goThroughDoors(server)
  assert.equal(right.ready.text, '{"status":"ready"}')
  assert.deepEqual(right.clock, { offset: 0, held: null })
  assert.deepEqual([right.offset, right.differs, right.jumped], [0, 0, 0])
  assert.equal(about(/agrees with the database/).length, 1)
  assert.deepEqual(await countKept(server), before)
  subscriber.answerWith(takeIt)
  server.clock.advance(minute)
  await server.app.settle()
  assert.equal((await countKept(server)).waiting, 0, 'it works again')
})

test('what a process wrote while its clock was ahead does not wait longer once its clock was set right', async (t) => {
  const { server, clocks } = await startWithClocks(t, 'postgres')
  const subscriber = await subscribe(t, server, { fields: ['group_lifecycle_update'] })
  clocks.setProcess(server, hour)
  await server.app.settle()
  const answer = await server.client.post(`/v23.0/${numbers.main}/groups`, {
    token: tokens.owner,
    json: { messaging_product: 'msgapp', subject: 'Regulars' },
  })
  assert.equal(answer.status, 200, answer.text)
  await server.app.settle()
  clocks.setProcess(server, -hour)
  await server.app.settle()
  server.clock.advance(second)
  await server.app.settle()
  assert.equal(subscriber.posts.length, 1)
})

test('a subscriber gets a post once while it responds, although the clocks of two processes are further apart than a lease is long', async (t) => {
  const { server } = await startWithClocks(t, 'postgres')
  const subscriber = await subscribe(t, server)
  const reached = Promise.withResolvers<ServerResponse>()
  subscriber.answerWith((_post, response) => reached.resolve(response))
  await handInText(server, 'once')
  const response = await reached.promise
  for (const apart of [15 * second, -25 * second]) {
    const clock = { now: () => server.clock.now() + apart }
    const next = await startSecondProcess(server, {}, { clock, timeSources: sourcesOf(server.clock) })
    await next.app.settle()
    await next.app.close(0)
    assert.equal(subscriber.posts.length, 1, `${apart} ms apart`)
  }
  response.end('thanks')
  await server.app.settle()
  assert.deepEqual(subscriber.messageIds(), ['once'])
})

test("the database's clock is read from PostgreSQL itself", async (t) => {
  const clocks = new SetClocks()
  const server = await startTestServer({ engine: 'postgres', timeSources: clocks.embedded })
  t.after(() => server.stop())
  // The clock of tests stands still at a noon that is not now.
  const { ready, offset } = await goThroughDoors(server)
  assert.equal(ready.status, 503, ready.text)
  assert.ok(Math.abs(offset * second - (server.clock.now() - Date.now())) < 10 * minute, String(offset))
})

test('a process that only serves requests is ready with a warning, unless its clock is days off', async (t) => {
  const { server, clocks } = await startWithClocks(t, 'postgres', { ROLE: 'api' })
  clocks.setProcess(server, 2 * minute)
  await server.app.settle()
  const { ready } = await goThroughDoors(server)
  assert.equal(ready.status, 200)
  assert.match(ready.body.warning, /120 s ahead of the database's/)
  clocks.setProcess(server, -month)
  await server.app.settle()
  assert.equal((await server.client.get('/readyz')).status, 503)
})

test('a difference within CLOCK_TOLERANCE is none', async (t) => {
  const { server, clocks, about } = await startWithClocks(t, 'postgres', { CLOCK_TOLERANCE: '5m' })
  clocks.setProcess(server, 4 * minute)
  await server.app.settle()
  assert.equal((await server.client.get('/readyz')).text, '{"status":"ready"}')
  assert.equal(about(/differs/).length, 0)
})

onBothDatabases('time that jumps forward by days', (engine) => {
  test('time that jumps forward by days deletes and gives up nothing until an operator accepts it; everything else goes on', async (t) => {
    const { server, clocks, about } = await startWithClocks(t, engine)
    const { subscriber, before } = await fill(t, server)
    const posts = subscriber.posts.length
    clocks.setBoth(server, month)
    // A sweep may come before the clocks are compared.
    await server.app.sweep()
    await settleAndSweep(server)
    assert.deepEqual(await countKept(server), before)
    assert.ok(subscriber.posts.length > posts, 'what waits is tried again, and not given up')
    const held = await goThroughDoors(server)
    assert.equal(held.ready.status, 200)
    assert.match(held.ready.body.warning, /31 days.*switchboard clock accept/)
    assert.deepEqual(held.clock, { offset: 0, held: 'jumped' })
    assert.deepEqual([held.offset, held.differs, held.jumped], [0, 0, 1])
    assert.deepEqual(
      about(/switchboard clock accept/).map(({ level }) => level),
      [50],
    )
    subscriber.answerWith(takeIt)
    await handInText(server, 'after the jump')
    server.clock.advance(minute)
    await server.app.settle()
    assert.ok(subscriber.messageIds().includes('after the jump'))

    await acceptTime(server.database, server.clock.now())
    await settleAndSweep(server)
    const after = await countKept(server)
    assert.deepEqual([after.contents, after.media, after.uploads], [1, 0, 0], 'but for the new one')
    assert.equal(about(/was accepted/).length, 1)
    assert.equal((await goThroughDoors(server)).ready.text, '{"status":"ready"}')
  })

  test('time that jumps forward by days ends by itself when the clock is set right', async (t) => {
    const { server, clocks, about } = await startWithClocks(t, engine)
    const { before } = await fill(t, server)
    clocks.setBoth(server, month)
    await settleAndSweep(server)
    clocks.setBoth(server, -month)
    await settleAndSweep(server)
    assert.deepEqual(await countKept(server), before)
    assert.equal(about(/set right/).length, 1)
    assert.deepEqual((await goThroughDoors(server)).clock, { offset: 0, held: null })
  })

  test('when time jumped forward by days while no process ran, the next start works, and deletes nothing until an operator accepts it', async (t) => {
    const { server } = await startWithClocks(t, engine)
    const { subscriber, before } = await fill(t, server)
    await server.app.close(0)
    server.clock.advance(month)
    subscriber.answerWith(takeIt)
    const { app, client } = await startSecondProcess(server)
    t.after(() => app.close(0))
    const next = { ...server, app, client }
    await settleAndSweep(next)
    const { waiting, ...kept } = await countKept(next)
    assert.deepEqual({ ...kept, waiting: before.waiting }, before)
    assert.equal(waiting, 0, 'delivered')
    await handInText(next, 'works')
    await next.app.settle()
    assert.ok(subscriber.messageIds().includes('works'))
    assert.match((await client.get('/readyz')).text, /clock accept/)
    await acceptTime(next.database, next.clock.now())
    await settleAndSweep(next)
    assert.equal((await countKept(next)).contents, 1, 'that of the message that came since')
  })

  test('time that jumps forward by days is none when the clock had been set back, and is set right', async (t) => {
    const { server, clocks } = await startWithClocks(t, engine)
    const { before } = await fill(t, server)
    const trusted = async () => (await readStoreClock(server.database.read))?.trusted_time
    const known = await trusted()
    clocks.setBoth(server, -10 * day)
    await settleAndSweep(server)
    assert.deepEqual((await goThroughDoors(server)).clock, { offset: 0, held: null }, 'nothing is held')
    server.clock.advance(10 * minute)
    await settleAndSweep(server)
    assert.equal(await trusted(), known)
    clocks.setBoth(server, 10 * day)
    await settleAndSweep(server)
    assert.deepEqual((await goThroughDoors(server)).clock, { offset: 0, held: null })
    assert.equal(await trusted(), server.clock.now())
    const { waiting, ...kept } = await countKept(server)
    assert.deepEqual({ ...kept, waiting: before.waiting }, { ...before })
  })

  test('time that jumps forward by days is none for a machine that starts in 1970 and hears the time later', async (t) => {
    const { server, clocks } = await startWithClocks(t, engine)
    await server.app.close(0)
    const sinceEpoch = server.clock.now()
    clocks.setBoth(server, -sinceEpoch)
    const timeSources = (engine === 'sqlite' ? clocks.embedded : clocks.sources)(server.clock)
    const { app, client } = await startSecondProcess(server, {}, { timeSources })
    t.after(() => app.close(0))
    server.clock.advance(minute)
    await app.settle()
    clocks.setBoth(server, sinceEpoch)
    await app.settle()
    assert.equal((await client.get('/readyz')).text, '{"status":"ready"}')
  })

  test('time that jumps forward by days is one when the earlier time had passed for an hour, or an operator had accepted it', async (t) => {
    const { server, clocks } = await startWithClocks(t, engine)
    const readHold = async () => (await goThroughDoors(server)).clock.held
    clocks.setBoth(server, -10 * day)
    await server.app.settle()
    // Somebody sets it once more: the hour begins anew.
    server.clock.advance(50 * minute)
    clocks.setBoth(server, -day)
    await server.app.settle()
    server.clock.advance(hour - 1)
    await server.app.settle()
    clocks.setBoth(server, 11 * day)
    await server.app.settle()
    assert.equal(await readHold(), null)
    clocks.setBoth(server, -10 * day)
    await server.app.settle()
    server.clock.advance(hour)
    await server.app.settle()
    clocks.setBoth(server, 10 * day)
    await server.app.settle()
    assert.equal(await readHold(), 'jumped')
    await acceptTime(server.database, server.clock.now())
    await server.app.settle()
    assert.equal(await readHold(), null)
    clocks.setBoth(server, -10 * day)
    await server.app.settle()
    await acceptTime(server.database, server.clock.now())
    await server.app.settle()
    clocks.setBoth(server, 10 * day)
    await server.app.settle()
    assert.equal(await readHold(), 'jumped')
  })

  test('time that jumps forward by days is not what a quiet service looks like that never compared clocks, as long as one of its processes was heard of', async (t) => {
    const { server } = await startWithClocks(t, engine)
    await fill(t, server)
    await server.app.close(0)
    await server.database.transaction(({ query }) => query.deleteFrom('store_clock').execute())
    server.clock.advance(month)
    const heard_time = server.clock.now() - minute
    const old = { id: 'old', role: 'all', version: '1', started_time: 0, heard_time }
    await server.database.transaction(({ query }) => query.insertInto('processes').values(old).execute())
    const { app, client } = await startSecondProcess(server)
    t.after(() => app.close(0))
    assert.equal((await client.get('/readyz')).text, '{"status":"ready"}')
  })

  test('time that jumps forward by days stays one in a store that never compared clocks, whatever is written from then on', async (t) => {
    const { server } = await startWithClocks(t, engine)
    await fill(t, server)
    await server.app.close(0)
    await server.database.transaction(({ query }) => query.deleteFrom('store_clock').execute())
    server.clock.advance(month)
    const { app, client } = await startSecondProcess(server)
    t.after(() => app.close(0))
    const next = { ...server, app, client }
    assert.match((await client.get('/readyz')).text, /clock accept/)
    await handInText(next, 'of the time in doubt')
    await settleAndSweep(next)
    assert.match((await client.get('/readyz')).text, /clock accept/)
  })

  test('time that jumps forward by days is not what a sandbox does, whose clock is moved on purpose', async (t) => {
    const { server } = await startWithClocks(t, engine, { WEBHOOK_GIVE_UP_AFTER: '1d' })
    await fill(t, server)
    const moved = await server.client.post('/operator/clock', {
      token: tokens.operator,
      json: { advance: '41d' },
    })
    assert.equal(moved.status, 200, moved.text)
    const { contents, waiting } = await countKept(server)
    assert.deepEqual({ contents, waiting }, { contents: 0, waiting: 0 })
    assert.equal((await server.client.get('/readyz')).text, '{"status":"ready"}')
  })
})

onBothDatabases('clock accept', (engine) => {
  test('clock accept is noticed by a running server', async (t) => {
    const place = await makeMigratedPlace(engine)
    t.after(() => place.remove())
    const database = await openPlace(place)
    t.after(() => database.close())
    await writeTrustedTime(database, Date.now() - month)
    const { dataDir, databaseUrl } = place
    const options = { env: { DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) }, cwd: dataDir }
    const server = await startCommand(['serve', '--port', '0'], options)
    t.after(() => server.stop('SIGTERM'))
    const readReady = async () => (await fetch(`${server.url}/readyz`)).text()
    assert.match(await readReady(), /31 days.*switchboard clock accept/)
    const accepted = await runCommand(['clock', 'accept'], options)
    assert.equal(accepted.code, 0, accepted.stderr)
    assert.match(accepted.stdout, /^Accepted that it is 2\S+Z, 31d after it was last known/)
    await until(async () => (await readReady()) === '{"status":"ready"}', 'the server knows')
  })
})
