import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { makeMigratedStore } from '../../test/harness/databases.ts'
import { systemClock } from '../base/time/clock.ts'
import { type Transaction, TransactionEnded } from './database.ts'
import { defineStatement } from './statement.ts'

const findTaken = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('rate_windows').select('taken').where('key', '=', id),
)
const id = 'a'

describe('what a transaction of the embedded store reads', () => {
  let held: Awaited<ReturnType<typeof makeMigratedStore>>

  before(async () => {
    held = await makeMigratedStore('sqlite', systemClock)
  })
  after(async () => {
    await held.database.close()
    await held.place.remove()
  })

  const take = async ({ query }: Transaction, taken: number) => {
    await query.updateTable('rate_windows').set({ taken }).where('key', '=', id).execute()
  }
  const findIn = async (tx: Transaction) => (await tx.first(findTaken, { id }))?.taken
  const find = () => held.database.transaction(findIn)

  test('what a transaction of the embedded store reads is what the transaction itself has written, and is undone with it', async () => {
    const { database } = held
    await database.transaction(async ({ query }) => {
      await query.insertInto('rate_windows').values({ key: id, taken: 1, end_time: 1 }).execute()
    })
    assert.equal(await find(), 1)
    const undone = database.transaction(async (tx) => {
      await take(tx, 2)
      assert.equal(await findIn(tx), 2)
      throw new Error('no')
    })
    await assert.rejects(undone, /no/)
    assert.equal(await find(), 1)
  })

  test('what a transaction of the embedded store reads is undone with what SQLite itself rolls back because the store is full', async () => {
    const { database } = held
    const limit = (pages: number) =>
      database.transaction((tx) => database.runScript(tx, `PRAGMA max_page_count = ${pages}`))
    const timer = { id: 'large', kind: 'none', due_time: 1, payload: { text: 'x'.repeat(1_000_000) } }
    const fill = async (tx: Transaction) => {
      await take(tx, 2)
      assert.equal(await findIn(tx), 2)
      await tx.query
        .insertInto('timers')
        .values({ ...timer, attempts: 0, leased_until: 0, set_time: 0 })
        .execute()
    }
    await limit(1)
    for (const others of [[], [find]]) {
      const [full, ...after] = await Promise.allSettled([database.transaction(fill), ...others.map((other) => other())])
      assert.equal(full?.status === 'rejected' && database.outageOf(full.reason), 'unwritable')
      for (const one of after) assert.equal(one.status === 'fulfilled' && one.value, 1)
      assert.equal(await find(), 1)
    }
    await limit(1_000_000)
  })

  test('what a transaction of the embedded store reads refuses what work goes on to do after SQLite has rolled it back', async () => {
    const { database } = held
    await database.transaction((tx) => database.runScript(tx, 'PRAGMA max_page_count = 1'))
    const payload = { text: 'x'.repeat(1_000_000) }
    const row = { id: 'large', kind: 'none', due_time: 1, payload, attempts: 0, leased_until: 0, set_time: 0 }
    const work = database.transaction(async (tx) => {
      await tx.query
        .insertInto('timers')
        .values(row)
        .execute()
        .catch(() => undefined)
      await take(tx, 9)
    })
    await assert.rejects(work, TransactionEnded)
    const ignored = database.transaction((tx) =>
      tx.query
        .insertInto('timers')
        .values(row)
        .execute()
        .catch(() => undefined),
    )
    const next = database.transaction((tx) => take(tx, 10))
    await assert.rejects(ignored, TransactionEnded)
    await next
    assert.equal(await find(), 10)
    await database.transaction((tx) => take(tx, 1))
    await database.transaction((tx) => database.runScript(tx, 'PRAGMA max_page_count = 1000000'))
  })

  test('what a transaction of the embedded store reads is undone with one of several transactions that are committed together', async () => {
    const { database } = held
    const seen: unknown[] = []
    const all = [
      find(),
      database.transaction(async (tx) => {
        await take(tx, 3)
        seen.push(await findIn(tx))
        throw new Error('no')
      }),
      database.transaction(async (tx) => seen.push(await findIn(tx))),
    ]
    await Promise.allSettled(all)
    assert.deepEqual(seen, [3, 1])
  })

  test('what a transaction of the embedded store reads is what another process has committed', async () => {
    assert.equal(await find(), 1)
    const other = new DatabaseSync(join(held.place.dataDir, 'switchboard.db'))
    other.prepare('UPDATE rate_windows SET taken = ? WHERE key = ?').run(4, id)
    other.close()
    assert.equal(await find(), 4)
  })

  test('what a transaction of the embedded store reads is not seen by others before it is committed', async () => {
    const { database } = held
    await database.transaction(async (tx) => {
      await take(tx, 5)
      assert.equal(await findIn(tx), 5)
      assert.deepEqual(await database.read.first(findTaken, { id }), { taken: 4 })
    })
    assert.deepEqual(await database.read.first(findTaken, { id }), { taken: 5 })
  })
})
