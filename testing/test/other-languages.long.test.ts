import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

/** Debian's, which has the package pytest; another Python on the path may not. */
const python = '/usr/bin/python3'

/** Installs a package of Debian where its program does not work yet. */
async function need(packageName: string, program: string, ...args: string[]): Promise<void> {
  await run(program, args).catch(() => run('apt-get', ['install', '--yes', packageName]))
}

for (const { language, packageName, check, command } of [
  {
    language: 'python',
    packageName: 'python3-pytest',
    check: [python, '-m', 'pytest', '--version'],
    command: [python, '-m', 'pytest', '-p', 'no:cacheprovider'],
  },
  { language: 'go', packageName: 'golang-go', check: ['go', 'version'], command: ['go', 'test', '-count=1', './...'] },
] as const) {
  test(`the example in ${language} passes`, async (t) => {
    const [program, ...args] = check
    await need(packageName, program, ...args)
    const cache = await mkdtemp(join(tmpdir(), 'switchboard-languages-'))
    t.after(() => rm(cache, { recursive: true, force: true }))
    const env = {
      ...process.env,
      ...{ SWITCHBOARD_COMMAND: join(root, 'switchboard'), PYTHONDONTWRITEBYTECODE: '1', GOCACHE: cache },
    }
    const [runner, ...rest] = command
    const { stdout } = await run(runner, rest, { cwd: join(root, 'testing/examples', language), env })
    assert.match(stdout, language === 'go' ? /^ok\s/m : /\b1 passed\b/)
  })
}
