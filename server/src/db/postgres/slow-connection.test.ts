import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeMigratedPlace } from '../../../test/harness/databases.ts'
import { PostgresProxy } from '../../../test/harness/postgres-proxy.ts'
import { minute } from '../../base/time/duration.ts'
import { openPostgres } from './postgres.ts'

test('new connections are waited for longer where locks are; a check of health is not', async (t) => {
  const place = await makeMigratedPlace('postgres')
  t.after(() => place.remove())
  const proxy = await new PostgresProxy(place.databaseUrl as string).start()
  t.after(() => proxy.end())
  const timeouts = { timeout: 4 * minute, lockTimeout: 2 * minute }
  const rest = {
    url: proxy.url,
    maxConnections: 6,
    isPooled: false,
    onIdleError: () => undefined,
    onMoved: () => undefined,
    onFault: assert.ifError,
  }
  const database = await openPostgres({ ...timeouts, ...rest })
  t.after(() => database.close())
  proxy.goSilent()
  const transactions = Array.from({ length: 3 }, () =>
    database.transaction(async (tx) => (await sql<{ one: number }>`SELECT 1 AS one`.execute(tx.query)).rows[0]?.one),
  )
  const error = await database.ping().catch((fault: unknown) => fault)
  assert.equal(database.outageOf(error), 'unreachable', String(error))
  proxy.speak()
  assert.deepEqual(await Promise.all(transactions), [1, 1, 1])
  await database.ping()
})
