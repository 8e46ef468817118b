import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { makeStorePlace, onBothDatabases, openPlace } from '../../../test/harness/databases.ts'
import { measureLocks } from '../../../test/harness/migration-locks.ts'
import { until } from '../../../test/harness/until.ts'
import { ManualClock, systemClock } from '../../base/time/clock.ts'
import { describeFailure } from '../../cli/fail.ts'
import { type Database, MigrationsOutOfOrder, UnknownMigrations } from '../database.ts'
import { transactAlone } from './alone.ts'
import { readLocks } from './locks.ts'
import { isMigrated, migrate, silentProgress } from './migrate.ts'
import { listLiveIndexes, type Migration, readMigrations } from './migrations.ts'

const clock = new ManualClock(0)

async function openEmpty(t: TestContext, engine: 'sqlite' | 'postgres') {
  const place = await makeStorePlace(engine)
  const database = await openPlace(place)
  t.after(async () => {
    await database.close()
    await place.remove()
  })
  return database
}

onBothDatabases('migrations', (engine) => {
  test('migrations run once, also when several start together, and are then up to date', async (t) => {
    const place = await makeStorePlace(engine)
    const databases = await Promise.all([openPlace(place), openPlace(place), openPlace(place)])
    t.after(async () => {
      await Promise.all(databases.map((database) => database.close()))
      await place.remove()
    })
    const runs = await Promise.all(databases.map((database) => migrate(database, systemClock)))
    assert.deepEqual(
      runs.flat(),
      readMigrations().map(({ name }) => name),
    )
    assert.equal(await isMigrated(databases[0] as Database), true)
  })

  test('a failing one leaves the schema as it was', async (t) => {
    const database = await openEmpty(t, engine)
    const good = { name: '001-good', script: 'CREATE TABLE good (id TEXT);' }
    await migrate(database, clock, { migrations: [good] })
    const bad = { name: '002-bad', script: 'CREATE TABLE half (id TEXT); CREATE TABLE good (id TEXT);' }
    await assert.rejects(migrate(database, clock, { migrations: [good, bad] }))
    await assert.rejects(sql`SELECT * FROM half`.execute(database.read.query))
    assert.equal(await isMigrated(database, [good, bad]), false)
    assert.equal(await isMigrated(database, [good]), true)
  })

  test('a store of a newer version is refused', async (t) => {
    const database = await openEmpty(t, engine)
    await migrate(database, clock, {
      migrations: [{ name: '999-from-the-future', script: 'CREATE TABLE future (id TEXT);' }],
    })
    await assert.rejects(migrate(database, clock, { migrations: [] }), UnknownMigrations)
  })

  test('a store of a newer version is used by a version that the newer one leaves it usable for', async (t) => {
    const database = await openEmpty(t, engine)
    const known = readMigrations()
    const future = { name: '999-from-the-future', script: 'CREATE TABLE future (id TEXT);' }
    const newerOnes: string[] = []
    const progress = { ...silentProgress, goBeside: (newer: readonly string[]) => newerOnes.push(...newer) }
    await migrate(database, clock, { migrations: [...known, future], floor: known.at(-1)?.name ?? '' })
    assert.deepEqual(await migrate(database, clock, { progress }), [])
    assert.deepEqual(newerOnes, ['999-from-the-future'])
    const older = known.slice(0, -1)
    await assert.rejects(migrate(database, clock, { migrations: older }), UnknownMigrations)
  })

  test('what a version needs is not forgotten when an older one migrates', async (t) => {
    const database = await openEmpty(t, engine)
    const known = readMigrations()
    const [first, second] = ['998-first', '999-second'].map((name) => ({
      name,
      script: `CREATE TABLE ${name.slice(4)} (id TEXT);`,
    })) as [Migration, Migration]
    await migrate(database, clock, { migrations: [...known, first], floor: first.name })
    await migrate(database, clock, { migrations: [...known, first, second], floor: known.at(-1)?.name ?? '' })
    await assert.rejects(migrate(database, clock, { migrations: known }), UnknownMigrations)
  })

  test('one that was added below the newest one that ran is refused, and is missing until then', async (t) => {
    const database = await openEmpty(t, engine)
    const [first, late, second] = ['001-first', '002-late', '003-second'].map((name) => ({
      name,
      script: `CREATE TABLE ${name.slice(4)} (id TEXT);`,
    })) as [Migration, Migration, Migration]
    await migrate(database, clock, { migrations: [first, second] })
    assert.equal(await isMigrated(database, [first, late]), false)
    await assert.rejects(migrate(database, clock, { migrations: [first, late, second] }), (error: Error) => {
      assert.ok(error instanceof MigrationsOutOfOrder)
      const line = describeFailure(error)
      assert.match(line, /it has run 003-second, but not 002-late/)
      assert.match(line, /start that version, or restore a backup/, 'what an operator does')
      assert.match(line, /give it a number above 003-second/, 'what a developer does')
      return !line.includes('\n')
    })
    await assert.rejects(sql`SELECT * FROM late`.execute(database.read.query))
  })
})

describe('migrations of a PostgreSQL that others use', () => {
  const made = [{ name: '001-made', script: 'CREATE TABLE shelf (id TEXT); CREATE TABLE box (id TEXT);' }]
  const patience = { lockTimeout: 50, pause: 1 }

  async function openUsed(t: TestContext) {
    const place = await makeStorePlace('postgres')
    const database = await openPlace(place)
    const other = new pg.Client({ connectionString: place.databaseUrl, application_name: 'somebody else' })
    t.after(async () => {
      await other.end()
      await database.close()
      await place.remove()
    })
    await other.connect()
    await migrate(database, clock, { migrations: made })
    return { place, database, other, query: (text: string) => sql.raw(text).execute(database.read.query) }
  }

  test('a migration that has to wait for a lock lets others write, and is run when the lock is free', async (t) => {
    const { database, other, query } = await openUsed(t)
    await other.query('BEGIN; SELECT FROM shelf')
    const waits: string[] = []
    const migrations = [
      ...made,
      { name: '002-free', script: 'ALTER TABLE box ADD COLUMN size TEXT;' },
      { name: '003-held', script: 'ALTER TABLE shelf ADD COLUMN place TEXT;' },
    ]
    const progress = { ...silentProgress, wait: (name: string, reason: string) => waits.push(`${name}: ${reason}`) }
    const migrating = migrate(database, clock, { migrations, progress, patience })
    await until(() => waits.length >= 3, 'it was tried three times')
    assert.match(
      waits[0] ?? '',
      /^003-held: .*the oldest transaction is of somebody else \(pid \d+, idle in transaction/,
    )
    await query("INSERT INTO shelf (id) VALUES ('while it waits')")
    await query("INSERT INTO box (id, size) VALUES ('one that has run', 'counts')")
    await other.query('COMMIT')
    assert.deepEqual(await migrating, ['002-free', '003-held'])
    await query("UPDATE shelf SET place = 'there'")
  })

  test('an index is built while a transaction has written to its table, and nobody waits', async (t) => {
    const { database, other, query } = await openUsed(t)
    await other.query("BEGIN; INSERT INTO shelf (id) VALUES ('not committed')")
    const script =
      '-- Why.\nCONCURRENTLY CREATE INDEX shelf_by_id ON shelf (id);\nCONCURRENTLY CREATE INDEX box_by_id ON box (id);\n'
    const migrating = migrate(database, clock, { migrations: [...made, { name: '002-index', script }], patience })
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'"
    await until(async () => (await query(waiting)).rows.length === 1, 'the index waits for the transaction')
    await query("INSERT INTO shelf (id) VALUES ('while it is built')")
    await other.query('COMMIT')
    assert.deepEqual(await migrating, ['002-index'])
    const valid =
      "SELECT FROM pg_index WHERE indexrelid IN ('shelf_by_id'::regclass, 'box_by_id'::regclass) AND indisvalid"
    assert.equal((await other.query(valid)).rowCount, 2)
  })

  test('an index takes its time to be built, although the URL or the user of the database has limits', async (t) => {
    const { place, other, query } = await openUsed(t)
    const options = encodeURIComponent('-c statement_timeout=200 -c lock_timeout=200')
    const limited = await openPlace({ ...place, databaseUrl: `${place.databaseUrl}?options=${options}` })
    try {
      await other.query("BEGIN; INSERT INTO shelf (id) VALUES ('not committed')")
      const script = 'CONCURRENTLY CREATE INDEX shelf_by_id ON shelf (id);'
      const migrating = migrate(limited, clock, { migrations: [...made, { name: '002-index', script }], patience })
      const late =
        "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND clock_timestamp() - query_start > '0.4 s'"
      const isLate = until(async () => (await query(late)).rows.length === 1, 'the index takes longer than the limits')
      await Promise.race([isLate, migrating])
      await other.query('COMMIT')
      assert.deepEqual(await migrating, ['002-index'])
    } finally {
      await limited.close()
    }
  })

  test('what a broken build of an index left is made anew', async (t) => {
    const { database, other } = await openUsed(t)
    await other.query("INSERT INTO shelf (id) VALUES ('twice'), ('twice')")
    await assert.rejects(other.query('CREATE UNIQUE INDEX CONCURRENTLY shelf_by_id ON shelf (id)'))
    const script = 'CONCURRENTLY CREATE INDEX shelf_by_id ON shelf (id);'
    await migrate(database, clock, { migrations: [...made, { name: '002-index', script }] })
    const { rows } = await other.query(
      "SELECT indisvalid, indisunique FROM pg_index WHERE indexrelid = 'shelf_by_id'::regclass",
    )
    assert.deepEqual(rows, [{ indisvalid: true, indisunique: false }])
  })

  test('two processes that migrate at once run each migration once, one after the other', async (t) => {
    const { database, other } = await openUsed(t)
    const migrations = Array.from({ length: 20 }, (_, index) => ({
      name: `${String(index + 2).padStart(3, '0')}-more`,
      script: `CREATE TABLE more_${index} (id TEXT);`,
    }))
    const all = { migrations: [...made, ...migrations] }
    const runs = await Promise.all([migrate(database, clock, all), migrate(database, clock, all)])
    assert.deepEqual(
      runs.flat(),
      migrations.map(({ name }) => name),
    )
    // Other tests use other databases of the same server, and a backend ends shortly after its connection.
    const held =
      "SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    await until(async () => (await other.query(held)).rowCount === 0, 'the lock of all migrations is free')
  })

  test('whoever waits for a process that migrates does not keep it from finishing an index', async (t) => {
    const { database, other, query } = await openUsed(t)
    await other.query("BEGIN; INSERT INTO shelf (id) VALUES ('not committed')")
    const script = 'CONCURRENTLY CREATE INDEX shelf_by_id ON shelf (id);'
    const all = { migrations: [...made, { name: '002-index', script }], patience }
    const first = migrate(database, clock, all)
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'"
    await until(async () => (await query(waiting)).rows.length === 1, 'the index waits for the transaction')
    const second = migrate(database, clock, all)
    const secrets = transactAlone(database, async () => undefined)
    const locking =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND query ~ '^(SELECT pg_(try_)?advisory_xact_lock|ROLLBACK)'"
    await until(async () => (await query(locking)).rows.length === 3, 'all have asked for the lock')
    await other.query('COMMIT')
    assert.deepEqual((await Promise.all([first, second])).flat(), ['002-index'])
    await secrets
  })

  test('one connection is enough', async (t) => {
    const place = await makeStorePlace('postgres')
    const database = await openPlace(place, { maxConnections: 1 })
    t.after(async () => {
      await database.close()
      await place.remove()
    })
    await migrate(database, clock, { migrations: made })
    const more = { name: '002-more', script: 'CREATE TABLE more (id TEXT);' }
    assert.deepEqual(await migrate(database, clock, { migrations: [...made, more] }), ['002-more'])
  })
})

test('what migrations lock is known: server/test/migration-locks.ts writes it', async (t) => {
  const place = await makeStorePlace('postgres')
  t.after(() => place.remove())
  assert.deepEqual(readLocks(), await measureLocks(place.databaseUrl as string, readMigrations()))
})

test('a migration with an index that is built while others write has nothing else', () => {
  assert.equal(listLiveIndexes('CREATE INDEX one ON shelf (id);'), undefined)
  assert.throws(
    () => listLiveIndexes('CREATE TABLE a (b TEXT);\nCONCURRENTLY CREATE INDEX one ON a (b);'),
    /such indexes alone/,
  )
  for (const { script } of readMigrations()) listLiveIndexes(script)
})
