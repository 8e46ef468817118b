import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Engine, makeMigratedStore, onBothDatabases } from '../../../test/harness/databases.ts'
import { readKeyFile, replaceKeyFile } from '../../base/keys/key-file.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { makeSecretKey, type SecretKey } from '../../base/keys/secret-key.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Database } from '../database.ts'
import type { Sealed } from '../tables.ts'
import { countSealed, rotateKeys } from './rotation.ts'
import { sealSecret, takeSeal } from './sealing.ts'
import { serviceSecret } from './stored-secrets.ts'
import { listSealingKeys } from './unlock.ts'

/** A store with a new key at hand that nothing is sealed with yet. */
async function makeStore(t: TestContext, engine: Engine): Promise<{ database: Database; key: SecretKey }> {
  const { place, database } = await makeMigratedStore(engine, systemClock)
  t.after(async () => {
    await database.close()
    await place.remove()
  })
  const file = join(place.dataDir, 'secrets.key')
  const key = makeSecretKey(systemRandom)
  replaceKeyFile(file, systemRandom, [key, ...(readKeyFile(file)?.keys ?? [])])
  return { database, key }
}

async function readStates(database: Database): Promise<[id: string, in_use: boolean][]> {
  return (await listSealingKeys(database.read)).map(({ id, in_use }) => [id, in_use])
}

const setValue = (database: Database, name: string, value: Sealed) =>
  database.transaction(({ query }) =>
    query.updateTable('service_secrets').set({ value }).where('name', '=', name).execute(),
  )

onBothDatabases('a rotation of keys', (engine) => {
  test('a rotation of keys leaves a value that was altered as it is, says where it is, and keeps its key until it is put right', async (t) => {
    const { database, key } = await makeStore(t, engine)
    const [good, altered] = [
      await serviceSecret(database, systemRandom, 'good'),
      await serviceSecret(database, systemRandom, 'altered'),
    ]
    const [[oldId = ''] = []] = await readStates(database)
    const rows = await database.read.query.selectFrom('service_secrets').selectAll().execute()
    await setValue(database, 'altered', rows.find(({ name }) => name === 'good')?.value as Sealed)

    const first = await rotateKeys(database, { clock: systemClock, chooseKey: () => key })
    assert.deepEqual(first.unreadable, ['service_secrets.value of altered'])
    assert.deepEqual(first.retired, [])
    assert.deepEqual(await readStates(database), [
      [key.id, true],
      [oldId, false],
    ])
    assert.equal(await serviceSecret(database, systemRandom, 'good'), good)
    await assert.rejects(
      serviceSecret(database, systemRandom, 'altered'),
      /service_secrets\.value of altered cannot be opened/,
    )

    await setValue(
      database,
      'altered',
      await database.transaction((tx) => sealSecret(tx, 'service_secrets.value', 'altered', altered)),
    )
    const second = await rotateKeys(database, { clock: systemClock, chooseKey: () => key })
    assert.deepEqual([second.values, second.unreadable, second.retired], [0, [], [oldId]])
    assert.equal(await serviceSecret(database, systemRandom, 'altered'), altered)
  })

  test('a rotation of keys waits for whoever seals with the old key at that moment, and finds what they sealed', async (t) => {
    const { database, key } = await makeStore(t, engine)
    const [[oldId = ''] = []] = await readStates(database)
    const sealing = Promise.withResolvers<void>()
    const rotating = Promise.withResolvers<void>()
    const late = database.transaction(async (tx) => {
      const seal = await takeSeal(tx)
      sealing.resolve()
      await rotating.promise
      const value = seal('service_secrets.value', 'late', 'sealed late')
      await tx.query.insertInto('service_secrets').values({ name: 'late', value }).execute()
    })
    await sealing.promise
    const rotation = rotateKeys(database, { clock: systemClock, chooseKey: () => key })
    // However far it may have come by now, the key in use is still the old one.
    for (let turns = 0; turns < 20; turns++)
      await database.read.query.selectFrom('nodes').select('id').limit(1).execute()
    assert.deepEqual(await readStates(database), [[oldId, true]])
    rotating.resolve()
    await late
    assert.deepEqual((await rotation).retired, [oldId])
    assert.equal(await countSealed(database.read, oldId), 0)
    assert.equal(await serviceSecret(database, systemRandom, 'late'), 'sealed late')
  })

  test('a rotation of keys lets whoever comes after it seal with the new key, also in the middle of it', async (t) => {
    const { database, key } = await makeStore(t, engine)
    const [[oldId = ''] = []] = await readStates(database)
    for (let index = 0; index < 20; index++) await serviceSecret(database, systemRandom, `before-${index}`)
    const made: Promise<string>[] = []
    const onBatch = () => made.push(serviceSecret(database, systemRandom, `meanwhile-${made.length}`))
    await rotateKeys(database, { clock: systemClock, chooseKey: () => key, onBatch })
    await Promise.all(made)
    assert.ok(made.length > 0)
    assert.equal(await countSealed(database.read, oldId), 0)
    assert.deepEqual(await readStates(database), [[key.id, true]])
  })
})
