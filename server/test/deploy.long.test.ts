import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findProgram } from './harness/cluster/programs.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const file = (name: string) => join(root, 'deploy', name)

/** The examples, each checked by the program that would read it. `deploy.test.ts` checks what can be checked without these programs. */
describe('deploy/, by the programs themselves', () => {
  test('HAProxy takes haproxy.cfg', async () => {
    const { stdout, stderr } = await run(await findProgram('haproxy'), ['-c', '-f', file('haproxy.cfg')])
    assert.match(stdout, /Configuration file is valid/)
    const warnings = stderr.split('\n').filter((line) => line.includes('[WARNING]'))
    // The names of containers are known only there.
    for (const line of warnings) assert.match(line, /could not resolve address 'api[12]'/)
  })

  test('systemd takes the units', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const program = await findProgram('systemd-analyze', 'systemd')
    for (const [name, as] of [
      ['switchboard.service', 'switchboard.service'],
      ['switchboard@.service', 'switchboard@api.service'],
    ] as const) {
      // It looks for the programs that a unit starts.
      const unit = (await readFile(file(name), 'utf8')).replaceAll('/opt/switchboard', root)
      await writeFile(join(folder, as), unit)
      const { stdout, stderr } = await run(program, ['verify', join(folder, as)])
      assert.deepEqual(
        (stdout + stderr).split('\n').filter((line) => line.includes('switchboard')),
        [],
      )
    }
  })

  test('Prometheus takes alerts.yaml', async () => {
    const { stdout } = await run(await findProgram('promtool', 'prometheus'), ['check', 'rules', file('alerts.yaml')])
    assert.match(stdout, /SUCCESS: \d+ rules found/)
  })

  test('Compose takes compose.yaml', async () => {
    const variables = ['PUBLIC_URL', 'POSTGRES_PASSWORD', 'SECRETS_KEY', 'STORAGE_KEY', 'STORAGE_SECRET']
    const env = { ...process.env, ...Object.fromEntries(variables.map((name) => [name, 'x'])) }
    const args = ['-f', file('compose.yaml'), 'config', '-q']
    const { stderr } = await run(await findProgram('docker-compose'), args, { env })
    assert.equal(stderr, '')
  })

  test('a shell takes try-swift.sh', async () => {
    await run('sh', ['-n', file('try-swift.sh')])
  })
})
