import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeMigratedPlace } from '../../../test/harness/databases.ts'
import { PostgresLine } from '../../../test/harness/postgres-line.ts'
import { minute } from '../../base/time/duration.ts'
import { openPostgres } from './postgres.ts'

test('new connections are waited for longer where locks are; a check of health is not', async (t) => {
  const place = await makeMigratedPlace('postgres')
  t.after(() => place.remove())
  const line = await new PostgresLine(place.databaseUrl as string).start()
  t.after(() => line.end())
  const timeouts = { timeout: 4 * minute, lockTimeout: 2 * minute }
  const rest = {
    url: line.url,
    maxConnections: 6,
    isPooled: false,
    onIdleError: () => undefined,
    onFault: assert.ifError,
  }
  const database = await openPostgres({ ...timeouts, ...rest })
  t.after(() => database.close())
  line.goSilent()
  const transactions = Array.from({ length: 3 }, () =>
    database.transaction(async (tx) => (await sql<{ one: number }>`SELECT 1 AS one`.execute(tx.query)).rows[0]?.one),
  )
  const error = await database.ping().catch((fault: unknown) => fault)
  assert.equal(database.outageOf(error), 'unreachable', String(error))
  line.speak()
  assert.deepEqual(await Promise.all(transactions), [1, 1, 1])
  await database.ping()
})
