import assert from 'node:assert/strict'
import { chmod, mkdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { systemRandom } from '../src/base/keys/random.ts'
import { makeSecretKey, writeSecretKey } from '../src/base/keys/secret-key.ts'
import { type Finished, runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace } from './harness/databases.ts'
import { testLong } from './harness/form.ts'
import { callsOf, optionsOf, rich, writeRichWorld } from './harness/rich-store.ts'
import { findSecrets } from './harness/secret-search.ts'

function assertRefused({ code, stdout, stderr }: Finished, message: RegExp): void {
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, message)
  assert.match(stderr, /^switchboard: [^\n]+\n$/, 'one line, without a stack')
}

describe('the keys of a store', () => {
  testLong(
    'a rotation takes the new key from the settings, and leaves the old one to be removed from them',
    async (t) => {
      const place = await makeMigratedPlace('postgres')
      t.after(() => place.remove())
      const [first, second] = [makeSecretKey(systemRandom), makeSecretKey(systemRandom)]
      const SECRETS_KEY = writeSecretKey(first)
      const options = optionsOf(place, { SECRETS_KEY })
      const outputs: string[] = []
      const run = async (args: readonly string[], env: Record<string, string>) => {
        const result = await runCommand(args, optionsOf(place, env))
        outputs.push(result.stdout, result.stderr)
        return result
      }
      const server = await startCommand(['serve', '--port', '0', '--world', await writeRichWorld(place)], options)
      outputs.push((await server.stop('SIGTERM')).stderr)
      const same = await run(['secrets', 'rotate'], { SECRETS_KEY })
      assert.equal(same.code, 1)
      assert.match(
        same.stderr,
        /^switchboard: the key of SECRETS_KEY is in use already: [^\n]+SECRETS_KEY_OLD[^\n]+\n$/,
      )

      const both = { SECRETS_KEY: first.key.export().toString('hex'), SECRETS_KEY_OLD: writeSecretKey(second) }
      const swapped = {
        SECRETS_KEY: writeSecretKey(second),
        SECRETS_KEY_OLD: `${SECRETS_KEY},${writeSecretKey(second)}`,
      }
      for (const env of [both, swapped]) {
        const serving = await startCommand(['serve', '--port', '0'], optionsOf(place, env))
        t.after(() => serving.stop('SIGKILL'))
        assert.equal((await callsOf(serving).send(`/v23.0/${rich.number}`)).status, 200)
        assert.match((await run(['secrets', 'list'], env)).stdout, new RegExp(`^${first.id} .* in use `, 'm'))
        if (env !== swapped) continue
        const rotated = await run(['secrets', 'rotate'], swapped)
        assert.equal(rotated.code, 0, rotated.stderr)
        assert.match(
          rotated.stdout,
          new RegExp(`needs the key ${first.id} no more\\. .* take it out of SECRETS_KEY_OLD`),
        )
        await callsOf(serving).createNumber('16315552009')
        outputs.push((await serving.stop('SIGTERM')).stderr)
      }
      const now = { SECRETS_KEY: writeSecretKey(second) }
      assert.match((await run(['export'], now)).stdout, new RegExp(`secret: ${rich.secret}`))
      assert.equal((await run(['export'], { SECRETS_KEY })).code, 1)
      const keys = [first, second].map((key) => ({ name: key.id, text: writeSecretKey(key) }))
      assert.deepEqual(findSecrets(Buffer.from(outputs.join('')), keys), [], 'no key is ever printed')
    },
  )

  test('the keys of a store must be the same for every process: another file of keys is refused in one line, and serves commands that need none', async (t) => {
    const place = await makeMigratedPlace('postgres')
    t.after(() => place.remove())
    const options = optionsOf(place)
    const applied = await runCommand(['apply', await writeRichWorld(place)], options)
    assert.equal(applied.code, 0, applied.stderr)
    const elsewhere = { ...place, dataDir: join(place.dataDir, 'elsewhere') }
    await mkdir(elsewhere.dataDir)
    const other = optionsOf(elsewhere)
    const locked =
      /need the key [0-9a-f]{16}, which is neither in SECRETS_KEY, SECRETS_KEY_OLD nor in \S+: give every process/
    assertRefused(await runCommand(['serve', '--port', '0'], other), locked)
    for (const args of [['export'], ['token', 'create', '--app', rich.app]]) {
      assertRefused(await runCommand(args, other), locked)
    }
    for (const args of [
      ['token', 'list'],
      ['secrets', 'list'],
    ]) {
      const { code, stdout, stderr } = await runCommand(args, other)
      assert.deepEqual([code, stderr], [0, ''], args.join(' '))
      if (args[0] === 'secrets') assert.match(stdout, / in use +missing$/m)
    }
    const { stdout: listed } = await runCommand(['secrets', 'list', '--json'], other)
    const { id, created_time, values, ...rest } = JSON.parse(listed)
    assert.deepEqual(rest, { state: 'in use', origin: null })
    assert.match(`${id} ${created_time} ${values}`, /^[0-9a-f]{16} \S+Z [1-9]\d*$/)
    const shared = { SECRETS_KEY_FILE: join(place.dataDir, 'secrets.key') }
    const server = await startCommand(['serve', '--port', '0'], optionsOf(elsewhere, shared))
    t.after(() => server.stop('SIGKILL'))
    assert.equal((await callsOf(server).send(`/v23.0/${rich.number}`)).status, 200)
  })

  test('the keys of a store are not made again when their file is lost, and are found again when it is put back', async (t) => {
    const place = await makeMigratedPlace('sqlite')
    t.after(() => place.remove())
    const options = optionsOf(place)
    await runCommand(['apply', await writeRichWorld(place)], options)
    const file = join(place.dataDir, 'secrets.key')
    await rename(file, `${file}.lost`)
    assertRefused(await runCommand(['serve', '--port', '0'], options), /put back the file that was lost/)
    await assert.rejects(stat(file), 'nothing was made in its place')
    await rename(`${file}.lost`, file)
    await chmod(file, 0o644)
    const server = await startCommand(['serve', '--port', '0'], options)
    t.after(() => server.stop('SIGKILL'))
    assert.equal((await callsOf(server).send(`/v23.0/${rich.number}`)).status, 200)
    await server.shows(/"mode":"0644","msg":"others on this machine could read the key file; its mode is 0600 now"/)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    await server.stop('SIGTERM')

    await t.test('a secret of the service that was altered is told in one line', async () => {
      const database = new DatabaseSync(join(place.dataDir, 'switchboard.db'))
      const other = database.prepare("SELECT value FROM service_secrets WHERE name = 'links'").get()?.['value']
      database.prepare("UPDATE service_secrets SET value = ? WHERE name = 'cursors'").run(String(other))
      database.close()
      assertRefused(
        await runCommand(['serve', '--port', '0'], options),
        /service_secrets\.value of cursors cannot be opened: it was altered in the database, or belongs to another row/,
      )
    })
  })

  test('the keys of a store are made by a command, and refused without being repeated', async (t) => {
    const place = await makeMigratedPlace('sqlite')
    t.after(() => place.remove())
    const made = await runCommand(['secrets', 'generate-key'], optionsOf(place))
    assert.match(made.stdout, /^[\w+/]{43}=\n$/)
    const SECRETS_KEY = `${made.stdout.trim()}x`
    const refused = await runCommand(['token', 'list'], optionsOf(place, { SECRETS_KEY }))
    assertRefused(refused, /SECRETS_KEY is not usable; it must be 32 bytes in base64 or hexadecimal/)
    assert.deepEqual(findSecrets(Buffer.from(refused.stderr), [{ name: 'key', text: made.stdout.trim() }]), [])
    const taken = await runCommand(
      ['apply', await writeRichWorld(place)],
      optionsOf(place, { SECRETS_KEY: made.stdout.trim() }),
    )
    assert.equal(taken.code, 0, taken.stderr)
    await assert.rejects(readFile(join(place.dataDir, 'secrets.key')), 'no file where the settings have a key')
  })
})
