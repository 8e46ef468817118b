// What a developer types first in a clone, with the real packages: it takes npm's registry, or its cache.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { collect, root, run, saidOfInstall } from './sample-project.ts'

describe('before anything is installed', () => {
  let clone: string
  before(async () => {
    clone = await makeClone()
  })
  after(() => rm(clone, { recursive: true, maxRetries: 10 }))

  it('./switchboard says what it installs, how large that is and how far it is, and does what was asked', async () => {
    const { code, stdout, stderr } = await collect(startIn(clone, './switchboard', 'version'))
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
    assert.match(stderr, saidOfInstall('first start'))
    await checkSize(stderr)
  })

  it('installing for developing says the same', async () => {
    const { stderr } = await collect(startIn(clone, 'node', 'scripts/install.mjs', '--all'))
    assert.match(stderr, saidOfInstall('for developing'))
    await checkSize(stderr)
  })

  async function checkSize(said: string): Promise<void> {
    const about = Number(/\(about (\d+) MB/.exec(said)?.[1])
    const { stdout } = await run('du', ['-sm', join(clone, 'node_modules')])
    const megabytes = Number.parseInt(stdout, 10)
    assert.ok(
      Math.abs(megabytes - about) < about / 4,
      `${megabytes} MB are installed, and about ${about} were announced`,
    )
  }
})

for (const command of ['ci', 'install']) {
  describe(`after npm ${command}`, () => {
    let clone: string
    before(async () => {
      clone = await makeClone()
      await runIn(clone, 'npm', command, '--loglevel=error')
    })
    after(() => rm(clone, { recursive: true, maxRetries: 10 }))

    it('npx switchboard serve serves at once, and installs nothing again', async () => {
      const started = startIn(clone, 'npx', 'switchboard', 'serve', '--port', '0')
      const said = collect(started)
      await findUrl(started)
      pressCtrlC(started)
      assert.doesNotMatch((await said).stderr, /installing/)
      assert.ok((await readdir(join(clone, 'data'))).length > 0)
    })

    it('npm start and ./switchboard do', async () => {
      for (const [program = '', ...args] of [
        ['npm', 'start'],
        ['./switchboard', 'start'],
      ]) {
        const started = startIn(clone, program, ...args)
        const said = collect(started)
        const url = await findUrl(started)
        assert.equal((await fetch(`${url}/healthz`)).status, 200)
        pressCtrlC(started)
        assert.doesNotMatch((await said).stderr, /installing/)
      }
    })

    it('npm test runs, and leaves the lock file as it was', async () => {
      const { code, stdout, stderr } = await collect(startIn(clone, 'npm', 'test', '--', 'base/', 'lockfile'))
      assert.equal(code, 0, stdout)
      assert.match(stdout, /\n\d+ passed, 0 failed\n$/)
      assert.doesNotMatch(stderr, /installing/)
    })
  })
}

async function makeClone(): Promise<string> {
  const clone = await mkdtemp(join(tmpdir(), 'switchboard-clone-'))
  // As it stands here, committed or not.
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const file of stdout.trim().split('\n')) {
    await cp(join(root, file), join(clone, file), { verbatimSymlinks: true })
  }
  // npm test asks git for nothing, but whoever has a clone has this.
  await run('git', ['init', '--quiet'], { cwd: clone })
  return clone
}

function startIn(folder: string, program: string, ...args: string[]): ChildProcess {
  // The path and settings that npm gave this test would lead to the packages of this clone.
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_)/.test(name))
  const path = (process.env['PATH'] ?? '').split(':').filter((part) => !part.startsWith(root))
  const env = { ...Object.fromEntries(own), PATH: path.join(':'), PORT: '0' }
  return spawn(program, args, { cwd: folder, env, detached: true })
}

/** As a terminal does it: everything that runs there gets the signal, npm as well as the server. */
function pressCtrlC({ pid }: ChildProcess): void {
  assert.ok(pid)
  process.kill(-pid, 'SIGINT')
}

async function runIn(folder: string, program: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await collect(startIn(folder, program, ...args))
  assert.equal(code, 0, stderr)
}

/** npm prints lines of its own first. */
function findUrl({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    stdout?.on('data', (text) => {
      said += text
      const url = /^switchboard listening on (.+)$/m.exec(said)?.[1]
      if (url !== undefined) resolve(url)
    })
    stdout?.once('end', () => reject(new Error(`it never listened: ${said}`)))
  })
}
