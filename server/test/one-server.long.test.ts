import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { runCommand, startCommand } from './harness/command.ts'
import { makeStorePlace, onBothDatabases } from './harness/databases.ts'

const serve = ['serve', '--port', '0']
const app = '3000000000000001'

describe('an embedded store', () => {
  test('an embedded store has one server at a time, whichever way the one before it ended, and any number of commands beside it', async (t) => {
    const place = await makeStorePlace('sqlite')
    t.after(() => place.remove())
    const options = { env: { DATA_DIR: place.dataDir }, cwd: place.dataDir }
    const first = await startCommand(serve, options)
    t.after(() => first.stop('SIGKILL'))

    const refused = await runCommand(serve, options)
    assert.equal(refused.code, 1)
    assert.equal(refused.stdout, '')
    assert.match(
      refused.stderr,
      /^switchboard: another server is running on the embedded store in \S+: stop it, [^\n]+\n$/,
    )
    assert.equal((await fetch(`${first.url}/readyz`)).status, 200, 'the first goes on')

    for (const command of [
      ['token', 'create', '--app', app],
      ['token', 'list'],
      ['deliveries', 'list'],
      ['audit', 'list'],
      ['export'],
      ['migrate'],
      ['apply', new URL('../../worlds/demo.yaml', import.meta.url).pathname],
    ]) {
      const { code, stderr } = await runCommand(command, options)
      assert.equal(code, 0, `${command.join(' ')}: ${stderr}`)
    }
    const listening = await startCommand(['listen'], { ...options, ready: /(http:\S+)/ })
    assert.equal((await listening.stop('SIGINT')).code, 0)

    await first.stop('SIGKILL')
    const second = await startCommand(serve, options)
    t.after(() => second.stop('SIGKILL'))
    assert.equal((await fetch(`${second.url}/readyz`)).status, 200)
    assert.equal((await second.stop('SIGTERM')).code, 0)
    const third = await startCommand(serve, options)
    assert.equal((await third.stop('SIGTERM')).code, 0)
  })
})

onBothDatabases('a data folder', (engine) => {
  test('a data folder that the server makes is for nobody but its owner', async (t) => {
    const place = await makeStorePlace(engine)
    t.after(() => place.remove())
    const made = join(place.dataDir, 'made', 'data')
    const env = { DATA_DIR: made, ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }) }
    const server = await startCommand(serve, { env, cwd: place.dataDir })
    assert.equal((await server.stop('SIGTERM')).code, 0)
    for (const folder of [made, join(made, 'files'), join(made, 'uploads')]) {
      assert.equal((await stat(folder)).mode & 0o777, 0o700, folder)
    }
  })
})
