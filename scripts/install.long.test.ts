import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { collect, type Ending, pickCall, run, runCommand, SampleProject, saidOfInstall } from './sample-project.ts'

const nothingSaid = { code: 0, stdout: '', stderr: '' }
const change = 'packages have changed or are missing'

let template: SampleProject
let project: SampleProject

before(async () => {
  template = await SampleProject.make()
})
after(() => template.remove())
beforeEach(async () => {
  project = await template.copy()
})
afterEach(() => project.remove())

describe('install.mjs', () => {
  it('goes on, and says so, when the server cannot be compiled', async () => {
    await writeFile(project.path('scripts/compile.mjs'), 'this is no code')
    const { code, stderr } = await project.install()
    assert.equal(code, 0)
    assert.match(stderr, /could not be kept for the first start\.\n {2}done after \d+ s\n$/)
    assert.ok(project.has('node'))
  })

  it('installs everything with --all, also with NODE_ENV=production, and that is enough for running', async () => {
    const environment = { NODE_ENV: 'production', npm_config_omit: 'dev' }
    assert.equal((await project.install(['--all'], environment)).code, 0)
    assert.ok(project.has('node'))
    assert.ok(project.has('tool'))
    assert.deepEqual(await project.install(), nothingSaid)
    assert.deepEqual(await project.install(['--all']), nothingSaid)
  })

  it('adds what developing needs without taking away what a running server uses', async () => {
    await project.install()
    await checkAddition()
  })

  it('takes what npm ci or npm install has put there, and only adds what is missing', async () => {
    await project.npm('install', '--omit=dev')
    assert.deepEqual(await project.install(), nothingSaid)
    assert.ok(!project.has('tool'))
    await checkAddition()
  })

  it('installs again what a plain npm install left half', async () => {
    await project.npm('install')
    await rm(project.path('node_modules/tool'))
    assertInstalled(await project.install(['--all']), 'for developing')
    assert.ok(project.has('tool'))
  })

  it('installs again when the lock file changed after a plain npm ci', async () => {
    await project.npm('ci')
    await project.require('extra')
    assertInstalled(await project.install(), change)
    assert.ok(project.has('extra'))
  })

  it('runs what somebody else installed, where nothing can be written', async () => {
    await project.npm('ci')
    // Root may write here nevertheless; then this shows only that nothing is said.
    await chmod(project.path('node_modules'), 0o555)
    const ending = await runCommand(project.path('switchboard'), ['x'], project.folder)
    await chmod(project.path('node_modules'), 0o755)
    assert.deepEqual({ ...ending, stdout: '' }, nothingSaid)
  })

  it('installs again when the lock file changed', async () => {
    await project.install()
    await project.require('extra')
    assertInstalled(await project.install(), change)
    assert.ok(project.has('extra'))
  })

  it('keeps what developing needs when the lock file changed', async () => {
    await project.install(['--all'])
    await project.require('extra')
    await project.install()
    assert.ok(project.has('extra'))
    assert.ok(project.has('tool'))
    assert.deepEqual(await project.install(['--all']), nothingSaid)
  })

  it('installs again when the pinned Node.js is gone', async () => {
    await project.install()
    await rm(project.path('node_modules/.bin/node'))
    assertInstalled(await project.install(), change)
    assert.ok(existsSync(project.path('node_modules/.bin/node')))
  })

  it('installs once when several start at the same moment', async () => {
    const endings = await Promise.all([project.install(), project.install(), project.install()])
    assert.deepEqual(
      endings.map(({ code }) => code),
      [0, 0, 0],
    )
    const said = endings.map(({ stderr }) => stderr).join('')
    assert.equal(said.match(/^first start: installing /gm)?.length, 1)
    assert.ok(project.has('node'))
    assert.ok(!existsSync(project.path('.installing')))
  })

  it('takes over the lock of a process that died', async () => {
    const dead = spawn('true')
    await once(dead, 'exit')
    await mkdir(project.path('.installing'))
    await writeFile(project.path('.installing', String(dead.pid)), '')
    assertInstalled(await project.install(), 'first start')
    assert.ok(!existsSync(project.path('.installing')))
  })

  it('waits for a process that is installing', async () => {
    const busy = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    await mkdir(project.path('.installing'))
    await writeFile(project.path('.installing', String(busy.pid)), '')
    const waiting = project.startInstall()
    const [said] = await once(waiting.stderr as NodeJS.ReadableStream, 'data')
    assert.equal(String(said), `waiting for process ${busy.pid}, which is installing dependencies…\n`)
    assert.ok(!project.has('node'))
    busy.kill()
    assert.equal((await collect(waiting)).code, 0)
    assert.ok(project.has('node'))
  })

  it('shows what npm said and one clear line when npm fails', async () => {
    await project.require('extra', { locked: false })
    const { code, stdout, stderr } = await project.install()
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /Missing: extra/)
    assert.match(stderr, /\nswitchboard: the dependencies could not be installed: npm ci ended with code 1\.\n$/)
    assert.ok(!existsSync(project.path('.installing')))
    assert.equal((await project.install()).code, 1)
  })
})

describe('switchboard', () => {
  it('finds its folder through links, relative and absolute', async () => {
    await project.install()
    await symlink(project.path('node_modules/.bin/switchboard'), project.path('elsewhere'))
    for (const command of ['node_modules/.bin/switchboard', './elsewhere', project.path('elsewhere')]) {
      const ending = await runCommand(command, ['x'], project.folder)
      assert.deepEqual(pickCall(ending), { arguments: ['x'], folder: project.folder }, ending.stderr)
    }
  })

  it('becomes the command, so that signals reach it', async () => {
    await project.install()
    const child = spawn(project.path('switchboard'), ['wait'], { cwd: project.folder })
    const [line] = await once(child.stdout, 'data')
    assert.equal(JSON.parse(String(line)).pid, child.pid)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGTERM'])
  })

  it('says what is needed when there is no Node.js to install with', async () => {
    const tools = project.path('tools')
    await mkdir(tools)
    for (const name of ['cmp', 'dirname', 'readlink']) {
      const { stdout } = await run('/bin/sh', ['-c', `command -v ${name}`])
      await symlink(stdout.trim(), project.path('tools', name))
    }
    const { code, stderr } = await collect(spawn(project.path('switchboard'), [], { env: { PATH: tools } }))
    assert.equal(code, 1)
    assert.equal(
      stderr,
      'switchboard: Node.js 20 or newer is needed to install the dependencies, and there is no node on the path.\n',
    )
  })
})

async function checkAddition(): Promise<void> {
  const inUse = await lstat(project.path('node_modules/node'))
  const lock = await readFile(project.path('package-lock.json'), 'utf8')
  assertInstalled(await project.install(['--all']), 'for developing')
  assert.ok(project.has('tool'))
  assert.equal((await lstat(project.path('node_modules/node'))).ino, inUse.ino)
  assert.equal(await readFile(project.path('package-lock.json'), 'utf8'), lock)
  assert.deepEqual(await project.install(['--all']), nothingSaid)
}

function assertInstalled({ code, stdout, stderr }: Ending, reason: string): void {
  assert.deepEqual({ code, stdout }, { code: 0, stdout: '' })
  assert.match(stderr, saidOfInstall(reason))
}
