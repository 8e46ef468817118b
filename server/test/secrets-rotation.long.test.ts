import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countSealed } from '../src/db/secrets/rotation.ts'
import { runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, onBothDatabases, openPlace, unlockPlace } from './harness/databases.ts'
import { callsOf, checkSecretsAtWork, makeRichStore, optionsOf, rich } from './harness/rich-store.ts'
import { addValues, readKeyIds, readStoreKeyIds } from './harness/sealed-values.ts'
import { findSecrets, openEverything, readAllBytes } from './harness/secret-search.ts'

onBothDatabases('secrets rotate', (engine) => {
  test('secrets rotate seals everything anew beside a server that goes on, and leaves nothing of the old key', async (t) => {
    const place = await makeMigratedPlace(engine)
    const store = await makeRichStore(t, place, { listener: false })
    const database = await openPlace(place)
    t.after(async () => {
      await database.close()
      await place.remove()
    })
    await unlockPlace(place, database)
    await addValues(database, 1200)
    const options = optionsOf(place)
    const [oldId = ''] = await readKeyIds(place)
    const sealed = await openEverything(database)

    const server = await startCommand(['serve', '--port', '0'], options)
    t.after(() => server.stop('SIGKILL'))
    await checkSecretsAtWork(server, store)
    const call = callsOf(server)
    let isOver = false
    let calls = 0
    const goOn = async (): Promise<void> => {
      for (; !isOver; calls++) {
        await call.post(`${rich.number}/request_code`, { code_method: 'SMS', language: 'en_US' }).catch(() => undefined)
        assert.equal((await call.codes('16315552001'))[0], store.waiting.code)
      }
    }
    const going = goOn()
    const rotated = await runCommand(['secrets', 'rotate'], options)
    isOver = true
    await going
    assert.equal(rotated.code, 0, rotated.stderr)
    assert.ok(calls > 0)
    const [newId = '', ...others] = await readKeyIds(place)
    assert.deepEqual(others, [oldId], 'the old key stays in the file for backups')
    assert.notEqual(newId, oldId)
    const [, id, count] =
      /^Secrets are sealed with the key (\w+)\. Values sealed anew: (\d+)\./.exec(rotated.stdout) ?? []
    assert.equal(id, newId)
    assert.ok(Number(count) >= 1200, count)

    assert.deepEqual(await readStoreKeyIds(database), [newId])
    assert.equal(await countSealed(database.read, oldId), 0)
    const bytes = await readAllBytes(place, database)
    assert.ok(!bytes.includes(`s1:${oldId}:`), 'nor in the free space of the files')
    assert.ok(bytes.includes(`s1:${newId}:`))
    assert.deepEqual(findSecrets(bytes, store.secrets), [])
    const after = new Map((await openEverything(database)).map(({ name, text }) => [name, text]))
    for (const { name, text } of sealed) assert.equal(after.get(name), text, name)

    await checkSecretsAtWork(server, store)
  })
})
