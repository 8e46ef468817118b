import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { makeMigratedStore } from '../../../test/harness/databases.ts'
import { until } from '../../../test/harness/until.ts'
import { systemClock } from '../../base/time/clock.ts'

const marker = 'a-value-that-was-deleted'

for (const [where, isElsewhere] of [
  ['the same', false],
  ['another', true],
] as const) {
  test(`scrubbing tables of PostgreSQL waits for an older transaction of ${where} database, also between its statements`, async (t) => {
    const { place, database } = await makeMigratedStore('postgres', systemClock)
    const own = new URL(place.databaseUrl ?? '')
    const connect = async (url: URL) => {
      const client = new pg.Client({ connectionString: url.href })
      await client.connect()
      return client
    }
    // Reads in the same database would have a snapshot as old as the transaction.
    const observer = await connect(new URL('/postgres', own))
    const older = await connect(isElsewhere ? new URL('/postgres', own) : own)
    t.after(async () => {
      await observer.end()
      await older.end()
      await database.close()
      await place.remove()
    })
    await database.transaction((tx) =>
      sql`INSERT INTO service_secrets (name, value) VALUES ('marked', ${marker})`.execute(tx.query),
    )
    await older.query('BEGIN')
    await older.query('SELECT pg_current_xact_id()')
    await database.transaction((tx) => sql`DELETE FROM service_secrets WHERE name = 'marked'`.execute(tx.query))

    const polls = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND state = 'idle' AND query LIKE '%pg_snapshot_xmin%'`
    const isWaiting = async () => (await observer.query(polls, [own.pathname.slice(1)])).rowCount === 1
    const scrubbed = database.scrub(['service_secrets'])
    await Promise.race([scrubbed, until(isWaiting, 'it waits')])
    await older.query('COMMIT')
    await scrubbed

    await sql`CHECKPOINT`.execute(database.read.query)
    const { rows } = await sql<{ bytes: Buffer }>`
      SELECT pg_read_binary_file(pg_relation_filepath('service_secrets')) AS bytes`.execute(database.read.query)
    assert.equal(rows[0]?.bytes.includes(marker), false)
  })
}
