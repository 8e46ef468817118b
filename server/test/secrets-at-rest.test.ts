import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, onOneDatabase, openPlace, unlockPlace } from './harness/databases.ts'
import { checkSecretsAtWork, makeRichStore, optionsOf, rich } from './harness/rich-store.ts'
import { findSecrets, openEverything, readStolenBytes, splitLines } from './harness/secret-search.ts'

onOneDatabase('a stolen database', 'postgres', (engine) => {
  test('a stolen database gives away no token, secret, code, PIN or key, and everything works for whoever has the key', async (t) => {
    const place = await makeMigratedPlace(engine)
    const store = await makeRichStore(t, place, { listener: true })
    const database = await openPlace(place)
    t.after(async () => {
      await database.close()
      await place.remove()
    })
    await unlockPlace(place, database)
    const sealed = await openEverything(database)
    const columns = new Set(sealed.map(({ name }) => name.split(' of ')[0]))
    assert.deepEqual(
      [...columns].sort(),
      [
        'app_subscriptions.verify_token',
        'apps.previous_secret',
        'apps.secret',
        'carrier_messages.code',
        'listeners.record',
        'service_secrets.value',
        'signing_keys.private_key',
        'subscribed_apps.verify_token',
        'timers.secret',
        'two_step_pins.pin_hash',
      ],
      'every kind of secret is there',
    )
    assert.ok(sealed.some(({ text }) => text.startsWith('-----BEGIN PRIVATE KEY-----')))
    const keyFile = await readFile(join(place.dataDir, 'secrets.key'), 'utf8')
    const secrets = splitLines([...store.secrets, ...sealed, { name: 'the key file', text: keyFile }])
    assert.ok(secrets.length > 25, String(secrets.length))
    assert.deepEqual(findSecrets(await readStolenBytes(place, database), secrets), [])

    await t.test('a search that finds nothing would find one that is there', async () => {
      for (const { text } of [...store.secrets, ...splitLines(sealed)]) {
        await database.transaction(({ query }) =>
          query
            .updateTable('accounts')
            .set({ name: `planted ${text}` })
            .where('id', '=', rich.account)
            .execute(),
        )
        assert.notDeepEqual(findSecrets(await readStolenBytes(place, database), [{ name: 'planted', text }]), [], text)
      }
    })

    await t.test('commands open what they need', async () => {
      const options = optionsOf(place)
      const exported = await runCommand(['export'], options)
      assert.match(exported.stdout, new RegExp(`secret: ${store.newSecret}\n`))
      const restored = await runCommand(['listen', '--restore'], options)
      assert.match(restored.stderr, /has its callback and links back/)
    })

    await t.test('a server opens what it needs, and logs nothing of it', async () => {
      const server = await startCommand(['serve', '--port', '0'], optionsOf(place))
      t.after(() => server.stop('SIGKILL'))
      await checkSecretsAtWork(server, store)
      const { stderr } = await server.stop('SIGTERM')
      assert.deepEqual(findSecrets(Buffer.from(stderr), secrets), [])
    })
  })
})
