import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { systemClock } from '../src/base/time/clock.ts'
import { migrate } from '../src/db/schema/migrate.ts'
import { readMigrations } from '../src/db/schema/migrations.ts'
import { runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, makeStorePlace, onOneDatabase, openPlace, type StorePlace } from './harness/databases.ts'

function optionsOf({ dataDir, databaseUrl }: StorePlace) {
  return { env: { DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) }, cwd: dataDir }
}

onOneDatabase('migrate', 'postgres', (engine) => {
  test('migrate says what it did, and with --check what it would do', async (t) => {
    const older = await makeStorePlace(engine)
    t.after(() => older.remove())
    const at = (...args: string[]) => runCommand(args, optionsOf(older))
    const all = readMigrations()
    const empty = await at('migrate', '--check')
    assert.deepEqual(
      [empty.code, empty.stdout],
      [2, `There is no schema yet: all ${all.length} migrations would run, in one transaction.\n`],
    )
    const database = await openPlace(older)
    await migrate(database, systemClock, { migrations: all.filter(({ name }) => name < '051') })
    await database.close()
    const { code, stdout } = await at('migrate', '--check')
    assert.equal(code, 2)
    if (engine === 'postgres') {
      assert.match(
        stdout,
        /^051-subjects-of-events would run:\n {2}events \(about \d+ rows, .*\): nobody reads or writes it meanwhile\n052/,
      )
      assert.match(stdout, /^054-oldest-version would run, and hold up nobody\.$/m)
    } else assert.match(stdout, /^051-subjects-of-events would run\.\n052/)
    const ran = await at('migrate')
    assert.equal(ran.code, 0)
    assert.match(
      ran.stdout,
      engine === 'postgres' ? /^Running 051-\S+\.\nRan 051-\S+ in \d+\.\d s\.\n/ : /^Ran 051-\S+\.\n/,
    )
    assert.equal((await at('migrate', '--check')).code, 0)
  })

  test('a version starts on a store that a newer one has migrated and left usable for it, and says so', async (t) => {
    const place = await makeStorePlace(engine)
    t.after(() => place.remove())
    const all = readMigrations()
    const future = { name: '999-from-the-future', script: 'CREATE TABLE future (id TEXT);' }
    const database = await openPlace(place)
    await migrate(database, systemClock, { migrations: [...all, future], floor: all.at(-1)?.name ?? '' })
    await database.close()
    const server = await startCommand(['serve', '--port', '0'], optionsOf(place))
    t.after(() => server.stop('SIGTERM'))
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
    const { stderr } = await server.stop('SIGTERM')
    assert.match(stderr, /"newer":\["999-from-the-future"\],"msg":"a newer version has migrated the store/)
  })
})

test('a database that takes no writes: one line, exit code 1', async (t) => {
  const place = await makeMigratedPlace('postgres')
  t.after(() => place.remove())
  const client = new pg.Client({ connectionString: place.databaseUrl })
  await client.connect()
  await client.query(
    `ALTER DATABASE ${client.escapeIdentifier(client.database ?? '')} SET default_transaction_read_only = on`,
  )
  await client.end()
  for (const args of [['serve', '--port', '0'], ['migrate'], ['token', 'list']]) {
    const { code, stderr } = await runCommand(args, optionsOf(place))
    assert.equal(code, 1)
    assert.match(stderr, /^switchboard: the database of DATABASE_URL takes no writes: it is a standby[^\n]+\n$/)
  }
})
