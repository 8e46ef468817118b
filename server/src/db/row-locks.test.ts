import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases, useTestDatabase } from '../../test/harness/databases.ts'
import { lockFreeRowsOf, lockRowsOf } from './row-locks.ts'
import { defineSql, defineStatement } from './statement.ts'

const lockWindow = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('rate_windows').select('key').where('key', '=', id).forUpdate(),
)
const lockTable = defineSql<object>()(() => sql`LOCK TABLE rate_windows IN SHARE ROW EXCLUSIVE MODE`)

onBothDatabases('a lock on rows', (engine) => {
  const held = useTestDatabase(engine)

  test('a lock on rows is held until the transaction ends, and passed over where that is asked for', async () => {
    const { database } = held
    await database.transaction(async (tx) => {
      for (const key of ['a', 'b']) {
        await tx.query.insertInto('rate_windows').values({ key, taken: 1, end_time: 1 }).execute()
      }
    })
    const findFree = () =>
      database.transaction(async ({ query }) => {
        const { rows } = await sql<{ key: string }>`SELECT DISTINCT w.key FROM (
          SELECT r.key FROM rate_windows r ORDER BY r.key ${lockFreeRowsOf('r', 'ForUpdate')}) w ORDER BY w.key`.execute(
          query,
        )
        return rows.map(({ key }) => key)
      })
    const found = Promise.withResolvers<string[]>()
    const later = database.transaction(async (tx) => {
      tx.lock(lockWindow, { id: 'a' })
      const { rows } =
        await sql`SELECT key FROM rate_windows WHERE key = 'a' ${lockRowsOf('rate_windows', 'ForUpdate')}`.execute(
          tx.query,
        )
      assert.equal(rows.length, 1)
      // On the embedded database it waits for this transaction; so nobody waits for it here.
      findFree().then(found.resolve, found.reject)
      if (engine === 'postgres') await found.promise
    })
    await later
    assert.deepEqual(await found.promise, engine === 'postgres' ? ['b'] : ['a', 'b'])
    assert.deepEqual(await findFree(), ['a', 'b'])
  })

  test('a lock on a whole table is asked for as one on rows is', async () => {
    await held.database.transaction(async (tx) => tx.lock(lockTable, {}))
  })

  test('a lock on rows takes no DISTINCT out of a query', async () => {
    const { query } = held.database.read
    const rows = await query.selectFrom('rate_windows').select('taken').distinct().execute()
    assert.equal(rows.length, 1)
  })
})
