import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../../test/harness/until.ts'
import { silentLog } from '../../base/log/log.ts'
import { minute } from '../../base/time/duration.ts'
import { findServiceManager } from './service-manager.ts'

test('a service manager that takes messages slowly hears of a stop next, not after signs of life that it missed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-notify-'))
  t.after(() => rm(folder, { recursive: true }))
  const [program, taken, gate] = ['systemd-notify', 'taken', 'gate'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  // Ends when somebody opens the gate, as the real one does when systemd has read the message.
  await writeFile(program, `#!/bin/sh\necho "$1" >> ${taken}\nwhile [ ! -e ${gate} ]; do sleep 0.02; done\n`, {
    mode: 0o755,
  })
  const environment = {
    NOTIFY_SOCKET: join(folder, 'socket'),
    PATH: `${folder}:${process.env['PATH']}`,
    WATCHDOG_USEC: '3000000',
  }
  const manager = findServiceManager(environment, silentLog)
  const readTaken = async () => (await readFile(taken, 'utf8').catch(() => '')).split('\n').filter(Boolean)
  t.mock.timers.enable({ apis: ['setInterval'] })
  manager.ready('http://127.0.0.1:1')
  await until(async () => (await readTaken()).length === 1, 'the first message is under way')
  // Dozens of signs of life are due meanwhile.
  t.mock.timers.tick(minute)
  manager.stopping()
  await writeFile(gate, '')
  await manager.close()
  assert.deepEqual(await readTaken(), ['READY=1', 'STOPPING=1'])
})
