import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { startCommand } from './harness/command.ts'
import { writeAs } from './harness/crowd.ts'
import { makeMigratedPlace, type StorePlace } from './harness/databases.ts'
import { type SentStatement, StatementLog } from './harness/statement-log.ts'
import { until } from './harness/until.ts'
import { ids, numbers, testWorld, tokens } from './harness/world.ts'

/**
 * What requests cost on PostgreSQL: every statement that one sends, in order. Node and the database pay for each, so a new one
 * needs a reason; if it has one, it comes in here.
 */
const read = ['look up token and node', 'look up phone_numbers']
const begin = ['BEGIN', 'SET LOCAL lock_timeout = 120000']
/** What may share a transaction with others waits for a lock only briefly, because they wait with it. */
const beginGroup = ['BEGIN', 'SET LOCAL lock_timeout = 250']
const write = ['look up token and node', ...beginGroup, 'insert business_profiles', 'insert activities', 'COMMIT']
/** A text to a user whose chat is known. */
const send = [
  ...beginGroup,
  'find sender and user',
  'lock chats',
  'insert messages',
  'insert message_contents',
  'update chats',
  'raise events',
  'insert stream_events',
  'insert activities',
  'COMMIT',
]

/** An event that is handed in by a token that was looked up a moment ago; the workers hear of it by a notice. */
const event = [
  ...begin,
  'store messages',
  // It stores nothing unless somebody listens to the stream.
  'insert stream_events',
  'raise events',
  'look up token',
  'COMMIT',
]

/** The same when something is not as usual: the store is asked first. */
const askingEvent = [
  'look up token',
  ...begin,
  'find what posts name',
  'look up writers',
  'insert received_messages',
  'insert messages',
  'insert message_contents',
  'insert chats',
  'insert stream_events',
  'raise events',
  'look up token',
  'COMMIT',
]

/** Where to note what has to be ended: a test, or a suite whose tests share a server. */
interface Scope {
  after(end: () => Promise<void> | void): void
}

async function startLogged(scope: Scope, role: string) {
  const place = await makeMigratedPlace('postgres')
  scope.after(() => place.remove())
  return startLoggedAt(scope, place, role)
}

async function startLoggedAt(scope: Scope, place: StorePlace, role: string, given: object = testWorld()) {
  const log = await new StatementLog(place.databaseUrl as string).start()
  const world = join(place.dataDir, 'world.json')
  await writeFile(world, JSON.stringify(given))
  const server = await startCommand(['serve', '--port', '0', '--role', role, '--world', world], {
    cwd: place.dataDir,
    env: {
      DATA_DIR: place.dataDir,
      DATABASE_URL: log.url,
      RATE_LIMIT_PLATFORM: '1000000/1h',
      LOG_LEVEL: 'warn',
      SANDBOX: 'off',
      // A post that a subscriber keeps waiting stays under way, however busy the machine is.
      WEBHOOK_TIMEOUT: '2m',
    },
  })
  scope.after(async () => {
    await server.stop('SIGKILL')
    await log.end()
  })
  await until(() => log.has(isHeartbeat), 'it has started: what it sends by itself from now on is known')
  const authorization = `Bearer ${tokens.owner}`
  const call = async (path: string, init: RequestInit = {}) => {
    const url = `${server.url}/v23.0/${numbers.main}${path}`
    const response = await fetch(url, { ...init, headers: { authorization, 'content-type': 'application/json' } })
    assert.equal(response.status, 200, await response.text())
  }
  return {
    server,
    log,
    readNumber: () => call(''),
    sendText: (to: string) =>
      call('/messages', {
        method: 'POST',
        body: JSON.stringify({ messaging_product: 'msgapp', to, type: 'text', text: { body: 'Hello' } }),
      }),
    writeProfile: (about: string) =>
      call('/msgapp_business_profile', {
        method: 'POST',
        body: JSON.stringify({ messaging_product: 'msgapp', about }),
      }),
  }
}

function nameOf({ text: sent }: SentStatement): string {
  const text = sent.trim().replace(/^WITH required AS \(/, '')
  if (text.startsWith("SELECT 'account'")) return 'find what posts name'
  if (text.startsWith('SELECT o.key AS key, users.name')) return 'look up writers'
  if (text.startsWith('SELECT numbers.id')) return 'find sender and user'
  if (text.startsWith('WITH given')) return text.includes('INTO received_messages') ? 'store messages' : 'raise events'
  if (!text.startsWith('select')) return nameWrite(text)
  if (/from "tokens"/.test(text)) return text.includes('join "nodes"') ? 'look up token and node' : 'look up token'
  if (/from "nodes"/.test(text)) return 'look up node'
  const [, table] = /from "(\w+)"/.exec(text) ?? []
  if (table === undefined) return text
  if (/ for (no key )?update/.test(text)) return `lock ${table}`
  return text.includes(' join ') ? `read ${table}` : `look up ${table}`
}

function nameWrite(text: string): string {
  const [, verb, table] = /^(insert into|update|delete from) "?(\w+)/i.exec(text) ?? []
  return table === undefined ? text : `${verb?.split(' ')[0]?.toLowerCase()} ${table}`
}

const isNotice = ({ text }: SentStatement) => /notify/i.test(text)

/** What a new connection begins with, whenever the process opens one. */
const isBeginning = ({ text }: SentStatement) => /^(SET (?!LOCAL)|LISTEN )/.test(text.trim())

/** The heartbeat of the process, which is one round trip. */
const isHeartbeat = ({ text }: SentStatement) => text.includes('"processes"')

/** Each process asks every two seconds whether sending is held. */
const isPollOfHold = ({ text }: SentStatement) => text.includes('"sending_hold"')

/** What requests sent since the last call. */
function takeOfRequests(log: StatementLog): SentStatement[] {
  const roundTripOf = ({ connection, roundTrip }: SentStatement) => `${connection} ${roundTrip}`
  const sent = log.take()
  const heartbeats = new Set(sent.filter(isHeartbeat).map(roundTripOf))
  const isAside = (statement: SentStatement) =>
    [isNotice, isBeginning, isPollOfHold].some((is) => is(statement)) || heartbeats.has(roundTripOf(statement))
  return sent.filter((statement) => !isAside(statement))
}

describe('a process that serves requests', () => {
  let logged: Awaited<ReturnType<typeof startLogged>>
  const endings: Parameters<Scope['after']>[0][] = []
  before(async () => {
    logged = await startLogged({ after: (end) => endings.push(end) }, 'api')
  })
  after(async () => {
    for (const end of endings.reverse()) await end()
  })

  test('a read sends two statements, each prepared, and none of them waits for another request', async () => {
    const { log, readNumber } = logged
    await readNumber()
    log.take()
    for (let i = 0; i < 3; i++) {
      await readNumber()
      const sent = takeOfRequests(log)
      assert.deepEqual(sent.map(nameOf), read)
      assert.ok(sent.every(({ isNamed }) => isNamed))
      assert.equal(new Set(sent.map(({ connection }) => connection)).size, 1, 'on the connection that look-ups share')
    }
  })

  test('a write sends six statements, its transaction takes one round trip, and those sent at the same time share transactions', async () => {
    const { log, writeProfile } = logged
    await writeProfile('warm')
    log.take()
    for (let i = 0; i < 3; i++) {
      await writeProfile(`text ${i}`)
      const sent = takeOfRequests(log)
      assert.deepEqual(sent.map(nameOf), write)
      const transaction = sent.slice(1)
      assert.equal(new Set(transaction.map(({ connection }) => connection)).size, 1)
      assert.equal(new Set(transaction.map(({ roundTrip }) => roundTrip)).size, 1)
      assert.ok(
        transaction.every(({ isNamed }) => isNamed),
        'what the query builder would make anew costs thrice as much',
      )
    }
    const writes = 40
    await Promise.all(Array.from({ length: writes }, (_, i) => writeProfile(`text ${i}`)))
    const inserts = log.take().filter((statement) => nameOf(statement) === 'insert business_profiles')
    assert.equal(inserts.length, writes)
    const transactions = new Set(inserts.map(({ connection, roundTrip }) => `${connection} ${roundTrip}`))
    assert.ok(transactions.size <= writes / 4, `${transactions.size} transactions for ${writes} writes`)
  })

  test('a text to a user takes eleven statements in three round trips, and texts of one moment share them', async () => {
    const { log, server, sendText } = logged
    const users = Array.from({ length: 40 }, (_, i) => `165055540${String(i).padStart(2, '0')}`)
    for (const user of users) assert.equal(await writeAs(server, user, `to be written to ${user}`), 200)
    await sendText(users[0] as string)
    log.take()
    await sendText(users[0] as string)
    const sent = takeOfRequests(log)
    assert.equal(nameOf(sent[0] as SentStatement), 'look up token and node')
    // Permits of a limit may be taken from the store before.
    const transaction = sent.slice(-send.length)
    assert.deepEqual(transaction.map(nameOf), send)
    assert.equal(new Set(transaction.map(({ roundTrip }) => roundTrip)).size, 3)
    assert.ok(transaction.every(({ isNamed }) => isNamed))
    await Promise.all(users.map(sendText))
    const names = takeOfRequests(log).map(nameOf)
    for (const name of ['lock chats', 'insert messages', 'raise events', 'COMMIT']) {
      const times = names.filter((one) => one === name).length
      assert.ok(times <= users.length / 4, `${times} times "${name}" for ${users.length} texts`)
    }
  })

  test('an event of a message takes seven statements in one round trip, and a busy token one look-up a second', async () => {
    const { log, server } = logged
    assert.equal(await writeAs(server, '16505551234', 'warm'), 200)
    log.take()
    const started = performance.now()
    let lookUps = 0
    for (let i = 0; i < 10; i++) {
      assert.equal(await writeAs(server, '16505551234', `event ${i}`), 200)
      const sent = takeOfRequests(log)
      const transaction = sent.slice(-event.length)
      lookUps += sent.length - transaction.length
      assert.deepEqual(transaction.map(nameOf), event)
      assert.equal(new Set(transaction.map(({ roundTrip }) => roundTrip)).size, 1)
      assert.ok(transaction.every(({ isNamed }) => isNamed))
    }
    assert.ok(lookUps <= (performance.now() - started) / 1000 + 1, `${lookUps} look-ups for 10 events`)
  })

  test('64 events of one moment share their statements', async (t) => {
    const { log, server } = logged
    const writeMany = (round: number) =>
      Promise.all(Array.from({ length: 64 }, (_, i) => writeAs(server, `1650555${1000 + i}`, `event ${round} ${i}`)))
    await writeMany(0)
    log.take()
    const rounds = 5
    for (let round = 1; round <= rounds; round++) {
      assert.deepEqual(new Set(await writeMany(round)), new Set([200]))
    }
    const sent = takeOfRequests(log)
    const commits = sent.filter((statement) => nameOf(statement) === 'raise events').length
    const events = 64 * rounds
    const seen = `${sent.length} statements and ${commits} commits for ${events} events`
    t.diagnostic(seen)
    // One by one it would be seven statements each. How many come at one moment is up to the machine.
    assert.ok(commits <= events / 4, seen)
    assert.ok(sent.length <= 2 * events, seen)
  })
})

test('writes that make nothing due are followed by no polls', async (t) => {
  const { log, writeProfile } = await startLogged(t, 'all')
  await writeProfile('warm')
  log.take()
  const started = performance.now()
  const writes = 60
  for (let i = 0; i < writes; i++) await writeProfile(`text ${i}`)
  // Each of the workers polls by itself once a second.
  const polls = (2 * (performance.now() - started)) / 1000 + 2
  const sent = log.take().filter(({ text }) => /"(timers|lanes|deliveries)"/.test(text))
  assert.ok(sent.length <= 2 * polls, `${sent.length} polls beside ${writes} writes, ${polls} expected`)
})

test('an event for a number that a process does not know yet takes thirteen, in five round trips', async (t) => {
  const { log, server } = await startLogged(t, 'api')
  log.take()
  assert.equal(await writeAs(server, '16505551234', 'first'), 200)
  const sent = takeOfRequests(log)
  assert.deepEqual(
    sent.map(nameOf).filter((name) => name !== 'insert users'),
    askingEvent,
  )
  assert.equal(new Set(sent.slice(1).map(({ roundTrip }) => roundTrip)).size, 5)
})

/** A subscriber that keeps the first post waiting, so that whoever sends it holds the lane. */
async function startHoldingSink(scope: Scope) {
  const bodies: string[] = []
  const held: ServerResponse[] = []
  const sink = createServer(async (request, response) => {
    const body = await text(request)
    bodies.push(body)
    if (bodies.length === 1) held.push(response)
    else response.end()
  })
  sink.listen(0, '127.0.0.1')
  await once(sink, 'listening')
  scope.after(() => {
    for (const response of held) response.end()
    sink.closeAllConnections()
    sink.close()
  })
  const { port } = sink.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, has: (id: string) => bodies.some((body) => body.includes(id)) }
}

test('the holder of a lane sends what it raises without reading it; others wake it, and do not try to claim the lane', async (t) => {
  const place = await makeMigratedPlace('postgres')
  t.after(() => place.remove())
  const sink = await startHoldingSink(t)
  const world = testWorld()
  const webhook = { callback_url: sink.url, verify_token: 'vt', fields: ['messages'] }
  const apps = world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app))
  const holder = await startLoggedAt(t, place, 'all', { ...world, apps })
  assert.equal(await writeAs(holder.server, '16505551000', 'wamid.held'), 200)
  await until(() => sink.has('wamid.held'), 'the first process holds the lane')
  holder.log.take()
  const started = performance.now()
  const events = 60
  for (let i = 0; i < events; i++) {
    const id = `wamid.own.${i}`
    assert.equal(await writeAs(holder.server, `165055520${String(i).padStart(2, '0')}`, id), 200)
    await until(() => sink.has(`"${id}"`), 'it arrives')
  }
  // It reads once a second all the same, for what others may have stored.
  const polls = (performance.now() - started) / 1000 + 2
  const reads = holder.log.take().filter(({ text: sent }) => /AS known[^;]*FROM deliveries d/.test(sent)).length
  assert.ok(reads <= 2 * polls, `${reads} reads for ${events} events, ${polls} polls expected`)

  const other = await startLoggedAt(t, place, 'all', { ...world, apps })
  other.log.take()
  for (let i = 0; i < 5; i++) {
    assert.equal(await writeAs(other.server, `1650555200${i}`, `wamid.other.${i}`), 200)
    await until(() => sink.has(`wamid.other.${i}`), 'the first process delivers what the second took')
  }
  const sent = other.log.take().map(({ text: sentText }) => sentText.trim())
  assert.ok(sent.some((statement) => /pg_notify/.test(statement)))
  assert.deepEqual(
    sent.filter((statement) => /^UPDATE lanes SET leased_until|^SELECT lanes.id/.test(statement)),
    [],
  )
})
