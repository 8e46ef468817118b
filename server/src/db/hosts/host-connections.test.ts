import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { makeStorePlace, type StorePlace } from '../../../test/harness/databases.ts'
import { PostgresProxy } from '../../../test/harness/postgres-proxy.ts'
import { until } from '../../../test/harness/until.ts'
import { DatabaseUnavailable } from '../database.ts'
import { openPostgres } from '../postgres/postgres.ts'
import { defineSql } from '../statement.ts'

const readOnlyCode = '25006'

const write = sql<{ name: string }>`SELECT current_database() AS name, nextval('writes')`
const showName = defineSql<object>()(() => sql<{ name: string }>`SELECT current_database() AS name`)
const setNext = defineSql<object>()(() => sql<object>`SELECT nextval('writes')`)
const makeReadOnly = sql`SET default_transaction_read_only = on`

/** Two databases stand for two hosts with one database each: what is read-only takes no writes, as a standby. */
describe('several hosts', () => {
  const hosts: { readonly place: StorePlace; readonly proxy: PostgresProxy; readonly database: string }[] = []
  let admin: pg.Client
  let url: string
  before(async () => {
    for (const place of [await makeStorePlace('postgres'), await makeStorePlace('postgres')]) {
      const own = place.databaseUrl as string
      const database = new URL(own).pathname.slice(1)
      const proxy = await new PostgresProxy(own, hosts[0]?.database ?? database).start()
      hosts.push({ place, proxy, database })
      const client = new pg.Client({ connectionString: own })
      await client.connect()
      await client.query('CREATE SEQUENCE writes')
      await client.end()
    }
    const { username, password, pathname } = new URL(hosts[0]?.proxy.url ?? '')
    url = `postgres://${username}:${password}@${[addressOf(0), addressOf(1)]}${pathname}`
    const server = new URL(hosts[0]?.place.databaseUrl ?? '')
    server.pathname = '/postgres'
    admin = new pg.Client({ connectionString: server.href })
    await admin.connect()
  })
  beforeEach(async () => {
    await setReadOnly(0, true)
    await setReadOnly(1, false)
  })
  after(async () => {
    await admin.end()
    for (const { place, proxy } of hosts) {
      await proxy.end()
      await place.remove()
    }
  })

  const nameOf = (host: number) => hosts[host]?.database ?? assert.fail()
  const addressOf = (host: number) => new URL(hosts[host]?.proxy.url ?? '').host
  const setReadOnly = (host: number, isReadOnly: boolean) =>
    admin.query(`ALTER DATABASE ${nameOf(host)} SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
  const breakConnections = (host: number) =>
    admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [nameOf(host)])

  async function open(t: TestContext, { where = url, maxConnections = 5, isPooled = false } = {}) {
    const moves: string[] = []
    const reports = { onIdleError: () => undefined, onFault: assert.ifError }
    const onMoved = (host: string) => moves.push(host)
    const limits = { maxConnections, timeout: 5000, lockTimeout: 1000, isPooled }
    const database = await openPostgres({ url: where, ...limits, ...reports, onMoved })
    t.after(() => database.close())
    const writeOnce = () => database.transaction(async (tx) => (await write.execute(tx.query)).rows[0]?.name)
    return { database, moves, write: writeOnce }
  }

  for (const isPooled of [false, true]) {
    test(`of several hosts every connection goes to the one that takes writes${isPooled ? ', behind a pooler' : ''}`, async (t) => {
      const { database, write } = await open(t, { isPooled })
      const names = [
        await write(),
        (await database.read.first(showName, {}))?.name,
        (await database.read.list(showName, {}))[0]?.name,
        (await database.execute(showName, {}))[0]?.name,
      ]
      await database.migrate({ lockTimeout: 1000, pause: 0 }, async ({ live }) => {
        await live?.buildIndex('none', 'CREATE SEQUENCE IF NOT EXISTS writes')
        names.push(await write())
      })
      assert.deepEqual(names, Array(5).fill(nameOf(1)))
      const listening = database.notifications?.listen(
        'channel',
        () => undefined,
        () => undefined,
      )
      if (!isPooled) await until(() => listening?.isLive === true, 'it listens')
      await listening?.close()
    })
  }

  test('when another one of several hosts takes the writes, all connections go there, also those for reads', async (t) => {
    const { database, moves, write } = await open(t)
    assert.equal(await write(), nameOf(1))
    await setReadOnly(0, false)
    await setReadOnly(1, true)
    await breakConnections(1)
    const began = performance.now()
    await until(async () => (await write().catch(() => undefined)) === nameOf(0), 'the other host is written to')
    t.diagnostic(`after ${Math.round(performance.now() - began)} ms`)
    assert.equal((await database.read.first(showName, {}))?.name, nameOf(0))
    assert.deepEqual(moves, [addressOf(0)])
  })

  test('of several hosts one that silently takes no writes any more is left, also by what is under way there', async (t) => {
    const { database, moves, write: writeOnce } = await open(t, { maxConnections: 10 })
    const [began, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const held = database.transaction(async (tx) => {
      await write.execute(tx.query)
      began.resolve()
      await released.promise
      await write.execute(tx.query)
    })
    const left = assert.rejects(held, (error) => database.outageOf(error) === 'unreachable')
    await began.promise
    try {
      await setReadOnly(0, false)
      await setReadOnly(1, true)
      // The connection in use notices nothing; the next one is a new one.
      await assert.rejects(database.read.list(showName, {}), (error) => database.outageOf(error) === 'unwritable')
      assert.equal(await writeOnce(), nameOf(0))
      assert.deepEqual(moves, [addressOf(0)])
    } finally {
      released.resolve()
    }
    await left
  })

  for (const [what, choose] of [
    ['of several hosts', () => url],
    ['of a single host', () => hosts[1]?.proxy.url ?? ''],
  ] as const) {
    test(`a connection ${what} whose writes are refused is replaced`, async (t) => {
      const where = choose().replace(/[^/]*$/, nameOf(0))
      const { database, write } = await open(t, { where, maxConnections: 2 })
      for (const isAlone of [true, false]) {
        await database.transaction((tx) => makeReadOnly.execute(tx.query))
        const refused = isAlone ? database.transaction(async (tx) => tx.run(setNext, {})) : write()
        await assert.rejects(refused, { code: readOnlyCode })
        assert.equal(await write(), nameOf(1))
      }
    })
  }

  test('of several hosts one that is silent costs a moment, once', async (t) => {
    const proxy = hosts[0]?.proxy
    proxy?.goSilent()
    t.after(() => proxy?.speak())
    const began = performance.now()
    const { write } = await open(t)
    assert.equal(await write(), nameOf(1))
    assert.ok(performance.now() - began < 2500)
  })

  test('several hosts none of which takes writes, and one of which that is asked for, are refused in one line', async () => {
    await setReadOnly(1, true)
    const refuse = async (where: string, reason: RegExp) => {
      const opened = openPostgres({
        url: where,
        maxConnections: 5,
        timeout: 5000,
        lockTimeout: 1000,
        isPooled: false,
        onIdleError: () => undefined,
        onFault: assert.ifError,
        onMoved: assert.fail,
      })
      await assert.rejects(opened, (error) => error instanceof DatabaseUnavailable && reason.test(error.message))
    }
    const each = [0, 1].map((host) => `${addressOf(host)}: it is a standby, or read-only`).join('; ')
    await refuse(url, new RegExp(`^no host of DATABASE_URL takes writes: ${each}; [^\n]+$`))
    const single = `${hosts[1]?.proxy.url.replace(/[^/]*$/, nameOf(0))}?target_session_attrs=read-write`
    await refuse(single, /^the database of DATABASE_URL takes no writes: it is a standby[^\n]+$/)
  })
})
