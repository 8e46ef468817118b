import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { makeMigratedStore } from '../../../test/harness/databases.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { CacheName, Database, Db, Transaction } from '../database.ts'
import { defineSql, defineStatement, defineWithRows, defineWithSteps } from '../statement.ts'

interface Taken {
  readonly taken: number
}

const find = defineStatement<object>()((db) => db.selectFrom('rate_windows').select('taken').where('key', '=', 'a'))
const declared = defineStatement<Taken>()((db, { taken }) =>
  db.updateTable('rate_windows').set({ taken }).where('key', '=', 'a').returning('taken'),
)
const plain = defineSql<Taken>()(({ taken }) => sql<Taken>`UPDATE rate_windows SET taken = ${taken} RETURNING taken`)
const behindWith = defineSql<Taken>()(
  ({ taken }) => sql<Taken>`WITH given (taken) AS (SELECT ${taken})
    UPDATE rate_windows SET taken = given.taken FROM given RETURNING rate_windows.taken`,
)
const inSteps = defineWithSteps(plain, (db, parameters) => db.list(plain, parameters))
const byRow = defineWithRows(
  plain,
  ([taken]) => sql<Taken>`UPDATE rate_windows SET taken = ${taken}`,
  ({ taken }) => [[taken]],
)
const cacheName: CacheName<number> = { name: 'a test' }

/** Writes of the number, each in another way. */
const writesOfTransactions: Readonly<Record<string, (tx: Transaction, taken: number) => unknown>> = {
  'a built query': ({ query }, taken) => query.updateTable('rate_windows').set({ taken }).execute(),
  'plain SQL': ({ query }, taken) => sql`UPDATE rate_windows SET taken = ${taken}`.execute(query),
  'a declared statement': (tx, taken) => tx.first(declared, { taken }),
  'a declared statement that nobody awaits': (tx, taken) => tx.run(declared, { taken }),
  'a declared statement that must return a row': (tx, taken) => tx.require(declared, { taken }, () => new Error('no')),
  'declared SQL': (tx, taken) => tx.list(plain, { taken }),
  'SQL behind WITH': (tx, taken) => tx.list(behindWith, { taken }),
  'several steps': (tx, taken) => tx.list(inSteps, { taken }),
  'a statement for each row': (tx, taken) => tx.list(byRow, { taken }),
}

const writesOfReaders: Readonly<Record<string, (db: Db, taken: number) => Promise<unknown>>> = {
  'a built query': ({ query }, taken) => query.updateTable('rate_windows').set({ taken }).execute(),
  'plain SQL': ({ query }, taken) => sql`UPDATE rate_windows SET taken = ${taken}`.execute(query),
  'a declared statement': (db, taken) => db.first(declared, { taken }),
  'SQL behind WITH': (db, taken) => db.first(behindWith, { taken }),
  'several steps': (db, taken) => db.list(inSteps, { taken }),
  'a statement for each row': (db, taken) => db.list(byRow, { taken }),
}

describe('what the embedded store caches of committed rows', () => {
  let held: Awaited<ReturnType<typeof makeMigratedStore>>
  let database: Database
  let taken = 1

  before(async () => {
    held = await makeMigratedStore('sqlite', systemClock)
    database = held.database
    await database.transaction(({ query }) =>
      query.insertInto('rate_windows').values({ key: 'a', taken, end_time: 1 }).execute(),
    )
  })
  after(async () => {
    await database.close()
    await held.place.remove()
  })

  const findTaken = async () => (await database.read.first(find, {}))?.taken

  async function fillCaches(committed: number): Promise<void> {
    assert.equal(await findTaken(), committed)
    database.read.cached(cacheName)?.set('key', committed)
  }

  async function checkNew(): Promise<void> {
    assert.equal(await findTaken(), taken)
    assert.equal(database.read.cached(cacheName)?.size, 0)
  }

  const writes: Readonly<Record<string, () => Promise<unknown>>> = {
    'a statement as a transaction of its own': () => database.execute(declared, { taken }),
    'a script': () => database.transaction((tx) => database.runScript(tx, `UPDATE rate_windows SET taken = ${taken}`)),
    'another process': async () => {
      const other = new DatabaseSync(join(held.place.dataDir, 'switchboard.db'))
      other.prepare('UPDATE rate_windows SET taken = ?').run(taken)
      other.close()
      await nextTurn()
    },
    ...Object.fromEntries(
      Object.entries(writesOfTransactions).map(([name, write]) => [
        name,
        () =>
          database.transaction(async (tx) => {
            await write(tx, taken)
            // In the turn of the commit, so that no later turn is what invalidates it.
            await fillCaches(taken - 1)
          }),
      ]),
    ),
  }

  for (const [name, write] of Object.entries(writes)) {
    test(`is invalidated by a write of ${name}`, async () => {
      await fillCaches(taken)
      taken += 1
      await write()
      await checkNew()
    })
  }

  for (const [name, write] of Object.entries(writesOfReaders)) {
    test(`cannot be written past: ${name}`, async () => {
      await fillCaches(taken)
      const refused = /^Error: a read cannot write to rate_windows: use /
      await assert.rejects(write(database.read, 0), refused)
      await assert.rejects(
        database.snapshot((db) => write(db, 0)),
        refused,
      )
      assert.equal(await database.transaction(async (tx) => (await tx.first(find, {}))?.taken), taken)
    })
  }
})
