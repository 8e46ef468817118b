import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, lstat, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { promisify } from 'node:util'

const root = dirname(import.meta.dirname)
const run = promisify(execFile)

interface Ending {
  code: number | null
  stdout: string
  stderr: string
}

// A project like this one, with the real npm and packages that lie beside it: one that every run needs, the pinned Node.js, and
// one for developing.
let workshop: string
let template: string
let project: string

before(async () => {
  workshop = await realpath(await mkdtemp(join(tmpdir(), 'switchboard-install-')))
  template = join(workshop, 'template')
  await writePackage('node', { bin: { node: 'node.sh' } })
  await writeFile(join(template, 'packages/node/node.sh'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`)
  await chmod(join(template, 'packages/node/node.sh'), 0o755)
  await writePackage('tool', {})
  await writePackage('extra', {})
  await writeFile(
    join(template, 'package.json'),
    JSON.stringify({
      name: 'project',
      private: true,
      dependencies: { node: 'file:packages/node' },
      devDependencies: { tool: 'file:packages/tool' },
    }),
  )
  await mkdir(join(template, 'scripts'))
  for (const script of ['install.mjs', 'compile.mjs']) {
    await cp(join(root, 'scripts', script), join(template, 'scripts', script))
  }
  await cp(join(root, 'switchboard'), join(template, 'switchboard'))
  await mkdir(join(template, 'server/src'), { recursive: true })
  await writeFile(
    join(template, 'server/src/main.js'),
    'console.log(JSON.stringify({ arguments: process.argv.slice(2), folder: process.cwd(), pid: process.pid }))\n' +
      "if (process.argv[2] === 'wait') setInterval(() => {}, 1000)\n",
  )
  await run('npm', ['install', '--package-lock-only', '--offline', '--loglevel=error'], { cwd: template })
})
after(() => rm(workshop, { recursive: true }))

beforeEach(async () => {
  project = await mkdtemp(join(workshop, 'project-'))
  await cp(template, project, { recursive: true })
})
afterEach(() => rm(project, { recursive: true }))

describe('install.mjs', () => {
  it('installs what running needs, says so once, and does nothing the second time', async () => {
    assert.deepEqual(await install(), { code: 0, stdout: '', stderr: 'installing dependencies…\n' })
    assert.ok(has('node'))
    assert.ok(!has('tool'))
    assert.deepEqual(await install(), { code: 0, stdout: '', stderr: '' })
    assert.ok(!existsSync(join(project, '.installing')))
  })

  it('compiles the server under the flags that ./switchboard runs it with: under others it would be of no use', async () => {
    const launcher = await readFile(join(root, 'switchboard'), 'utf8')
    const used = /^exec "\$modules\/\.bin\/node" (.+) "\$root\/server/m.exec(launcher)?.[1]
    const source = await readFile(join(root, 'scripts/install.mjs'), 'utf8')
    const compiledUnder = /^const launcherFlags = \[(.+)\]/m.exec(source)?.[1]
    assert.ok(used)
    assert.equal(compiledUnder?.replaceAll(/[',]/g, ''), used)
  })

  it('goes on, and says so, when the server cannot be compiled', async () => {
    await writeFile(join(project, 'server/src/broken.ts'), 'this is no code')
    const { code, stderr } = await install()
    assert.equal(code, 0)
    assert.match(stderr, /could not be kept for the first start\.\n$/)
    assert.ok(has('node'))
  })

  it('installs everything with --all, also with NODE_ENV=production, and that is enough for running', async () => {
    const environment = { NODE_ENV: 'production', npm_config_omit: 'dev' }
    assert.equal((await install(['--all'], environment)).code, 0)
    assert.ok(has('node'))
    assert.ok(has('tool'))
    assert.deepEqual(await install(), { code: 0, stdout: '', stderr: '' })
    assert.deepEqual(await install(['--all']), { code: 0, stdout: '', stderr: '' })
  })

  it('adds what developing needs without taking away what a running server uses', async () => {
    await install()
    const inUse = await lstat(join(project, 'node_modules/node'))
    const lock = await readFile(join(project, 'package-lock.json'), 'utf8')
    assert.equal((await install(['--all'])).stderr, 'installing dependencies…\n')
    assert.ok(has('tool'))
    assert.equal((await lstat(join(project, 'node_modules/node'))).ino, inUse.ino)
    assert.equal(await readFile(join(project, 'package-lock.json'), 'utf8'), lock)
    assert.deepEqual(await install(['--all']), { code: 0, stdout: '', stderr: '' })
  })

  it('installs again when the lock file changed', async () => {
    await install()
    await addDependency('extra')
    assert.equal((await install()).stderr, 'installing dependencies…\n')
    assert.ok(has('extra'))
  })

  it('keeps what developing needs when the lock file changed', async () => {
    await install(['--all'])
    await addDependency('extra')
    await install()
    assert.ok(has('extra'))
    assert.ok(has('tool'))
    assert.deepEqual(await install(['--all']), { code: 0, stdout: '', stderr: '' })
  })

  it('installs again when the pinned Node.js is gone', async () => {
    await install()
    await rm(join(project, 'node_modules/.bin/node'))
    assert.equal((await install()).stderr, 'installing dependencies…\n')
    assert.ok(existsSync(join(project, 'node_modules/.bin/node')))
  })

  it('installs once when several start at the same moment', async () => {
    const endings = await Promise.all([install(), install(), install()])
    assert.deepEqual(
      endings.map(({ code }) => code),
      [0, 0, 0],
    )
    const said = endings.map(({ stderr }) => stderr).join('')
    assert.equal(said.match(/^installing dependencies…$/gm)?.length, 1)
    assert.ok(has('node'))
    assert.ok(!existsSync(join(project, '.installing')))
  })

  it('takes over the lock of a process that died', async () => {
    const dead = spawn('true')
    await once(dead, 'exit')
    await mkdir(join(project, '.installing'))
    await writeFile(join(project, '.installing', String(dead.pid)), '')
    assert.deepEqual(await install(), { code: 0, stdout: '', stderr: 'installing dependencies…\n' })
    assert.ok(!existsSync(join(project, '.installing')))
  })

  it('waits for a process that is installing', async () => {
    const busy = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    await mkdir(join(project, '.installing'))
    await writeFile(join(project, '.installing', String(busy.pid)), '')
    const waiting = startInstall()
    const [said] = await once(waiting.stderr as NodeJS.ReadableStream, 'data')
    assert.equal(String(said), `waiting for process ${busy.pid}, which is installing dependencies…\n`)
    assert.ok(!has('node'))
    busy.kill()
    assert.equal((await collect(waiting)).code, 0)
    assert.ok(has('node'))
  })

  it('shows what npm said and one clear line when npm fails', async () => {
    const file = join(project, 'package.json')
    const manifest = JSON.parse(await readFile(file, 'utf8'))
    manifest.dependencies.extra = 'file:packages/extra'
    await writeFile(file, JSON.stringify(manifest))
    const { code, stdout, stderr } = await install()
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /Missing: extra/)
    assert.match(stderr, /\nswitchboard: the dependencies could not be installed: npm ci ended with code 1\.\n$/)
    assert.ok(!existsSync(join(project, '.installing')))
    assert.equal((await install()).code, 1)
  })
})

describe('switchboard', () => {
  it('installs what is missing and runs the command in the folder of the caller', async () => {
    const first = await runSwitchboard(join(project, 'switchboard'), ['a', 'b c', ''], workshop)
    assert.equal(first.stderr, 'installing dependencies…\n')
    assert.deepEqual(pickCall(first), { arguments: ['a', 'b c', ''], folder: workshop })
    const second = await runSwitchboard(join(project, 'switchboard'), ['a'], workshop)
    assert.equal(second.stderr, '')
  })

  it('finds its folder through links, relative and absolute', async () => {
    await install()
    await mkdir(join(project, 'server/bin'))
    await symlink('../../switchboard', join(project, 'server/bin/switchboard'))
    // npm links the folder of a workspace into node_modules, and its commands into node_modules/.bin.
    await symlink('../server', join(project, 'node_modules/server'))
    await symlink('../server/bin/switchboard', join(project, 'node_modules/.bin/switchboard'))
    await symlink(join(project, 'node_modules/.bin/switchboard'), join(project, 'elsewhere'))
    for (const command of ['node_modules/.bin/switchboard', './elsewhere', join(project, 'elsewhere')]) {
      const ending = await runSwitchboard(command, ['x'], project)
      assert.deepEqual(pickCall(ending), { arguments: ['x'], folder: project }, ending.stderr)
    }
  })

  it('becomes the command, so that signals reach it', async () => {
    await install()
    const child = spawn(join(project, 'switchboard'), ['wait'], { cwd: project })
    const [line] = await once(child.stdout, 'data')
    assert.equal(JSON.parse(String(line)).pid, child.pid)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGTERM'])
  })

  it('says what is needed when there is no Node.js to install with', async () => {
    const tools = join(project, 'tools')
    await mkdir(tools)
    for (const name of ['cmp', 'dirname', 'readlink']) {
      const { stdout } = await run('/bin/sh', ['-c', `command -v ${name}`])
      await symlink(stdout.trim(), join(tools, name))
    }
    const { code, stderr } = await collect(spawn(join(project, 'switchboard'), [], { env: { PATH: tools } }))
    assert.equal(code, 1)
    assert.equal(
      stderr,
      'switchboard: Node.js 20 or newer is needed to install the dependencies, and there is no node on the path.\n',
    )
  })
})

async function writePackage(name: string, more: object): Promise<void> {
  const folder = join(template, 'packages', name)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...more }))
}

async function addDependency(name: string): Promise<void> {
  await run('npm', ['install', '--package-lock-only', '--offline', '--loglevel=error', `./packages/${name}`], {
    cwd: project,
  })
}

function startInstall(args: string[] = [], environment: Record<string, string> = {}): ChildProcess {
  const env = { ...process.env, ...environment }
  return spawn(process.execPath, ['scripts/install.mjs', ...args], { cwd: project, env })
}

function install(args?: string[], environment?: Record<string, string>): Promise<Ending> {
  return collect(startInstall(args, environment))
}

function runSwitchboard(command: string, args: string[], folder: string): Promise<Ending> {
  return collect(spawn(command, args, { cwd: folder }))
}

async function collect(child: ChildProcess): Promise<Ending> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (text) => {
    stdout += text
  })
  child.stderr?.on('data', (text) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

function pickCall({ stdout }: Ending) {
  const { pid: _, ...call } = JSON.parse(stdout)
  return call
}

function has(name: string): boolean {
  return existsSync(join(project, 'node_modules', name, 'package.json'))
}
