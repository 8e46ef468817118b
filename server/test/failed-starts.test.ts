import assert from 'node:assert/strict'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { runCommand } from './harness/command.ts'
import { makeMigratedPlace, makeStorePlace, type StorePlace } from './harness/databases.ts'

const serve = ['serve', '--port', '0']

/** One line, exit code 1, and nothing that was not there before. */
async function assertRefused(place: StorePlace, message: RegExp, env: Record<string, string> = {}): Promise<void> {
  const { dataDir, databaseUrl } = place
  const before = await readdir(dataDir)
  const given = { DATA_DIR: dataDir, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }), ...env }
  const { code, stdout, stderr } = await runCommand(serve, { env: given, cwd: dataDir })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, message)
  assert.match(stderr, /^switchboard: [^\n]+\n$/, 'one line, without a stack')
  const made = (await readdir(dataDir)).filter((name) => !before.includes(name) && name !== 'switchboard.lock')
  assert.deepEqual(made, [])
}

/** As its owner. */
async function runAt({ databaseUrl }: StorePlace, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(text)
  await client.end()
}

async function placeFor(t: TestContext, engine: 'sqlite' | 'postgres', isEmpty = false): Promise<StorePlace> {
  const place = await (isEmpty ? makeStorePlace : makeMigratedPlace)(engine)
  t.after(() => place.remove())
  return place
}

describe('a start is refused in one line', () => {
  test('a start is refused in one line where a folder is in the place of the key file', async (t) => {
    const place = await placeFor(t, 'postgres')
    const file = join(place.dataDir, 'secrets.key')
    await mkdir(file)
    await assertRefused(
      place,
      /the key file \S+secrets\.key is a folder; put the file back there, or name it in SECRETS_/,
    )
    await assertRefused(place, /the key file \S+ is a folder/, { SECRETS_KEY_FILE: place.dataDir })
  })

  test('a start is refused in one line where the database file is damaged, and the file stays as it is', async (t) => {
    const place = await placeFor(t, 'sqlite', true)
    await writeFile(join(place.dataDir, 'switchboard.db'), 'not a database, but long enough to look at. '.repeat(200))
    await assertRefused(place, /switchboard\.db: file is not a database; it is damaged, .*restore a backup/)
  })

  test('a start is refused in one line where a folder of files cannot be one', async (t) => {
    const place = await placeFor(t, 'postgres')
    await writeFile(join(place.dataDir, 'secrets.key'), '')
    await writeFile(join(place.dataDir, 'files'), '')
    const env = { SECRETS_KEY: '00'.repeat(32) }
    await assertRefused(place, /files cannot be stored in \S+files: .*; make the user of the service the owner/, env)
    await rm(join(place.dataDir, 'files'))
    await mkdir(join(place.dataDir, 'files', 'incoming'), { recursive: true })
    await writeFile(join(place.dataDir, 'uploads'), '')
    await assertRefused(place, /files cannot be stored in \S+uploads: /, env)
  })

  test('a start is refused in one line where the database does not hold every text', async (t) => {
    const place = await placeFor(t, 'postgres', true)
    const other = `${new URL(place.databaseUrl ?? '').pathname.slice(1)}_latin`
    await runAt(
      place,
      `CREATE DATABASE ${other} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0 STRATEGY file_copy`,
    )
    const databaseUrl = Object.assign(new URL(place.databaseUrl ?? ''), { pathname: `/${other}` }).href
    await assertRefused({ ...place, databaseUrl }, /encoded in LATIN1, .*ENCODING 'UTF8' TEMPLATE template0/)
    await runAt(place, `DROP DATABASE ${other}`)
  })

  test('a start is refused in one line where the user may not make tables, or not use existing ones', async (t) => {
    const [empty, full] = [await placeFor(t, 'postgres', true), await placeFor(t, 'postgres')]
    for (const place of [empty, full]) {
      const user = `${new URL(place.databaseUrl ?? '').pathname.slice(1)}_guest`
      const usage = place === full ? `; GRANT USAGE ON SCHEMA public TO ${user}` : ''
      await runAt(place, `CREATE ROLE ${user} LOGIN; REVOKE ALL ON SCHEMA public FROM PUBLIC${usage}`)
      const databaseUrl = Object.assign(new URL(place.databaseUrl ?? ''), { username: user }).href
      await assertRefused(
        { ...place, databaseUrl },
        /the user of DATABASE_URL may not make or use the tables.*OWNER TO/,
      )
      await runAt(place, `DROP OWNED BY ${user}; DROP ROLE ${user}`)
    }
  })
})
