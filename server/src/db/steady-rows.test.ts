import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { makeMigratedStore } from '../../test/harness/databases.ts'
import { systemClock } from '../base/clock.ts'
import type { Transaction } from './database.ts'
import { defineStatement, defineSteady } from './statement.ts'
import { changesSteadyRows } from './steady-rows.ts'

const findTaken = defineSteady(
  defineStatement<{ id: string }>()((db, { id }) =>
    db.selectFrom('rate_windows').select('taken').where('key', '=', id),
  ),
)
const findState = defineSteady(
  defineStatement<{ id: string }>()((db, { id }) => db.selectFrom('messages').select('state').where('id', '=', id)),
)
const id = 'a'

describe('what is kept of tables that are seldom written', () => {
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

  test('is what the transaction itself has written, and is undone with it', async () => {
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

  test('is undone with one of several transactions that are committed together', async () => {
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

  test('is what another process has committed', async () => {
    assert.equal(await find(), 1)
    const other = new DatabaseSync(join(held.place.dataDir, 'switchboard.db'))
    other.prepare('UPDATE rate_windows SET taken = ? WHERE key = ?').run(4, id)
    other.close()
    assert.equal(await find(), 4)
  })

  test('is not seen by others before it is committed', async () => {
    const { database } = held
    await database.transaction(async (tx) => {
      await take(tx, 5)
      assert.equal(await findIn(tx), 5)
      assert.deepEqual(await database.read.first(findTaken, { id }), { taken: 4 })
    })
    assert.deepEqual(await database.read.first(findTaken, { id }), { taken: 5 })
  })

  test('is never of a table that is written all the time', async () => {
    await assert.rejects(
      held.database.transaction((tx) => tx.first(findState, { id })),
      /reads messages/,
    )
  })

  for (const [sql, changes] of [
    ['select 1', false],
    ['insert into "messages" ("id") values (?)', false],
    ['\n    UPDATE deliveries SET state = ?', false],
    ['delete from "timers" where "id" in (?, ?)', false],
    ['insert into "users" ("wa_id") values (?)', true],
    ['INSERT OR IGNORE INTO apps (id) VALUES (?)', true],
    ['WITH found AS (SELECT 1) INSERT INTO messages SELECT * FROM found', true],
    ['ROLLBACK TO job', true],
  ] as const) {
    test(`is ${changes ? 'forgotten after' : 'good after'} ${sql.trim()}`, () =>
      assert.equal(changesSteadyRows(sql), changes))
  }
})
