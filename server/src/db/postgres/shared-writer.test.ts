import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import pg from 'pg'
import { makeStorePlace, type StorePlace } from '../../../test/harness/databases.ts'
import { endPool } from '../../../test/harness/postgres.ts'
import { until } from '../../../test/harness/until.ts'
import type { StatementResult } from './batch.ts'
import { SharedWriter } from './shared-writer.ts'

/** The timeout of the driver and of the writer, in milliseconds; tests reach it by moving the timers. */
const timeout = 600_000
const uniqueViolation = { code: '23505' }
const backend = { name: 'backend', text: 'SELECT pg_backend_pid() AS pid' }
const insert = (id: number) => ({ name: 'insert', text: 'INSERT INTO written (id) VALUES ($1)', values: [id] })
const update = (id: number) => ({
  name: 'update',
  text: 'UPDATE written SET id = id WHERE id = $1 RETURNING pg_backend_pid() AS pid',
  values: [id],
})

describe('transactions of one batch that share connections', () => {
  let place: StorePlace
  let pool: pg.Pool
  let writer: SharedWriter
  /** Of a clock that the tests move. */
  let time = 0
  before(async () => {
    place = await makeStorePlace('postgres')
    const connectionString = place.databaseUrl as string
    pool = new pg.Pool({ connectionString, pipeline: true, max: 6, query_timeout: timeout })
    pool.on('connect', (client) => client.on('error', () => undefined))
    await pool.query('CREATE TABLE written (id INTEGER PRIMARY KEY)')
  })
  beforeEach(() => {
    writer = new SharedWriter({
      connect: () => pool.connect(),
      timeout,
      isBroken: (error) => error.message.startsWith('Connection terminated'),
      now: () => time,
    })
  })
  after(async () => {
    await endPool(pool)
    await place.remove()
  })

  function send(fairnessKey: string, ...queries: pg.QueryConfig[]): Promise<readonly StatementResult[]> {
    return new Promise((resolve, reject) => {
      writer.send(fairnessKey, queries, (failure, results) => (failure ? reject(failure.error) : resolve(results)))
    })
  }

  const backendOf = async (fairnessKey: string) => (await send(fairnessKey, backend))[0]?.rows[0]?.['pid'] as number
  const backendsOf = async (fairnessKeys: readonly string[]) => Promise.all(fairnessKeys.map(backendOf))
  const count = async () => Number((await pool.query('SELECT COUNT(*) AS n FROM written')).rows[0].n)

  test('transactions of one batch, sent at the same time, take one connection, four at a time', async () => {
    await backendOf('app')
    const backends = await backendsOf(Array.from({ length: 8 }, () => 'app'))
    const byBackend = Map.groupBy(backends, (pid) => pid)
    assert.deepEqual(
      [...byBackend.values()].map((pids) => pids.length),
      [4, 4],
    )
  })

  test('transactions of one batch with different fairness keys take different connections', async () => {
    await backendOf('one')
    const [one, other] = await backendsOf(['one', 'other'])
    assert.notEqual(one, other)
  })

  test('transactions of one batch take a connection each where even one alone takes long', async () => {
    const first = send('app', backend)
    // The writer looks at the clock when it sends, which is in the next turn.
    setImmediate(() => {
      time += 10
    })
    await first
    const backends = await backendsOf(['app', 'app', 'app'])
    assert.equal(new Set(backends).size, 3)
  })

  test('one that fails leaves the others as they are, and nothing of itself', async () => {
    await send('app', insert(1))
    const outcomes = await Promise.allSettled([
      send('app', insert(2)),
      send('app', insert(3), insert(1)),
      send('app', insert(4)),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    await assert.rejects(send('app', insert(1)), uniqueViolation)
    assert.equal(await count(), 3)
  })

  test('one that fails before a statement that others have too, and that is new to the connection, fails alone', async () => {
    await send('app', insert(20))
    const touch = (id: number) => ({ name: 'touch', text: 'UPDATE written SET id = id WHERE id = $1', values: [id] })
    const outcomes = await Promise.allSettled([
      send('app', insert(20), touch(20)),
      send('app', touch(20)),
      send('app', touch(20), insert(21), touch(21)),
    ])
    assert.deepEqual(
      outcomes.map((one) => (one.status === 'rejected' ? one.reason.code : one.value.map(({ rowCount }) => rowCount))),
      [uniqueViolation.code, [1], [1, 1, 1]],
    )
    const prepared = { text: "SELECT 1 FROM pg_prepared_statements WHERE name = 'touch'" }
    const after = await send('app', touch(20), prepared)
    assert.deepEqual(
      after.map(({ rowCount }) => rowCount),
      [1, 1],
    )
  })

  test('one that waits for a lock holds up neither those of other fairness keys nor, after a while, those of its own', async () => {
    await send('app', insert(10), insert(11))
    const holder = await pool.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT id FROM written WHERE id = 10 FOR UPDATE')
    const locked = send('app', update(10))
    const isWaiting = async () => {
      const { rows } = await pool.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
      return rows.length > 0
    }
    await until(isWaiting, 'it waits')
    assert.equal((await send('other', update(11)))[0]?.rowCount, 1)
    time += 1000
    assert.equal((await send('app', update(11)))[0]?.rowCount, 1)
    await holder.query('COMMIT')
    holder.release()
    assert.equal((await locked)[0]?.rowCount, 1)
  })

  describe('behind one that waits for a lock', () => {
    let holder: pg.PoolClient
    const waiting = { text: "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'" }
    /** Without the timers of this process, which these tests move. */
    const whenWaiting = async () => {
      while ((await holder.query(waiting)).rowCount === 0);
    }
    before(async () => {
      await send('app', insert(30), insert(31))
      holder = await pool.connect()
    })
    after(() => holder.release())

    test('a transaction has all its time from when its turn comes', async (t) => {
      await backendOf('app')
      t.mock.timers.enable({ apis: ['setTimeout'] })
      await holder.query('BEGIN')
      await holder.query('SELECT id FROM written WHERE id IN (30, 31) FOR UPDATE')
      const first = send('app', update(30))
      const second = send('app', update(31))
      await whenWaiting()
      t.mock.timers.tick(timeout - 1000)
      // The lock of the first one goes, and that of the second stays.
      await holder.query('COMMIT; BEGIN; SELECT id FROM written WHERE id = 31 FOR UPDATE')
      const [{ pid } = {}] = (await first)[0]?.rows ?? []
      t.mock.timers.tick(timeout - 1000)
      await holder.query('COMMIT')
      assert.deepEqual((await second)[0]?.rows, [{ pid }], 'on the same connection')
    })

    test('a transaction that takes too long ends its connection', async (t) => {
      await backendOf('app')
      t.mock.timers.enable({ apis: ['setTimeout'] })
      await holder.query('BEGIN')
      await holder.query('SELECT id FROM written WHERE id = 31 FOR UPDATE')
      const first = send('app', update(30))
      const second = send('app', update(31))
      await first
      await whenWaiting()
      t.mock.timers.tick(timeout)
      await assert.rejects(second, /^Error: Connection terminated/)
      await holder.query('COMMIT')
    })
  })

  test('what was under way on a connection that is lost fails, and what comes next gets another', async () => {
    await backendOf('app')
    const ends = Promise.allSettled([send('app', { text: 'SELECT pg_sleep(60)' }), send('app', backend)])
    let lost: unknown
    await until(async () => {
      const { rows } = await pool.query(
        "SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(60)' AND pg_terminate_backend(pid)",
      )
      lost = rows[0]?.pid
      return lost !== undefined
    }, 'its process has ended')
    assert.deepEqual(
      (await ends).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.notEqual(await backendOf('app'), lost)
  })
})
