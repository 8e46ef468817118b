import assert from 'node:assert/strict'
import { constants, DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sql } from 'kysely'
import { KeyRing } from '../../base/keys/key-ring.ts'
import { defineSql, defineStatement } from '../statement.ts'
import { SqliteConnection } from './sqlite-connection.ts'

const built = defineStatement<{ now: number; limit: number }>()((db, { now, limit }) =>
  db.selectFrom('timers').select('id').where('due_time', '<=', now).orderBy('due_time').limit(limit),
)
const written = defineSql<{ now: number; limit: number }>()(
  ({ now, limit }) =>
    sql<{ id: string }>`SELECT id FROM timers WHERE due_time <= ${now} ORDER BY due_time LIMIT ${limit}`,
)

test('a query with a limit is planned once, whatever the limit is', async (t) => {
  const handle = new DatabaseSync(':memory:')
  t.after(() => handle.close())
  handle.exec('CREATE TABLE timers (id TEXT PRIMARY KEY, due_time BIGINT)')
  handle.exec("INSERT INTO timers VALUES ('a', 1), ('b', 2), ('c', 3)")
  // SQLite asks it while it plans a statement, and never while it runs one.
  let asked = 0
  handle.setAuthorizer(() => {
    asked += 1
    return constants.SQLITE_OK
  })
  const db = new SqliteConnection(handle, new KeyRing()).db()
  for (const statement of [built, written]) {
    const list = async (limit: number) => (await db.list(statement, { now: 9, limit })).map(({ id }) => id)
    asked = 0
    assert.deepEqual(await list(1), ['a'])
    assert.ok(asked > 0)
    asked = 0
    assert.deepEqual(await list(2), ['a', 'b'])
    assert.deepEqual(await list(2), ['a', 'b'])
    assert.equal(asked, 0)
  }
})
