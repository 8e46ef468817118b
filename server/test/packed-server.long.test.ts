import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { describePublished } from '../../scripts/packages/manifest.mjs'
import { buildServerPackage } from '../../scripts/packages/server.mjs'
import { number, post } from './harness/console-page.ts'

const workspace = join(import.meta.dirname, '..')

/** What `npm pack` packs of the server, in a project that has nothing else; package.long.test.ts has npm install it. */
describe('the package of the server', () => {
  let root: string
  let project: string
  let installed: string
  let launcher: string
  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'switchboard package ü-')))
    project = join(root, 'project')
    installed = join(project, 'node_modules/@switchboard/server')
    launcher = join(installed, 'bin/switchboard.mjs')
    await mkdir(join(installed, 'bin'), { recursive: true })
    await buildServerPackage(join(installed, 'dist'))
    await cp(join(workspace, 'bin/switchboard.mjs'), launcher)
    await cp(join(workspace, 'src/db/migrations'), join(installed, 'src/db/migrations'), { recursive: true })
    const manifest = describePublished(await readFile(join(workspace, 'package.json'), 'utf8'))
    await writeFile(join(installed, 'package.json'), JSON.stringify(manifest))
  })
  after(() => rm(root, { recursive: true, force: true, maxRetries: 10 }))

  /** Started without any setting of this process, at home in an empty folder. */
  function start(args: readonly string[], { cwd = project, more = {} } = {}): ChildProcess & { said: () => string } {
    const child = spawn(process.execPath, [launcher, ...args], {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: join(root, 'home'), PORT: '0', ...more },
    })
    let text = ''
    for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (chunk) => (text += chunk))
    return Object.assign(child, { said: () => text })
  }

  async function run(args: readonly string[], options?: { cwd?: string; more?: Record<string, string> }) {
    const child = start(args, options)
    const [code] = await once(child, 'close')
    return { code, said: child.said() }
  }

  test('the package of the server has no dependencies', async () => {
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    const { dependencies, optionalDependencies, devDependencies, scripts, publishConfig, private: isPrivate } = manifest
    const left = [dependencies, optionalDependencies, devDependencies, scripts, publishConfig, isPrivate]
    assert.deepEqual(left, Array(6).fill(undefined))
    assert.deepEqual(manifest.bin, { switchboard: 'bin/switchboard.mjs' })
    const texts = await Promise.all(
      (await readdir(join(installed, 'dist')))
        .filter((name) => name.endsWith('.js'))
        .map((name) => readFile(join(installed, 'dist', name), 'utf8')),
    )
    const named = texts.flatMap((text) => [...text.matchAll(/^import[^'"]*?from ?["']([^'"]+)["']/gm)])
    assert.deepEqual(
      [...new Set(named.map(([, name = '']) => name))].filter((name) => !isBuiltin(name) && !name.startsWith('./')),
      [],
    )
    assert.match(await readFile(join(installed, 'dist/licenses.txt'), 'utf8'), /^fastify \d/m)
  })

  test('the package of the server starts in an empty folder without an argument, and serves API and console', async () => {
    const home = join(root, 'home')
    await mkdir(home)
    const folder = join(root, 'empty')
    await mkdir(folder)
    const server = start([], { cwd: folder })
    const url = await new Promise<string>((resolve, reject) => {
      server.stdout?.on('data', () => {
        const found = /^switchboard listening on (\S+)$/m.exec(server.said())?.[1]
        if (found !== undefined) resolve(found)
      })
      server.once('close', () => reject(new Error(server.said())))
    })
    const sent = await post(url, `/v23.0/${number}/messages`, {
      messaging_product: 'msgapp',
      to: '16505551234',
      type: 'text',
      text: { body: 'Hi' },
    })
    assert.equal(sent.status, 200, await sent.text())
    const page = await (await fetch(`${url}/`, { headers: { 'accept-encoding': 'br' } })).text()
    const script = /src="(\/console\/main-[^"]+\.js)"/.exec(page)?.[1] ?? assert.fail(page)
    const { status, headers } = await fetch(url + script, { headers: { 'accept-encoding': 'br' } })
    assert.deepEqual([status, headers.get('content-encoding')], [200, 'br'])
    assert.equal((await fetch(`${url}/docs`)).status, 200)
    // A world file that is long is read in a thread of its own.
    const world = `${await readFile(join(installed, 'dist/worlds/demo.yaml'), 'utf8')}\n# ${'.'.repeat(70_000)}\n`
    const applied = await fetch(`${url}/operator/world`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-operator-token', 'content-type': 'application/yaml' },
      body: world,
    })
    assert.equal(applied.status, 200, await applied.text())
    const shown = await run(['status', '--url', url], { cwd: folder })
    assert.match(shown.said, /^Store +SQLite/m)
    server.kill('SIGTERM')
    assert.deepEqual(await once(server, 'close'), [0, null], server.said())
    assert.match(server.said(), /"msg":"stopped"/)
    assert.doesNotMatch(server.said(), /ExperimentalWarning/)
    // Nothing is written but the store here, and what was compiled at home.
    assert.deepEqual([await readdir(folder), await readdir(home)], [['data'], ['.cache']])
  })

  test('the package of the server names the command as it is called in its messages', async () => {
    const { version } = JSON.parse(await readFile(join(workspace, 'package.json'), 'utf8'))
    assert.deepEqual(await run(['--version']), { code: 0, said: `${version}\n` })
    assert.match((await run(['token', 'nothing'], { cwd: root })).said, /\(see switchboard token --help\)/)
    assert.match((await run(['token', 'nothing'])).said, /\(see npx switchboard token --help\)/)
  })
})
