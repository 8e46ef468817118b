import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Transaction, TransactionEnded, type TransactionOptions } from '../src/db/database.ts'
import { defineStatement } from '../src/db/statement.ts'
import { onBothDatabases, useTestDatabase } from './harness/databases.ts'

const insertWindow = defineStatement<{ key: string }>()((db, { key }) =>
  db.insertInto('rate_windows').values({ key, taken: 1, end_time: 1 }).returning('key'),
)
const selectWindow = defineStatement<{ key: string }>()((db, { key }) =>
  db.selectFrom('rate_windows').selectAll().where('key', '=', key),
)

const fail = (): Error => new Error('it was not to be asked')

onBothDatabases('a transaction that has ended', (engine) => {
  const store = useTestDatabase(engine)

  const listKeys = async () => {
    const rows = await store.database.read.query.selectFrom('rate_windows').select('key').orderBy('key').execute()
    return rows.map(({ key }) => key)
  }

  /** What every member of a transaction that reaches the store is called like; those that return nothing throw at once. */
  const members: Readonly<Record<string, (tx: Transaction, key: string) => Promise<unknown>>> = {
    run: async (tx, key) => tx.run(insertWindow, { key }),
    require: async (tx, key) => tx.require(insertWindow, { key }, fail),
    lock: async (tx, key) => tx.lock(selectWindow, { key }),
    later: async (tx, key) =>
      tx.defer ? tx.defer(insertWindow, { key }, () => undefined) : tx.run(insertWindow, { key }),
    list: (tx, key) => tx.list(insertWindow, { key }),
    first: (tx, key) => tx.first(insertWindow, { key }),
    'the query builder': (tx, key) =>
      tx.query.insertInto('rate_windows').values({ key, taken: 1, end_time: 1 }).execute(),
    makeDue: async (tx) => tx.makeDue({ timers: 1 }),
    withCause: async (tx, key) => tx.withCause({ trace: 'another' }).run(insertWindow, { key }),
    runScript: (tx) =>
      store.database.runScript(tx, "INSERT INTO rate_windows (key, taken, end_time) VALUES ('script', 1, 1)"),
  }

  /** A transaction that was committed or rolled back. */
  async function end(throws: boolean): Promise<Transaction> {
    let kept: Transaction | undefined
    const work = async (tx: Transaction) => {
      kept = tx
      await tx.first(selectWindow, { key: 'none' })
      if (throws) throw new Error('refused')
    }
    await store.database.transaction(work).catch(() => undefined)
    return kept as Transaction
  }

  for (const throws of [false, true]) {
    for (const [name, use] of Object.entries(members)) {
      test(`a transaction that has ended refuses ${name} after it was ${throws ? 'rolled back' : 'committed'}`, async () => {
        const tx = await end(throws)
        await assert.rejects(use(tx, `${name} ${throws}`), TransactionEnded)
        // Nor is it part of another transaction that is open at the moment.
        await store.database.transaction(async (other) => {
          await other.first(selectWindow, { key: 'none' })
          await assert.rejects(use(tx, `${name} ${throws}`), TransactionEnded)
        })
        assert.deepEqual(await listKeys(), [])
      })
    }
  }

  test('a transaction that has ended refuses queries that were built before', async () => {
    let insert: (() => Promise<unknown>) | undefined
    await store.database.transaction(async ({ query }) => {
      const built = query.insertInto('rate_windows').values({ key: 'built', taken: 1, end_time: 1 })
      insert = () => built.execute()
    })
    await assert.rejects(insert?.() ?? Promise.resolve(), TransactionEnded)
    assert.deepEqual(await listKeys(), [])
  })

  const forms: readonly TransactionOptions[] = [{}, { alone: true }, { holds: 'one' }]
  for (const options of forms) {
    test(`a transaction that has ended leaves nothing of branches that go on after one failed (${JSON.stringify(options)})`, async () => {
      const ends: unknown[] = []
      const goOn = async (tx: Transaction, key: string) => {
        try {
          for (let round = 0; round < 50; round++) {
            if (round % 2 === 0) tx.run(insertWindow, { key: `${key} ${round}` })
            await tx.first(selectWindow, { key })
          }
          ends.push('went on')
        } catch (error) {
          ends.push(error)
        }
      }
      const refuse = async (tx: Transaction) => {
        await tx.first(selectWindow, { key: 'none' })
        throw new Error('refused')
      }
      const refused = Array.from({ length: 10 }, (_, n) =>
        store.database.transaction((tx) => Promise.all([refuse(tx), goOn(tx, `branch ${n}`)]), options),
      )
      const kept = store.database.transaction(async (tx) => tx.run(insertWindow, { key: 'kept' }), options)
      for (const outcome of await Promise.allSettled(refused)) assert.equal(outcome.status, 'rejected')
      await kept
      while (ends.length < 10) await nextTurn()
      assert.deepEqual(new Set(ends.map((error) => (error as Error)?.constructor)), new Set([TransactionEnded]))
      assert.deepEqual(await listKeys(), ['kept'])
      await store.database.transaction(({ query }) => query.deleteFrom('rate_windows').execute())
    })
  }
})
