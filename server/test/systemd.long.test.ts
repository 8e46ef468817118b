// The units of deploy/ under a systemd that was booted for them, with the package installed by the command of docs/running.md.
import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { packWorkspaces, runNpm } from '../../sdk/test/harness-pack.ts'
import { type BootedSystem, bootSystem } from './harness/deploy/booted-system.ts'
import { until } from './harness/until.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const url = 'http://127.0.0.1:8080'

describe('switchboard.service', () => {
  let folder: string
  let packed: { folder: string; tarballs: string[] }
  let system: BootedSystem

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-systemd-'))
    // The user of the service reads its program there.
    await chmod(folder, 0o755)
    packed = await packWorkspaces(['server'])
    const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const node = `node-${process.platform}-${process.arch}@${dependencies.node}`
    await runNpm(['install', '--prefix', folder, '--loglevel=error', ...packed.tarballs, node], folder)
    const settings = join(folder, 'switchboard.env')
    await writeFile(settings, `PUBLIC_URL=${url}\n`)
    system = await bootSystem({
      '/opt/switchboard': folder,
      '/etc/switchboard.env': settings,
      '/etc/systemd/system/switchboard.service': join(root, 'deploy', 'switchboard.service'),
    })
    await system.run('useradd', '--system', '--shell', '/usr/sbin/nologin', 'switchboard')
    await system.run('ip', 'link', 'set', 'lo', 'up')
  })
  after(async () => {
    await system?.stop()
    for (const one of [folder, packed?.folder]) if (one) await rm(one, { recursive: true, force: true })
  })

  const show = async (property: string) => (await system.run('systemctl', 'show', '-P', property, 'switchboard')).trim()
  const get = (path: string) => system.run('curl', '--silent', '--fail', `${url}${path}`)
  const readJournal = () => system.run('journalctl', '--unit=switchboard', '--output=json', '--no-pager')

  test('is started when it listens, and says so', async () => {
    await system.run('systemctl', 'start', 'switchboard')
    assert.deepEqual(JSON.parse(await get('/readyz')), { status: 'ready' })
    assert.deepEqual([await show('ActiveState'), await show('StatusText')], ['active', `listening on ${url}`])
  })

  test('is started again when it is killed', async () => {
    await system.run('systemctl', 'kill', '--signal=SIGKILL', '--kill-whom=main', 'switchboard')
    await until(async () => (await show('NRestarts')) === '1' && (await show('ActiveState')) === 'active', 'it is back')
    assert.deepEqual(JSON.parse(await get('/readyz')), { status: 'ready' })
  })

  test('is kept by its watchdog while its event loop turns, and started again when that stands still', async () => {
    await system.run('mkdir', '-p', '/run/systemd/system/switchboard.service.d')
    const text = '[Service]\nWatchdogSec=3\n'
    await system.run('sh', '-c', `printf '${text}' > /run/systemd/system/switchboard.service.d/short.conf`)
    await system.run('systemctl', 'daemon-reload')
    await system.run('systemctl', 'restart', 'switchboard')
    const first = await show('WatchdogTimestamp')
    await until(async () => (await show('WatchdogTimestamp')) !== first, 'it gives a sign of life')
    const pid = await show('MainPID')
    await system.run('kill', '-STOP', pid)
    await until(
      async () => !['0', pid].includes(await show('MainPID')) && (await show('ActiveState')) === 'active',
      'it is back',
    )
    assert.match(await readJournal(), /Failed with result 'watchdog'/)
  })

  test('stops cleanly, logs JSON, and leaves its data to its user alone', async () => {
    await system.run('systemctl', 'stop', 'switchboard')
    assert.deepEqual([await show('ActiveState'), await show('Result')], ['inactive', 'success'])
    const lines = (await readJournal())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const own = lines.filter(({ SYSLOG_IDENTIFIER }) => SYSLOG_IDENTIFIER !== 'systemd').map(({ MESSAGE }) => MESSAGE)
    const logged = own.filter((line) => !line.startsWith('switchboard listening on ')).map((line) => JSON.parse(line))
    assert.equal(logged.at(-1).msg, 'stopped')
    assert.deepEqual(
      logged.filter(({ level }) => level > 30),
      [],
    )
    assert.equal(await system.run('stat', '--format=%U %a', '/var/lib/switchboard'), 'switchboard 700\n')
  })
})
