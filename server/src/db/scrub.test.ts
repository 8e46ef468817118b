import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { makeMigratedStore } from '../../test/harness/databases.ts'
import { until } from '../../test/harness/until.ts'
import { systemClock } from '../base/clock.ts'

const marker = 'a-value-that-was-deleted'

test('scrubbing tables of PostgreSQL waits for transactions that began before, also between their statements', async (t) => {
  const { place, database } = await makeMigratedStore('postgres', systemClock)
  const own = new URL(place.databaseUrl ?? '')
  // Reads in the same database would have a snapshot as old as the transaction.
  const observer = new pg.Client({ connectionString: new URL('/postgres', own).href })
  await observer.connect()
  t.after(async () => {
    await observer.end()
    await database.close()
    await place.remove()
  })
  await database.transaction((tx) =>
    sql`INSERT INTO service_secrets (name, value) VALUES ('marked', ${marker})`.execute(tx.query),
  )
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>()
  const older = database.transaction(async (tx) => {
    await sql`SELECT pg_current_xact_id()`.execute(tx.query)
    begin()
    await mayEnd
  })
  await hasBegun
  await database.transaction((tx) => sql`DELETE FROM service_secrets WHERE name = 'marked'`.execute(tx.query))

  const polls = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND state = 'idle' AND query LIKE '%age(backend_xid)%'`
  const isWaiting = async () => (await observer.query(polls, [own.pathname.slice(1)])).rowCount === 1
  const scrubbed = database.scrub(['service_secrets'])
  await Promise.race([scrubbed, until(isWaiting, 'it waits')])
  end()
  await Promise.all([older, scrubbed])

  await sql`CHECKPOINT`.execute(database.read.query)
  const { rows } = await sql<{ bytes: Buffer }>`
    SELECT pg_read_binary_file(pg_relation_filepath('service_secrets')) AS bytes`.execute(database.read.query)
  assert.equal(rows[0]?.bytes.includes(marker), false)
})
