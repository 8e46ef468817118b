import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import {
  makeStorePlace,
  onOneDatabase,
  openPlace,
  type StorePlace,
  unlockPlace,
} from '../../../test/harness/databases.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { makeSecretKey, parseSecretKey } from '../../base/keys/secret-key.ts'
import { silentLog } from '../../base/log/log.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Database } from '../database.ts'
import { migrate } from '../schema/migrate.ts'
import { readMigrations } from '../schema/migrations.ts'
import type { Sealed } from '../tables.ts'
import { openSecret } from './sealing.ts'
import { serviceSecret } from './stored-secrets.ts'
import { eraseRemains, listSealingKeys, unlockSecrets } from './unlock.ts'

/** A store as it was before secrets were sealed, with these secrets of the service. */
async function makeOldStore(place: StorePlace, secrets: Readonly<Record<string, string>>): Promise<Database> {
  const database = await openPlace(place)
  const before = readMigrations().filter(({ name }) => name < '018')
  await migrate(database, systemClock, { migrations: before })
  await database.transaction(async ({ query }) => {
    for (const [name, value] of Object.entries(secrets)) {
      await sql`INSERT INTO service_secrets (name, value) VALUES (${name}, ${value})`.execute(query)
    }
  })
  await migrate(database, systemClock)
  return database
}

async function readValue(database: Database, name: string): Promise<Sealed> {
  const find = database.read.query.selectFrom('service_secrets').select('value').where('name', '=', name)
  return (await find.executeTakeFirstOrThrow()).value
}

onOneDatabase('unlocking a store', 'sqlite', (engine) => {
  test('unlocking a store seals what looks sealed already and is not', async (t) => {
    const place = await makeStorePlace(engine)
    const lookAlike = `s1:0123456789abcdef:${'A'.repeat(60)}`
    const database = await makeOldStore(place, { cursors: 'plain', links: lookAlike, empty: '' })
    t.after(async () => {
      await database.close()
      await place.remove()
    })
    await unlockPlace(place, database)
    for (const [name, text] of [
      ['cursors', 'plain'],
      ['links', lookAlike],
      ['empty', ''],
    ] as const) {
      const value = await readValue(database, name)
      assert.notEqual(String(value), text)
      assert.equal(openSecret(database.read, 'service_secrets.value', name, value), text)
      assert.equal(await serviceSecret(database, systemRandom, name), text)
    }
  })

  test('unlocking a store happens once when several processes start together, with one key', async (t) => {
    const place = await makeStorePlace(engine)
    const first = await makeOldStore(place, { cursors: 'plain' })
    const all = [first, await openPlace(place), await openPlace(place)]
    t.after(async () => {
      for (const database of all) await database.close()
      await place.remove()
    })
    await Promise.all(all.map((database) => unlockPlace(place, database)))
    const [key, ...others] = await listSealingKeys(first.read)
    assert.deepEqual(others, [])
    const lines = (await readFile(join(place.dataDir, 'secrets.key'), 'utf8')).split('\n')
    assert.deepEqual(
      lines.flatMap((line) => parseSecretKey(line)?.id ?? []),
      [key?.id],
    )
    for (const database of all) assert.equal(await serviceSecret(database, systemRandom, 'cursors'), 'plain')
  })

  test('unlocking a store that could not erase what was in clear says so, and the next start does it', async (t) => {
    const place = await makeStorePlace(engine)
    const database = await makeOldStore(place, { cursors: 'plain' })
    t.after(async () => {
      await database.close()
      await place.remove()
    })
    const full = { ...database, scrub: () => Promise.reject(new Error('database or disk is full')) }
    await unlockPlace(place, full)
    assert.deepEqual(
      (await listSealingKeys(database.read)).map(({ has_remains }) => has_remains),
      [true],
    )
    assert.equal(await eraseRemains(full, silentLog), false)
    await unlockPlace(place, database)
    assert.deepEqual(
      (await listSealingKeys(database.read)).map(({ has_remains }) => has_remains),
      [false],
    )
  })

  test('unlocking a store that fails halfway leaves everything in clear, to be done wholly the next time', async (t) => {
    const place = await makeStorePlace(engine)
    const database = await makeOldStore(place, { cursors: 'plain' })
    t.after(async () => {
      await database.close()
      await place.remove()
    })
    const source = { current: makeSecretKey(systemRandom), old: [], file: join(place.dataDir, 'secrets.key') }
    let draws = 0
    const random = {
      ...systemRandom,
      bytes: (length: number) => {
        if (++draws > 2) throw new Error('killed')
        return systemRandom.bytes(length)
      },
    }
    await assert.rejects(unlockSecrets(database, { source, clock: systemClock, random, log: silentLog }), /killed/)
    assert.equal(String(await readValue(database, 'cursors')), 'plain')
    assert.deepEqual(await listSealingKeys(database.read), [])
    await unlockSecrets(database, { source, clock: systemClock, random: systemRandom, log: silentLog })
    assert.equal(await serviceSecret(database, systemRandom, 'cursors'), 'plain')
  })
})
