import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { onOneDatabase } from '../../test/harness/databases.ts'
import { openStream } from '../../test/harness/event-stream.ts'
import { type TestServer, useTestServer } from '../../test/harness/server.ts'
import { refuseWith, subscribe } from '../../test/harness/subscriber.ts'
import { until } from '../../test/harness/until.ts'
import { handInText } from '../../test/harness/webhooks.ts'
import { ids, tokens } from '../../test/harness/world.ts'
import { minute, second } from '../base/time/duration.ts'
import { packageVersion } from '../version.ts'

/** The value of a series; undefined where there is none. */
async function read(server: TestServer, series: string): Promise<number | undefined> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

onOneDatabase('metrics of a process', 'postgres', (engine) => {
  const server = useTestServer({ engine })

  test('what runs, and how many connections it has', async () => {
    const database = engine === 'sqlite' ? 'sqlite' : 'postgresql'
    const labels = `version="${packageVersion()}",node="${process.versions.node}",role="all",database="${database}"`
    assert.equal(await read(server, `switchboard_build_info{${labels}}`), 1)
    if (engine === 'sqlite') return
    // Two of ten are for look-ups and operators.
    assert.equal(await read(server, 'switchboard_database_connections_max'), 8)
    assert.equal(await read(server, 'switchboard_database_connection_waiters'), 0)
    const inUse = () => read(server, 'switchboard_database_connections{state="in_use"}')
    const { promise: isRead, resolve: release } = Promise.withResolvers<void>()
    // Workers of the server take a connection now and then: at rest there are as many as the test holds.
    await until(async () => (await inUse()) === 0, 'no connection is in use')
    const held = server.database.snapshot(async (db) => {
      await db.query.selectFrom('apps').select('id').execute()
      await isRead
    })
    await until(async () => (await inUse()) === 1, 'a connection is in use')
    release()
    await held
    await until(async () => (await inUse()) === 0, 'the connection is idle again')
  })

  test('deliveries that wait, the time of their posts, and the time from event to delivery', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(503))
    for (const id of ['wamid.1', 'wamid.2']) await handInText(server, id)
    await server.app.settle()
    assert.equal(await read(server, 'switchboard_deliveries_waiting'), 2)
    const ended = (outcome: string) =>
      read(server, `switchboard_delivery_attempt_duration_seconds_count{outcome="${outcome}"}`)
    const refused = await ended('refused')
    assert.ok(Number(refused) > 0)
    assert.deepEqual([await ended('accepted'), await ended('unanswered')], [0, 0])
    assert.equal(await read(server, 'switchboard_delivery_latency_seconds_count'), 0)
    subscriber.answerWith(refuseWith(200))
    server.clock.advance(20 * minute)
    await server.app.settle()
    assert.equal(await read(server, 'switchboard_deliveries_waiting'), 0)
    assert.deepEqual([await ended('accepted'), await ended('refused')], [2, refused])
    assert.equal(await read(server, 'switchboard_delivery_latency_seconds_bucket{le="300"}'), 0)
    assert.equal(await read(server, 'switchboard_delivery_latency_seconds_bucket{le="1800"}'), 2)
  })

  test('how late a timer is', async () => {
    assert.equal(await read(server, 'switchboard_timer_lateness_seconds'), 0)
    const now = server.clock.now()
    const timer = { id: 'late', kind: 'ring', payload: {}, attempts: 0, secret: null }
    // Another process is at it.
    const times = { due_time: now - 90 * second, leased_until: now + 20 * second, set_time: now - minute }
    await server.database.transaction(({ query }) =>
      query
        .insertInto('timers')
        .values({ ...timer, ...times })
        .execute(),
    )
    assert.equal(await read(server, 'switchboard_timer_lateness_seconds'), 90)
  })
})

describe('metrics of a process whose database has a locked table', () => {
  const server = useTestServer({ engine: 'postgres' })

  test('one connection at most waits for a locked table of timers, however often metrics are read', async (t) => {
    const { promise: isRead, resolve: release } = Promise.withResolvers<void>()
    const { promise: isLocked, resolve: noteLocked } = Promise.withResolvers<void>()
    const locked = server.database.transaction(async ({ query }) => {
      await sql`LOCK TABLE timers IN ACCESS EXCLUSIVE MODE`.execute(query)
      noteLocked()
      await isRead
    })
    t.after(async () => {
      release()
      await locked
    })
    await isLocked
    for (let scrape = 0; scrape < 2; scrape++) {
      assert.equal(await read(server, 'switchboard_timer_lateness_seconds'), undefined)
    }
    const waiting = sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'select "due_time" from "timers" order by%'
      AND wait_event_type = 'Lock'`
    assert.equal((await waiting.execute(server.database.read.query)).rows.length, 1)
  })
})

describe('metrics of limits and streams', () => {
  const env = { RATE_LIMITS: 'on', RATE_LIMIT_STRANGERS: '2/1m', RATE_LIMIT_PLATFORM: '1/1h' }
  const server = useTestServer({ engine: 'sqlite', env })

  test('refusals are counted by the limit that was reached', async () => {
    const refusals = (limit: string) => read(server, `switchboard_rate_limit_refusals_total{limit="${limit}"}`)
    const limits = ['platform', 'strangers', 'messages', 'message_pair', 'open_doors', 'failures']
    for (const limit of limits) assert.equal(await refusals(limit), 0, limit)
    for (let count = 0; count < 4; count++) await server.client.get(`/v23.0/${ids.account}`, { token: tokens.owner })
    for (let count = 0; count < 4; count++) await fetch(`${server.url}/v23.0/${ids.account}`)
    assert.deepEqual(await Promise.all(limits.map(refusals)), [3, 2, 0, 0, 0, 0])
  })

  test('streams are counted by door while they are open', async (t) => {
    const open = (door: string) => read(server, `switchboard_streams_open{door="${door}"}`)
    assert.deepEqual([await open('operator'), await open('gateway')], [0, 0])
    const stream = await openStream(t, server.url, { token: tokens.operator, path: '/operator/stream' })
    assert.deepEqual([await open('operator'), await open('gateway')], [1, 0])
    stream.close()
    await until(async () => (await open('operator')) === 0, 'the stream is closed')
  })
})
