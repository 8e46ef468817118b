import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { silentLog } from '../src/base/log/log.ts'
import { day, hour, minute, second } from '../src/base/time/duration.ts'
import { SendingHold } from '../src/egress/sending-hold.ts'
import { holdSending, releaseSending } from '../src/egress/sending-hold-store.ts'
import { runCommand } from './harness/command.ts'
import { type Engine, makeStorePlace, onOneDatabase } from './harness/databases.ts'
import { messageSides } from './harness/messages.ts'
import { numberCalls } from './harness/number-calls.ts'
import { startSecondProcess } from './harness/second-process.ts'
import { startTestServer, type TestServer } from './harness/server.ts'
import { startSink } from './harness/sink.ts'
import { refuseWith, subscribe, takeIt } from './harness/subscriber.ts'
import { until } from './harness/until.ts'
import { handInText } from './harness/webhooks.ts'
import { tokens } from './harness/world.ts'

/** A service with somebody at the other end of all that it sends by itself: an app, a carrier and a host of files. */
async function startWithOthers(t: TestContext, engine: Engine, env: Record<string, string> = {}) {
  const carrier = await startSink(t, (_request, response) => void response.writeHead(204).end())
  const host = await startSink(t, (_request, response) => void response.writeHead(404).end())
  const messages: string[] = []
  const log = Object.assign(
    pino({ level: 'warn' }, { write: (line: string) => void messages.push(JSON.parse(line).msg) }),
    { line: () => undefined },
  )
  const server = await startTestServer({ engine, log, env: { CARRIER_URL: carrier.url, ...env } })
  t.after(() => server.stop())
  const subscriber = await subscribe(t, server)
  return { server, subscriber, carrier, host, messages }
}

async function hold(server: TestServer): Promise<void> {
  await holdSending(server.database, server.clock.now())
  await server.app.settle()
}

async function release(server: TestServer): Promise<void> {
  assert.equal(await releaseSending(server.database, server.clock.now()), true)
  await server.app.settle()
}

async function goThroughDoors({ client }: TestServer) {
  const ready = await client.get('/readyz')
  const state = await client.get('/operator/state', { token: tokens.operator })
  const metrics = await client.get('/metrics')
  const read = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(metrics.text)?.[1])
  return {
    ready: [ready.status, ready.body.warning],
    since: state.body.sending.held_since,
    gauge: read('switchboard_sending_held'),
    lateness: read('switchboard_delivery_lateness_seconds'),
  }
}

async function statesOf({ database }: TestServer): Promise<string[]> {
  const rows = await database.read.query.selectFrom('deliveries').select('state').orderBy('id').execute()
  return rows.map(({ state }) => state)
}

/** Writes to a user with the window open. */
async function sendLink(server: TestServer, link: string): Promise<void> {
  const sides = messageSides(server)
  const user = sides.newUser()
  await sides.write(user)
  await sides.send(user, { type: 'image', image: { link } })
}

onOneDatabase('a store whose sending is held', 'sqlite', (engine) => {
  test('a store whose sending is held sends no webhook, no code and no fetch of a link, serves requests, says so, and sends all of it once released', async (t) => {
    const { server, subscriber, carrier, host, messages } = await startWithOthers(t, engine)
    await hold(server)
    const since = new Date(server.clock.now()).toISOString()
    await handInText(server, 'held')
    const calls = numberCalls(server)
    assert.equal((await calls.create({ phone_number: calls.freshDigits(), verified_name: 'Held' })).status, 200)
    await sendLink(server, `${host.url}/a.png`)
    server.clock.advance(10 * minute)
    await server.app.settle()
    assert.deepEqual([subscriber.posts.length, carrier.requests.length, host.requests.length], [0, 0, 0])
    const warning = `sending is held since ${since}: nothing is sent until ./switchboard restored --release`
    assert.deepEqual(await goThroughDoors(server), { ready: [200, warning], since, gauge: 1, lateness: 0 })

    await release(server)
    assert.equal(carrier.requests.length, 1)
    assert.equal(host.requests.length, 1)
    assert.equal(subscriber.messageIds().filter((id) => id === 'held').length, 1)
    assert.deepEqual(new Set(await statesOf(server)), new Set(['delivered']))
    assert.deepEqual(await goThroughDoors(server), { ready: [200, undefined], since: null, gauge: 0, lateness: 0 })
    assert.deepEqual(
      messages.filter((one) => /sending (is|was)/.test(one)).map((one) => one.slice(0, 20)),
      ['sending is held: no ', 'sending was released'],
    )
  })

  test('a store whose sending is held gives up nothing, and the time does not count afterwards', async (t) => {
    const { server, subscriber } = await startWithOthers(t, engine, { WEBHOOK_GIVE_UP_AFTER: '2d' })
    subscriber.answerWith(refuseWith(500))
    await handInText(server, 'waits for its retry')
    await server.app.settle()
    server.clock.advance(day)
    await hold(server)
    for (let days = 0; days < 2; days++) {
      server.clock.advance(day)
      await server.app.settle()
      await server.app.sweep()
    }
    const tried = subscriber.posts.length
    assert.deepEqual(await statesOf(server), ['waiting'])
    await release(server)
    await server.app.sweep()
    assert.equal(subscriber.posts.length, tried + 1)
    server.clock.advance(day / 2)
    await server.app.settle()
    await server.app.sweep()
    assert.deepEqual(await statesOf(server), ['waiting'], 'half a day is left of its two')
    server.clock.advance(day / 2 + minute)
    await server.app.settle()
    await server.app.sweep()
    assert.deepEqual(await statesOf(server), ['failed'])
  })

  test('a store whose sending is held lets a post end that is under way, and does not give it up when it fails', async (t) => {
    const { server, subscriber } = await startWithOthers(t, engine, { WEBHOOK_GIVE_UP_AFTER: '1m' })
    const reached = Promise.withResolvers<() => void>()
    subscriber.answerWith((post, response) => reached.resolve(() => refuseWith(500)(post, response)))
    await handInText(server, 'under way')
    const respond = await reached.promise
    server.clock.advance(30 * second)
    await holdSending(server.database, server.clock.now())
    server.clock.advance(hour)
    await until(async () => (await goThroughDoors(server)).gauge === 1, 'the process knows')
    respond()
    await server.app.settle()
    assert.deepEqual(await statesOf(server), ['waiting'])
    assert.equal(subscriber.posts.length, 1)
    subscriber.answerWith(takeIt)
    await release(server)
    server.clock.advance(minute)
    await server.app.settle()
    assert.deepEqual(await statesOf(server), ['delivered'])
  })

  test('a store whose sending is held sends nothing from the start of another process on', async (t) => {
    const { server, subscriber } = await startWithOthers(t, engine)
    await server.app.close(0)
    await holdSending(server.database, server.clock.now())
    const next = await startSecondProcess(server)
    t.after(() => next.app.close(0))
    const restarted = { ...server, ...next }
    await handInText(restarted, 'after the start')
    await next.app.settle()
    assert.equal(subscriber.posts.length, 0)
    const { data } = (await next.client.get('/operator/deliveries', { token: tokens.operator })).body
    const why = await next.client.get(`/operator/why/${data[0].id}`, { token: tokens.operator })
    assert.match(why.body.subscribers[0].sentence, /^Waiting: nothing is sent since .* restored --release\.$/)
    await release(restarted)
    assert.deepEqual(subscriber.messageIds(), ['after the start'])
  })
})

onOneDatabase('the clock of a sandbox', 'sqlite', (engine) => {
  test('the clock of a sandbox moves without waiting for what is held', async (t) => {
    const { server } = await startWithOthers(t, engine)
    await hold(server)
    await handInText(server, 'held')
    const calls = numberCalls(server)
    await calls.create({ phone_number: calls.freshDigits(), verified_name: 'Held' })
    const began = performance.now()
    const moved = await server.client.post('/operator/clock', { token: tokens.operator, json: { advance: '1m' } })
    assert.equal(moved.status, 200, moved.text)
    assert.ok(performance.now() - began < 30 * second, 'it waits for a minute at most')
  })
})

test('nothing is sent before a process has read whether sending is held', async (t) => {
  const { server } = await startWithOthers(t, 'sqlite')
  const { database, clock } = server
  const unread = new SendingHold({ database, clock, log: silentLog })
  assert.equal(unread.maySend(), false)
  assert.equal(unread.extend(day), Number.POSITIVE_INFINITY)
  await unread.check()
  assert.equal(unread.maySend(), true)
  assert.equal(unread.extend(day), day)
  await unread.stop()
})

onOneDatabase('restored', 'sqlite', (engine) => {
  test('restored says what waits and holds it in a server that runs; what waited then can be given up when it is released', async (t) => {
    const { server, subscriber, carrier } = await startWithOthers(t, engine)
    const { dataDir, databaseUrl } = server
    const env = { DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) }
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCommand(['restored', ...args], { env, cwd: dataDir })
      return { code, text: stdout + stderr }
    }
    const createNumber = async () => {
      const calls = numberCalls(server)
      assert.equal((await calls.create({ phone_number: calls.freshDigits(), verified_name: 'Held' })).status, 200)
    }
    subscriber.answerWith(refuseWith(500))
    await handInText(server, 'from the copy')
    await server.app.settle()
    const { code, text } = await run()
    assert.equal(code, 0, text)
    const { host } = new URL(subscriber.url)
    assert.match(
      text,
      /^Sending is not held: .* \.\/switchboard restored --hold\n1 webhook, 0 codes and 0 links of messages wait\.\n/,
    )
    assert.match(text, new RegExp(`\n3000000000000001 .* ${host} +1 +- +2026-06-01T12:00:00Z\n$`))
    assert.equal((await run('--release')).text, 'Sending is not held.\n')
    const early = await run('--release', '--withdraw-waiting')
    assert.deepEqual([early.code, /sending is not held.*restored --hold/.test(early.text)], [1, true], early.text)

    const held = await run('--hold')
    assert.match(
      held.text,
      /^Sending is held since 20\S+Z: nothing is sent until \.\/switchboard restored --release\.\n1 webhook,/,
    )
    const readWarning = async () => (await server.client.get('/readyz')).body.warning
    await until(async () => /^sending is held since/.test(await readWarning()), 'the server follows')
    const status = await runCommand(['status', '--url', server.url, '--token', tokens.operator], { cwd: dataDir })
    assert.match(status.stdout, /^Sending +held since 20\S+Z, until \.\/switchboard restored --release$/m)
    await createNumber()
    await handInText(server, 'since then')
    assert.equal(
      (await run('--hold')).text.split('\n')[0],
      held.text.split('\n')[0],
      'it stays held since the same time',
    )
    const both = (await run()).text
    assert.match(both, /\n2 webhooks, 1 code and 0 links of messages wait\.\n/)
    assert.match(both, new RegExp(`${host} +2 +1 +2026-06-01T12:00:00Z\n$`))

    subscriber.answerWith(takeIt)
    const tried = subscriber.posts.length
    const released = await run('--release', '--withdraw-waiting')
    assert.match(
      released.text,
      /^Withdrew 1 webhook and 1 code that waited when sending was held\.\nReleased: servers send what waits within seconds\.\n$/,
    )
    await until(async () => (await readWarning()) === undefined, 'the server follows')
    server.clock.advance(minute)
    await server.app.settle()
    assert.deepEqual(await statesOf(server), ['withdrawn', 'delivered'])
    assert.deepEqual(subscriber.messageIds().slice(tried), ['since then'])
    assert.equal(carrier.requests.length, 0)
  })
})

onOneDatabase('restored with codes that are old', 'sqlite', (engine) => {
  test('restored --release drops codes that can no longer be used', async (t) => {
    const { server, carrier } = await startWithOthers(t, engine)
    await hold(server)
    const calls = numberCalls(server)
    await calls.create({ phone_number: calls.freshDigits(), verified_name: 'Held' })
    await server.app.settle()
    const { dataDir, databaseUrl } = server
    const env = { DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) }
    const { stdout } = await runCommand(['restored', '--release'], { env, cwd: dataDir })
    assert.match(stdout, /^Dropped 1 code that can no longer be used\.\nReleased:/)
    await server.app.settle()
    assert.equal(carrier.requests.length, 0)
  })
})

test('restored explains itself, refuses options that contradict each other, and makes no store', async (t) => {
  const place = await makeStorePlace('sqlite')
  t.after(() => place.remove())
  const run = (...args: string[]) =>
    runCommand(['restored', ...args], { env: { DATA_DIR: place.dataDir }, cwd: place.dataDir })
  const help = await run('--help')
  assert.equal(help.code, 0)
  assert.match(help.stdout, /--hold[\s\S]*--release[\s\S]*--withdraw-waiting[\s\S]*--data <dir>/)
  for (const [args, problem] of [
    [['--hold', '--release'], /'--release' cannot be used with option '--hold'/],
    [['--withdraw-waiting'], /--withdraw-waiting goes with --release/],
    [[], /there is no store/],
    [['--hold'], /there is no store/],
  ] as const) {
    const { code, stderr } = await run(...args)
    assert.deepEqual([code, problem.test(stderr)], [1, true], stderr)
  }
  assert.deepEqual(await readdir(place.dataDir), [])
})
