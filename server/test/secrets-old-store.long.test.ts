import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { listSealingKeys } from '../src/db/secrets/unlock.ts'
import { runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, onBothDatabases, openPlace, unlockPlace } from './harness/databases.ts'
import { checkSecretsAtWork, makeRichStore, optionsOf, rich } from './harness/rich-store.ts'
import { findSecrets, openEverything, readAllBytes, splitLines } from './harness/secret-search.ts'
import { unsealStore } from './harness/unseal.ts'
import { until } from './harness/until.ts'

onBothDatabases('a store of a version that kept secrets in clear', (engine) => {
  test('a store of a version that kept secrets in clear is sealed at the next start: nothing is in clear any more, and everything works', async (t) => {
    const place = await makeMigratedPlace(engine)
    const store = await makeRichStore(t, place, { listener: true })
    const database = await openPlace(place)
    t.after(async () => {
      await database.close()
      await place.remove()
    })
    await unlockPlace(place, database)
    const sealed = splitLines(await openEverything(database))
    await unsealStore(database, [rich.token, rich.gatewayToken, store.madeToken])
    await rm(join(place.dataDir, 'secrets.key'))
    // What were keys of hashes when the store was filled will be others.
    const secrets = [...store.secrets, ...sealed.filter(({ name }) => !name.endsWith('hashes'))]
    const before = new Set(findSecrets(await readAllBytes(place, database), secrets))
    for (const { name } of sealed) if (!name.endsWith('hashes')) assert.ok(before.has(`${name} (plain)`), name)
    assert.ok(before.has(`${rich.token} (SHA-256 in hexadecimal)`))

    const server = await startCommand(['serve', '--port', '0'], optionsOf(place, { LOG_LEVEL: 'info' }))
    t.after(() => server.stop('SIGKILL'))
    await server.shows(/"values":\d+,"msg":"the secrets of the store were in clear, and are sealed now"/)
    await until(async () => {
      const keys = await listSealingKeys(database.read)
      return keys.length > 0 && !keys.some(({ has_remains }) => has_remains)
    }, 'the free space was erased')
    assert.deepEqual(findSecrets(await readAllBytes(place, database), secrets), [])
    assert.doesNotMatch(server.stderr(), /may still be in the files/)
    const restored = await runCommand(['listen', '--restore'], optionsOf(place))
    assert.match(restored.stderr, /has its callback and links back/)
    await checkSecretsAtWork(server, store)
    assert.deepEqual(findSecrets(Buffer.from(server.stderr()), secrets), [])
  })
})
