import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { makeStorePlace, type StorePlace } from '../../../test/harness/databases.ts'
import type { Database } from '../database.ts'
import { defineSql } from '../statement.ts'
import { openPostgres } from './postgres.ts'

interface Thing {
  readonly id: number
}

const listThings = defineSql<object>()(() => sql<Thing>`SELECT * FROM things ORDER BY id`)
const findThing = defineSql<{ id: number }>()(({ id }) => sql<Thing>`SELECT * FROM things WHERE id = ${id}`)
const addThing = defineSql<{ id: number }>()(({ id }) => sql<Thing>`INSERT INTO things (id) VALUES (${id}) RETURNING *`)

/** A migration of a newer version adds a column while processes of the version before have statements that return all columns. */
describe('a statement whose table gets another column', () => {
  let place: StorePlace
  let other: pg.Client
  let database: Database
  before(async () => {
    place = await makeStorePlace('postgres')
    other = new pg.Client({ connectionString: place.databaseUrl as string })
    await other.connect()
    await other.query('CREATE TABLE things (id INTEGER PRIMARY KEY)')
    const timeouts = { timeout: 10_000, lockTimeout: 5_000 }
    const reports = { onIdleError: () => undefined, onMoved: () => undefined, onFault: assert.ifError }
    database = await openPostgres({
      url: place.databaseUrl as string,
      maxConnections: 8,
      isPooled: false,
      ...timeouts,
      ...reports,
    })
  })
  after(async () => {
    await database.close()
    await other.end()
    await place.remove()
  })

  let lastId = 0
  const nextId = () => ({ id: ++lastId })
  /** More of each than there are connections, so that many of them know the statements. */
  const several = <T>(ask: () => Promise<T>) => Promise.all(Array.from({ length: 12 }, ask))
  const uses: Readonly<Record<string, () => Promise<unknown>>> = {
    'a look-up': () => database.read.first(findThing, { id: 1 }),
    'a list': () => database.read.list(listThings, {}),
    'a look-up of operators': () => database.reserved.first(findThing, { id: 1 }),
    'a statement of its own': () => database.execute(addThing, nextId()),
    'a transaction that awaits it': () => database.transaction((tx) => tx.list(addThing, nextId())),
    'a transaction that awaits nothing': () => database.transaction(async (tx) => tx.run(addThing, nextId())),
    'a transaction that requires it': () =>
      database.transaction(async (tx) => tx.require(findThing, { id: 1 }, () => new Error('missing'))),
    'a transaction that fails only later': () =>
      database.transaction(async (tx) => {
        await tx.query.selectNoFrom(sql`1`.as('one')).execute()
        await tx.first(findThing, { id: 1 })
        return tx.list(addThing, nextId())
      }),
    'a snapshot': () => database.snapshot((db) => db.list(listThings, {})),
  }

  for (const [name, use] of Object.entries(uses)) {
    test(`a statement whose table gets another column is parsed again: ${name}`, async () => {
      await several(() => database.execute(addThing, nextId()))
      await several(use)
      await other.query(`ALTER TABLE things ADD COLUMN column_${lastId} TEXT`)
      await several(use)
      const { rows } = await other.query('SELECT COUNT(*)::integer AS stored FROM things')
      assert.equal(rows[0].stored, new Set(await listIds()).size)
    })
  }

  const listIds = async () => (await database.read.list(listThings, {})).map(({ id }) => id)

  test('a statement whose table gets another column is written once, whatever was repeated', async () => {
    const { length } = await listIds()
    await other.query('ALTER TABLE things ADD COLUMN last_column TEXT')
    await several(() => database.transaction((tx) => tx.list(addThing, nextId())))
    assert.equal((await listIds()).length, length + 12)
  })
})
