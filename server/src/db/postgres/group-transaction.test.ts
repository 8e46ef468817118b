import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { useTestDatabase } from '../../../test/harness/databases.ts'
import { until } from '../../../test/harness/until.ts'
import type { Transaction } from '../database.ts'
import { defineSql } from '../statement.ts'
import { defineTogether, insertTogether, splitBy } from '../together.ts'

interface Window {
  readonly key: string
  readonly taken: number
  readonly end_time: number
}

const insertWindow = defineTogether(
  defineSql<Window>()(
    ({ key, taken, end_time }) =>
      sql`INSERT INTO rate_windows (key, taken, end_time) VALUES (${key}, ${taken}, ${end_time})`,
  ),
  insertTogether('rate_windows', ['key', 'taken', 'end_time']),
)
const lockWindow = defineTogether(
  defineSql<{ key: string }>()(({ key }) => sql<Window>`SELECT * FROM rate_windows WHERE key = ${key} FOR UPDATE`),
  {
    statement: defineSql<{ keys: readonly string[] }>()(
      ({ keys }) => sql<Window>`SELECT * FROM rate_windows
        WHERE key = ANY(ARRAY(SELECT json_array_elements_text(${keys}))) ORDER BY key COLLATE "C" FOR UPDATE`,
    ),
    join: (all) => ({ keys: all.map(({ key }) => key) }),
    split: splitBy('key'),
  },
)
const updateWindow = defineSql<Pick<Window, 'key' | 'taken'>>()(
  ({ key, taken }) => sql`UPDATE rate_windows SET taken = ${taken} WHERE key = ${key}`,
)
/** Which transaction it is. */
const findTransaction = defineSql<object>()(() => sql<{ id: string }>`SELECT pg_current_xact_id()::text AS id`)

describe('transactions of one moment (postgres)', () => {
  const held = useTestDatabase('postgres')
  const keys = Array.from({ length: 12 }, (_, index) => `window ${index}`)
  before(() =>
    held.database.transaction(async (tx) => {
      for (const key of keys) tx.run(insertWindow, { key, taken: 0, end_time: 1 })
    }),
  )

  /** Takes one more of a window, and says in which transaction. */
  async function take(tx: Transaction, key: string): Promise<string | undefined> {
    const window = await tx.first(lockWindow, { key })
    tx.run(updateWindow, { key, taken: Number(window?.taken) + 1 })
    return (await tx.first(findTransaction, {}))?.id
  }

  const inGroup = <T>(holds: string, work: (tx: Transaction) => Promise<T>, fairnessKey = 'app') =>
    held.database.transaction(work, { holds, fairnessKey })

  async function listTaken(): Promise<number[]> {
    const rows = await held.database.read.query.selectFrom('rate_windows').selectAll().execute()
    const byKey = new Map(rows.map(({ key, taken }) => [key, taken]))
    return keys.map((key) => byKey.get(key) ?? -1)
  }

  /** By how much each window has grown. */
  async function measure(work: () => Promise<unknown>): Promise<number[]> {
    const before = await listTaken()
    await work()
    return (await listTaken()).map((taken, index) => taken - (before[index] as number))
  }

  test('transactions of one moment are one, each with its own rows; a key of fairness has its own', async () => {
    let ids: unknown[] = []
    const grown = await measure(async () => {
      ids = await Promise.all(keys.map((key, index) => inGroup(key, (tx) => take(tx, key), `app ${index % 2}`)))
    })
    assert.deepEqual(
      grown,
      keys.map(() => 1),
    )
    assert.equal(new Set(ids).size, 2)
  })

  test('transactions of one moment that hold the same come one after the other, and none is lost', async () => {
    const grown = await measure(() =>
      Promise.all(
        Array.from({ length: 90 }, (_, index) => inGroup('same', (tx) => take(tx, keys[index % 3] as string))),
      ),
    )
    assert.deepEqual(grown.slice(0, 4), [30, 30, 30, 0])
  })

  test('one of the transactions of one moment that refuses before it has written takes none of the others along', async () => {
    const refusal = new Error('refused')
    let refused = 0
    const work = async (tx: Transaction, key: string) => {
      const window = await tx.first(lockWindow, { key })
      if (key !== keys[4]) return take(tx, key)
      refused += 1
      throw window ? refusal : new Error('it got the row of another one')
    }
    let ends: PromiseSettledResult<unknown>[] = []
    const grown = await measure(async () => {
      ends = await Promise.allSettled(keys.map((key) => inGroup(key, (tx) => work(tx, key))))
    })
    assert.deepEqual(
      grown,
      keys.map((key) => (key === keys[4] ? 0 : 1)),
    )
    assert.equal(new Set(ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))).size, 1)
    assert.deepEqual(ends[4], { status: 'rejected', reason: refusal })
    assert.equal(refused, 1)
  })

  test('one of the transactions of one moment that fails after it has written leaves nothing, and each of the others is done', async () => {
    const fault = new Error('failed')
    const work = async (tx: Transaction, key: string) => {
      const id = await take(tx, key)
      if (key === keys[7]) throw fault
      return id
    }
    let ends: PromiseSettledResult<unknown>[] = []
    const grown = await measure(async () => {
      ends = await Promise.allSettled(keys.map((key) => inGroup(key, (tx) => work(tx, key))))
    })
    assert.deepEqual(
      grown,
      keys.map((key) => (key === keys[7] ? 0 : 1)),
    )
    assert.deepEqual(ends[7], { status: 'rejected', reason: fault })
  })

  test('a statement that fails for one of the transactions of one moment fails that one alone', async () => {
    const insert = (key: string) => inGroup(key, async (tx) => tx.run(insertWindow, { key, taken: 0, end_time: 1 }))
    const ends = await Promise.allSettled(['new 1', keys[0] as string, 'new 2'].map(insert))
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    const { query } = held.database.read
    const found = await query.selectFrom('rate_windows').select('key').where('key', 'like', 'new %').execute()
    assert.equal(found.length, 2)
  })

  test('a lock that one of the transactions of one moment waits for keeps the others for a moment only', async () => {
    const { promise: isFree, resolve: release } = Promise.withResolvers<void>()
    const { promise: isLocked, resolve: noteLocked } = Promise.withResolvers<void>()
    const holder = held.database.transaction(async (tx) => {
      await tx.first(lockWindow, { key: keys[2] as string })
      noteLocked()
      await isFree
    })
    await isLocked
    const all = keys.map((key) => inGroup(key, (tx) => take(tx, key)))
    await Promise.all(all.filter((_, index) => index !== 2))
    release()
    await holder
    assert.ok(await all[2])
  })

  test('rows that nobody awaits come to whoever asked for them, with the commit', async () => {
    const seen = new Map<string, unknown>()
    await Promise.all(
      keys.map((key) =>
        inGroup(key, async (tx) => {
          tx.defer?.(lockWindow, { key }, (rows) =>
            seen.set(
              key,
              rows.map((row) => row.key),
            ),
          )
          assert.ok(!seen.has(key))
        }),
      ),
    )
    assert.deepEqual(seen, new Map(keys.map((key) => [key, [key]])))
  })

  test('one of the transactions of one moment that has written by a query or with rows of its own fails with all of it', async () => {
    const fault = new Error('refused too late')
    const insertAndList = defineSql<Window>()(
      ({ key, taken, end_time }) =>
        sql`INSERT INTO rate_windows (key, taken, end_time) VALUES (${key}, ${taken}, ${end_time}) RETURNING key`,
    )
    const row = (key: string) => ({ key, taken: 0, end_time: 1 })
    const writes: Readonly<Record<string, (tx: Transaction, key: string) => unknown>> = {
      query: (tx, key) => tx.query.insertInto('rate_windows').values(row(key)).execute(),
      list: (tx, key) => tx.list(insertAndList, row(key)),
      defer: (tx, key) => tx.defer?.(insertAndList, row(key), () => undefined),
    }
    for (const [name, write] of Object.entries(writes)) {
      const refuse = async (tx: Transaction) => {
        await write(tx, `late ${name}`)
        throw fault
      }
      const ends = await Promise.allSettled([
        inGroup('kept', async (tx) => tx.run(insertWindow, row(`kept beside ${name}`))),
        inGroup('refused', refuse),
      ])
      assert.deepEqual(ends, [
        { status: 'fulfilled', value: undefined },
        { status: 'rejected', reason: fault },
      ])
      const { query } = held.database.read
      const found = await query.selectFrom('rate_windows').select('key').where('key', 'like', `%${name}`).execute()
      assert.deepEqual(found, [{ key: `kept beside ${name}` }])
    }
  })

  test('transactions of one moment whose connection is lost fail, and none of them is done again', async () => {
    const runs: string[] = []
    const loseConnection = defineSql<object>()(() => sql`SELECT pg_terminate_backend(pg_backend_pid())`)
    const grown = await measure(async () => {
      const ends = await Promise.allSettled(
        keys.map((key) => {
          const work = async (tx: Transaction) => {
            runs.push(key)
            await take(tx, key)
            if (key === keys[5]) await tx.list(loseConnection, {})
          }
          // The first ones of an app are one group.
          return inGroup(key, work, 'app that was never here')
        }),
      )
      for (const end of ends) {
        assert.equal(end.status, 'rejected')
        assert.equal(held.database.outageOf(end.status === 'rejected' && end.reason), 'unreachable')
      }
    })
    assert.deepEqual(runs.toSorted(), keys.toSorted())
    assert.deepEqual(
      grown,
      keys.map(() => 0),
    )
    assert.ok(await inGroup('after', (tx) => take(tx, keys[0] as string)), 'the next one gets another connection')
  })

  test('transactions of one moment and one by itself that lock the same rows in another order are all done', async () => {
    const { promise: isLocked, resolve: noteLocked } = Promise.withResolvers<void>()
    const [first, second] = keys as [string, string]
    const countWaiting = async () => {
      const { query } = held.database.read
      const { rows } = await sql<{ n: number }>`SELECT COUNT(*) AS n FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(query)
      return Number(rows[0]?.n)
    }
    const grown = await measure(async () => {
      const alone = held.database.transaction(async (tx) => {
        await take(tx, second)
        noteLocked()
        await until(async () => (await countWaiting()) > 0, 'the others wait for the second row')
        await take(tx, first)
      })
      await isLocked
      await Promise.all([alone, ...[first, second].map((key) => inGroup(key, (tx) => take(tx, key)))])
    })
    assert.deepEqual(grown.slice(0, 3), [2, 2, 0])
  })
})
