import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Sealed } from '../src/db/tables.ts'
import { runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, onBothDatabases, openPlace } from './harness/databases.ts'
import { makeRichStore, optionsOf, rich, writeRichWorld } from './harness/rich-store.ts'

onBothDatabases('secrets reset', (engine) => {
  test('secrets reset opens a store whose key is lost, with new secrets, and says what was lost', async (t) => {
    const place = await makeMigratedPlace(engine)
    t.after(() => place.remove())
    const options = optionsOf(place)
    const store = await makeRichStore(t, place, { listener: true })
    const run = (...args: string[]) => runCommand(args, options)
    const refused = await run('secrets', 'reset', '--yes')
    assert.match(refused.stderr, /^switchboard: no key is lost: [^\n]+\n$/)

    const file = join(place.dataDir, 'secrets.key')
    await rename(file, `${file}.lost`)
    assert.equal((await run('serve', '--port', '0')).code, 1)
    const asked = await run('secrets', 'reset')
    assert.deepEqual([asked.code, asked.stdout], [1, ''])
    assert.match(asked.stderr, /^switchboard: the key [0-9a-f]{16} is lost, and with it [1-9]\d* values [^\n]+--yes\n$/)
    assert.match((await run('secrets', 'list')).stdout, / missing$/m, 'asking changes nothing')

    const { code, stdout, stderr } = await run('secrets', 'reset', '--yes')
    assert.equal(code, 0, stderr)
    const [, secret = ''] = new RegExp(`^${rich.app} ([0-9a-f]{64})$`, 'm').exec(stdout) ?? []
    assert.notEqual(secret, '')
    assert.ok(stdout.split('\n').every((line) => line === '' || /^\d+ [0-9a-f]{64}$/.test(line)))
    for (const pattern of [
      /^Revoked: all \d+ tokens\./m,
      /^Verify tokens lost: of apps 3000000000000001/m,
      /^Verify tokens of overrides lost: of apps 3000000000000001 for account 1000000000000001/m,
      /^PINs lost: of \d+ numbers/m,
      /^Verification codes lost: of \d+ numbers/m,
      /^Somebody listened in the place of apps 3000000000000001/m,
      /^The signing key is a new one; it has signed 1 public keys/m,
    ]) {
      assert.match(stderr, pattern)
    }
    const listed = (await run('secrets', 'list')).stdout.trim().split('\n')
    assert.equal(listed.length, 2, 'the store needs the new key alone')
    assert.match((await run('export')).stdout, new RegExp(`secret: ['"]?${secret}`))

    const server = await startCommand(['serve', '--port', '0'], options)
    t.after(() => server.stop('SIGTERM'))
    const read = (token: string, path: string) =>
      fetch(`${server.url}/v23.0/${path}`, { headers: { authorization: `Bearer ${token}` } })
    for (const token of [rich.token, store.madeToken]) assert.equal((await read(token, rich.number)).status, 401)
    const token = (await run('token', 'create', '--app', rich.app)).stdout.trim()
    assert.equal((await read(token, rich.number)).status, 200)
    const key = await (await read(token, `${rich.number}/msgapp_business_encryption`)).json()
    assert.match(JSON.stringify(key), /"VALID"/)
    const running = await run('secrets', 'reset', '--yes')
    assert.match(running.stderr, /^switchboard: no key is lost/)
  })

  test('secrets reset gives up what the lost one of two keys sealed, and nothing else', async (t) => {
    const place = await makeMigratedPlace(engine)
    t.after(() => place.remove())
    const options = optionsOf(place)
    const applied = await runCommand(['apply', await writeRichWorld(place)], options)
    assert.equal(applied.code, 0, applied.stderr)
    const database = await openPlace(place)
    await database.transaction(async ({ query }) => {
      const id = '0123456789abcdef'
      await query
        .insertInto('sealing_keys')
        .values({ id, in_use: false, has_remains: false, created_time: 1 })
        .execute()
      const previous_secret = `s1:${id}:${'A'.repeat(60)}` as unknown as Sealed
      const until = { previous_secret_until: Date.now() + 3_600_000 }
      await query
        .updateTable('apps')
        .set({ previous_secret, ...until })
        .where('id', '=', rich.app)
        .execute()
    })
    await database.close()
    assert.match(
      (await runCommand(['secrets', 'reset'], options)).stderr,
      /0123456789abcdef is lost, and with it 1 values/,
    )
    const { code, stdout, stderr } = await runCommand(['secrets', 'reset', '--yes'], options)
    assert.deepEqual([code, stdout], [0, ''], 'the app keeps its secret')
    assert.doesNotMatch(stderr, /Revoked|lost:|signing key/)
    assert.match((await runCommand(['export'], options)).stdout, new RegExp(`secret: ${rich.secret}`))
    const server = await startCommand(['serve', '--port', '0'], options)
    t.after(() => server.stop('SIGTERM'))
    const headers = { authorization: `Bearer ${rich.token}` }
    assert.equal((await fetch(`${server.url}/v23.0/${rich.number}`, { headers })).status, 200)
  })
})

test('secrets reset is refused while a server runs that may still have the key, on an embedded store', async (t) => {
  const place = await makeMigratedPlace('sqlite')
  t.after(() => place.remove())
  const options = optionsOf(place)
  const server = await startCommand(['serve', '--port', '0'], options)
  t.after(() => server.stop('SIGTERM'))
  const file = join(place.dataDir, 'secrets.key')
  await rename(file, `${file}.lost`)
  const { code, stderr } = await runCommand(['secrets', 'reset', '--yes'], options)
  assert.equal(code, 1)
  assert.match(stderr, /^switchboard: a server runs on this store, and may still have the key: stop it first\n$/)
})
