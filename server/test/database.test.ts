import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemRandom } from '../src/base/keys/random.ts'
import { systemClock } from '../src/base/time/clock.ts'
import type { CacheName, Database, Db } from '../src/db/database.ts'
import { migrate } from '../src/db/schema/migrate.ts'
import { readMigrations } from '../src/db/schema/migrations.ts'
import { serviceSecret } from '../src/db/secrets/stored-secrets.ts'
import { defineStatement } from '../src/db/statement.ts'
import type { Sealed } from '../src/db/tables.ts'
import { createNode, isNodeId } from '../src/graph/nodes.ts'
import { makeStorePlace, onBothDatabases, openPlace, useTestDatabase } from './harness/databases.ts'

/** Text in the place of a sealed value, which nobody opens here. */
function anything(text: string): Sealed {
  return text as unknown as Sealed
}

/** One suite for both databases: what the rest of the service relies on holds on each. */
onBothDatabases('the database', (engine) => {
  const store = useTestDatabase(engine)
  let database: Database
  before(async () => {
    database = store.database
    await database.transaction(async ({ query }) => {
      await query.insertInto('nodes').values(node('1000000000000100')).execute()
      await query.insertInto('nodes').values(node('3000000000000100')).execute()
      await query
        .insertInto('businesses')
        .values({ id: '1000000000000100', name: 'Ünïcode 🌱', timezone_id: 1, created_time: Number.MAX_SAFE_INTEGER })
        .execute()
      await query.insertInto('apps').values(app('3000000000000100', true)).execute()
    })
  })

  function node(id: string) {
    return { id, kind: 'business', business_id: '1000000000000100', account_id: null }
  }

  function app(id: string, first_party: boolean) {
    return {
      id,
      business_id: '1000000000000100',
      name: id,
      secret: anything('s'),
      partner_kind: null,
      first_party,
      created_time: 1,
    }
  }

  test('the database hands out text, 64-bit numbers and null as they were put in', async () => {
    const row = await database.read.query.selectFrom('businesses').selectAll().executeTakeFirstOrThrow()
    assert.deepEqual(
      { ...row },
      { id: '1000000000000100', name: 'Ünïcode 🌱', timezone_id: 1, created_time: Number.MAX_SAFE_INTEGER },
    )
    const found = await database.read.query.selectFrom('nodes').select('account_id').executeTakeFirstOrThrow()
    assert.equal(found.account_id, null)
  })

  test('the database hands out booleans as booleans, also under another name', async () => {
    const rows = await database.read.query.selectFrom('apps').select(['first_party', 'first_party as alias']).execute()
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [{ first_party: true, alias: true }],
    )
  })

  test('the database hands out JSON as it was put in', async () => {
    const fields = ['messages', 'with "quotes"', '🌱']
    const row = {
      app_id: '3000000000000100',
      object: 'o',
      callback_url: 'u',
      verify_token: anything('v'),
      verify_token_hash: null,
      fields,
      created_time: 1,
    }
    await database.transaction(({ query }) => query.insertInto('app_subscriptions').values(row).execute())
    const found = await database.read.query.selectFrom('app_subscriptions').select('fields').executeTakeFirstOrThrow()
    assert.deepEqual(found.fields, fields)
  })

  test('the database hands out rows that their reader cannot change, JSON included, wherever they are read', async () => {
    const find = defineStatement<{ app_id: string }>()((db, { app_id }) =>
      db.selectFrom('app_subscriptions').select(['object', 'fields']).where('app_id', '=', app_id),
    )
    const parameters = { app_id: '3000000000000100' }
    const expected = { object: 'o', fields: ['messages', 'with "quotes"', '🌱'] }
    async function check(db: Db): Promise<void> {
      const row = await db.first(find, parameters)
      assert.ok(row && Object.isFrozen(row) && Object.isFrozen(row.fields))
      assert.deepEqual(row, expected)
    }
    // At the same moment, and one after the other: either may be answered from what another has read.
    await Promise.all([check(database.read), check(database.read), check(database.reserved)])
    for (let round = 0; round < 2; round++) await database.transaction(check)
    await database.snapshot(check)
  })

  test('a declared statement gives the same as a built query', async () => {
    const find = defineStatement<{ id: string }>()((db, { id }) =>
      db.selectFrom('apps').selectAll().where('id', '=', id),
    )
    const declared = await database.read.first(find, { id: '3000000000000100' })
    const built = await database.read.query.selectFrom('apps').selectAll().executeTakeFirstOrThrow()
    assert.deepEqual({ ...declared }, { ...built })
    assert.equal(await database.read.first(find, { id: 'nobody' }), undefined)
  })

  test('a transaction that throws leaves nothing', async () => {
    await assert.rejects(
      database.transaction(async (tx) => {
        await tx.query.insertInto('nodes').values(node('1000000000000101')).execute()
        throw new Error('on purpose')
      }),
      /on purpose/,
    )
    const found = await database.read.query
      .selectFrom('nodes')
      .select('id')
      .where('id', '=', '1000000000000101')
      .execute()
    assert.equal(found.length, 0)
  })

  test('readers see committed data and do not wait for a writer', async () => {
    const seen = await database.transaction(async (tx) => {
      await tx.query.insertInto('nodes').values(node('1000000000000102')).execute()
      return database.read.query.selectFrom('nodes').select('id').where('id', '=', '1000000000000102').execute()
    })
    assert.equal(seen.length, 0)
    const found = await database.read.query
      .selectFrom('nodes')
      .select('id')
      .where('id', '=', '1000000000000102')
      .execute()
    assert.equal(found.length, 1)
  })

  test('what was worked out from rows is forgotten with the next commit, here or in another process', async (t) => {
    const place = await makeStorePlace(engine)
    const [own, other] = [await openPlace(place), await openPlace(place)]
    t.after(async () => {
      await Promise.all([own.close(), other.close()])
      await place.remove()
    })
    await migrate(own, systemClock)
    const cacheName: CacheName<string> = { name: 'a test' }
    for (const [writer, id] of [
      [own, '1000000000000103'],
      [other, '1000000000000104'],
    ] as const) {
      own.read.cached(cacheName)?.set('key', 'old')
      const before = own.read.cached(cacheName)
      await writer.transaction((tx) => tx.query.insertInto('nodes').values(node(id)).execute())
      await nextTurn()
      // What is being worked out meanwhile from the rows of before must not be taken for new.
      before?.set('late', 'old')
      assert.deepEqual([...(own.read.cached(cacheName) ?? [])], [])
    }
    await own.transaction(async (tx) => assert.equal(tx.cached(cacheName), undefined))
  })

  test('fifty transactions at the same moment lose no update', async () => {
    await database.transaction(({ query }) =>
      query
        .insertInto('service_secrets')
        .values({ name: 'count', value: anything('0') })
        .execute(),
    )
    const increment = () =>
      database.transaction(async (tx) => {
        const { value } = await tx.query
          .selectFrom('service_secrets')
          .select('value')
          .where('name', '=', 'count')
          .forUpdate()
          .executeTakeFirstOrThrow()
        const next = anything(String(Number(value) + 1))
        await tx.query.updateTable('service_secrets').set({ value: next }).where('name', '=', 'count').execute()
      })
    await Promise.all(Array.from({ length: 50 }, increment))
    const { value } = await database.read.query
      .selectFrom('service_secrets')
      .select('value')
      .where('name', '=', 'count')
      .executeTakeFirstOrThrow()
    assert.equal(value, '50')
  })

  test('of many transactions at the same moment those that throw leave nothing, and the others all of theirs', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => String(2_000_000_000_000_000 + index))
    const isBad = (index: number) => index % 3 === 0
    const results = await Promise.allSettled(
      ids.map((id, index) =>
        database.transaction(async ({ query }) => {
          await query.insertInto('nodes').values(node(id)).execute()
          // Some break a rule of the database, some of their own.
          if (isBad(index) && index % 2 === 0) await query.insertInto('nodes').values(node(id)).execute()
          if (isBad(index)) throw new Error('no')
          return id
        }),
      ),
    )
    const good = ids.filter((_, index) => !isBad(index))
    assert.deepEqual(
      results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
      good,
    )
    const found = await database.read.query
      .selectFrom('nodes')
      .select('id')
      .where('id', 'in', ids)
      .orderBy('id')
      .execute()
    assert.deepEqual(
      found.map(({ id }) => id),
      good,
    )
  })

  test('ids are 16 digits below 2^53 and registered with their thing', async () => {
    const made = await database.transaction((tx) =>
      createNode(tx, systemRandom, 'bot', { business_id: '1000000000000100', account_id: null }),
    )
    assert.ok(isNodeId(made) && made.length === 16 && Number.isSafeInteger(Number(made)), made)
    const found = await database.read.query
      .selectFrom('nodes')
      .selectAll()
      .where('id', '=', made)
      .executeTakeFirstOrThrow()
    assert.deepEqual({ ...found }, { id: made, kind: 'bot', business_id: '1000000000000100', account_id: null })
  })

  test('an id that is taken is never handed out again', async () => {
    const draws = [0, 0, 0, 0, 1, 7]
    const random = { ...systemRandom, integer: () => draws.shift() ?? 9 }
    const owner = { business_id: '1000000000000100', account_id: null }
    const first = await database.transaction((tx) => createNode(tx, random, 'bot', owner))
    const second = await database.transaction((tx) => createNode(tx, random, 'bot', owner))
    assert.deepEqual([first, second], ['1000000000000000', '1000001000000007'])
  })

  test("the service's own secret is made once, also when two ask at the same moment", async () => {
    const secrets = await Promise.all(Array.from({ length: 5 }, () => serviceSecret(database, systemRandom, 'test')))
    assert.equal(new Set(secrets).size, 1)
  })
})

test('the embedded store is for its owner alone: it holds secrets', async (t) => {
  const place = await makeStorePlace('sqlite')
  const dataDir = join(place.dataDir, 'inner')
  const database = await openPlace({ ...place, dataDir })
  t.after(async () => {
    await database.close()
    await place.remove()
  })
  await migrate(database, systemClock)
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
  assert.equal(mode(dataDir), '700')
  for (const name of ['switchboard.db', 'switchboard.db-wal']) assert.equal(mode(join(dataDir, name)), '600', name)
})

test('migrations are numbered without gaps, but for those that were left before', () => {
  const holes = [30, 33, 34, 38]
  const numbers = readMigrations().map(({ name }) => Number(/^(\d{3})-[a-z0-9-]+$/.exec(name)?.[1]))
  const last = numbers.at(-1) ?? 0
  const expected = Array.from({ length: last }, (_, index) => index + 1).filter((number) => !holes.includes(number))
  assert.deepEqual(numbers, expected)
})
