import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemRandom } from '../src/base/keys/random.ts'
import { makeSecretKey, writeSecretKey } from '../src/base/keys/secret-key.ts'
import { countSealed } from '../src/db/secrets/rotation.ts'
import { killCommand, runCommand, startCommand } from './harness/command.ts'
import { makeStorePlace, onBothDatabases, openPlace, unlockPlace } from './harness/databases.ts'
import { callsOf, optionsOf, rich, writeRichWorld } from './harness/rich-store.ts'
import { addValues, readKeyIds, readStoreKeyIds } from './harness/sealed-values.ts'
import { openEverything } from './harness/secret-search.ts'
import { until } from './harness/until.ts'

onBothDatabases('a rotation of keys', (engine) => {
  test('a rotation of keys that was killed goes on the next time; until then both keys are needed and known', async (t) => {
    const place = await makeStorePlace(engine)
    const options = optionsOf(place)
    const applied = await runCommand(['apply', await writeRichWorld(place)], options)
    assert.equal(applied.code, 0, applied.stderr)
    const database = await openPlace(place)
    t.after(async () => {
      await database.close()
      await place.remove()
    })
    await unlockPlace(place, database)
    await addValues(database, 5000)
    const [oldId = ''] = await readStoreKeyIds(database)
    const total = await countSealed(database.read, oldId)

    const isHalfway = async () => (await countSealed(database.read, oldId)) < total - 1000
    await killCommand(['secrets', 'rotate'], options, until(isHalfway, 'some values are sealed anew'))
    const left = await countSealed(database.read, oldId)
    assert.ok(left > 0 && left < total, `${left} of ${total}`)
    const [newId = '', ...rest] = await readStoreKeyIds(database)
    assert.deepEqual(rest, [oldId])
    assert.deepEqual(await readKeyIds(place), [newId, oldId])
    const listed = await runCommand(['secrets', 'list'], options)
    assert.match(listed.stdout, new RegExp(`^${newId} .* ${total - left} +in use +\\S+\\.key$`, 'm'))
    assert.match(listed.stdout, new RegExp(`^${oldId} .* ${left} +being replaced +\\S+\\.key$`, 'm'))

    const exported = await runCommand(['export'], options)
    assert.match(exported.stdout, new RegExp(`secret: ${rich.secret}`))
    const server = await startCommand(['serve', '--port', '0'], options)
    assert.equal((await callsOf(server).send(`/v23.0/${rich.app}/subscriptions`)).status, 200)
    await server.stop('SIGTERM')

    const again = await runCommand(['secrets', 'rotate'], options)
    assert.equal(again.code, 0, again.stderr)
    assert.match(
      again.stdout,
      new RegExp(`sealed with the key ${newId}\\. Values sealed anew: (${left}|${left + 1}|${left + 2})\\.`),
    )
    assert.deepEqual([await readStoreKeyIds(database), await readKeyIds(place)], [[newId], [newId, oldId]])
    const opened = await openEverything(database)
    assert.equal(opened.filter(({ name, text }) => name.endsWith(`many-${text.slice(5)}`)).length, 5000)

    await t.test('one that was killed when its key was in the file alone takes that key', async () => {
      const written = makeSecretKey(systemRandom)
      const file = join(place.dataDir, 'secrets.key')
      await writeFile(file, `${writeSecretKey(written)}\n${await readFile(file, 'utf8')}`)
      const third = await runCommand(['secrets', 'rotate'], options)
      assert.match(third.stdout, new RegExp(`^Secrets are sealed with the key ${written.id}\\.`), third.stderr)
      assert.deepEqual(await readStoreKeyIds(database), [written.id])
      assert.deepEqual(await readKeyIds(place), [written.id, newId, oldId])
    })

    await t.test('two at the same moment end with a store that opens', async () => {
      const both = await Promise.all([1, 2].map(() => runCommand(['secrets', 'rotate'], options)))
      for (const { code, stderr } of both) assert.equal(code, 0, stderr)
      const [id, ...others] = await readStoreKeyIds(database)
      assert.deepEqual([others, (await readKeyIds(place))[0]], [[], id])
      assert.equal((await openEverything(database)).length, opened.length)
    })
  })
})
