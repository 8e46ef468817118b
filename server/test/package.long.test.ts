// The tarball of the server, installed by npm in a project that has nothing else, on every Node.js that it is for. It takes npm's
// registry, or its cache.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeProject, type Project, packWorkspaces, runFile, runNpm } from '../../sdk/test/harness-pack.ts'
import { number, post } from './harness/console-page.ts'
import { until } from './harness/until.ts'

const megabyte = 1_000_000
/** The versions of Node that the package says it runs on, and the one that it fetches on some systems. */
const majors = ['20', '22', '24', '26']

describe('the installed server', () => {
  let packed: { folder: string; tarballs: string[] }
  let project: Project
  let nodes: string
  let home: string

  before(async () => {
    packed = await packWorkspaces(['server'])
    project = await makeProject(packed.tarballs)
    nodes = await mkdtemp(join(tmpdir(), 'switchboard-nodes-'))
    home = join(nodes, 'home')
    await mkdir(home)
  })
  after(async () => {
    await project.remove()
    for (const folder of [packed.folder, nodes]) await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  })

  const nodeOf = (major: string) => join(nodes, major, 'node_modules', '.bin', 'node')

  /** Without any setting of this process, but those by which npm reaches its registry on this machine. */
  const network =
    /^(NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(HTTPS?|NO)_PROXY|npm_config_(registry|cafile|proxy|https_proxy|noproxy))$/i
  const environment = () => ({
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => network.test(name))),
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    PORT: '0',
    npm_config_cache: join(nodes, 'cache'),
  })

  /** Started in an empty folder, and without any setting of this process. */
  async function start(program: string, args: readonly string[]) {
    const cwd = await mkdtemp(join(nodes, 'empty-'))
    const begun = performance.now()
    const child: ChildProcess = spawn(program, args, {
      cwd,
      env: environment(),
    })
    let text = ''
    const url = await new Promise<string>((resolve, reject) => {
      const note = (chunk: unknown) => {
        text += chunk
        const found = /^switchboard listening on (\S+)$/m.exec(text)?.[1]
        if (found !== undefined) resolve(found)
      }
      child.stdout?.on('data', note)
      child.stderr?.on('data', note)
      child.once('close', () => reject(new Error(`it never listened: ${text}`)))
    })
    return { child, url, cwd, seconds: (performance.now() - begun) / 1000, said: () => text }
  }

  async function tryServer(url: string): Promise<void> {
    const content = { messaging_product: 'msgapp', to: '16505551234', type: 'text', text: { body: 'Hi' } }
    assert.equal((await post(url, `/v23.0/${number}/messages`, content)).status, 200)
    const script = /src="(\/console\/main-[^"]+\.js)"/.exec(await (await fetch(`${url}/`)).text())?.[1]
    assert.ok(script)
    assert.equal((await fetch(url + script)).status, 200)
  }

  const untilGone = (url: string) =>
    until(
      () =>
        fetch(`${url}/healthz`).then(
          () => false,
          () => true,
        ),
      'the server has ended',
    )

  const launcherOf = (folder: string) => join(folder, 'node_modules/@switchboard/server/bin/switchboard.mjs')

  test('the installed server is one small package, and the project keeps its own Node.js', async () => {
    const others = (await readdir(join(project.folder, 'node_modules'))).filter((name) => !name.startsWith('.'))
    assert.deepEqual(others, ['@switchboard'])
    assert.deepEqual(await readdir(join(project.folder, 'node_modules/.bin')), ['switchboard'])
    assert.deepEqual(await readdir(join(project.folder, 'node_modules/@switchboard')), ['server'])
    const size = await measure(join(project.folder, 'node_modules/@switchboard'))
    assert.ok(size < 15 * megabyte, `${size} bytes are installed`)
  })

  for (const major of majors) {
    test(`the installed server starts, serves and stops on Node ${major}`, async () => {
      await runNpm(['install', '--no-save', '--prefix', join(nodes, major), `node@${major}`], nodes)
      const args = [launcherOf(project.folder)]
      // An old one fetches a newer one first, which takes as long as the network does.
      if (Number(major) < 24) await runFile(nodeOf(major), [...args, '--version'], { env: environment() })
      const server = await start(nodeOf(major), args)
      assert.ok(server.seconds < 10, `the first start took ${server.seconds} s`)
      await tryServer(server.url)
      server.child.kill('SIGTERM')
      assert.deepEqual(await once(server.child, 'close'), [0, null], server.said())
      assert.match(server.said(), /"msg":"stopped"/)
      assert.deepEqual(await readdir(server.cwd), ['data'])

      const killed = await start(nodeOf(major), args)
      killed.child.kill('SIGKILL')
      await untilGone(killed.url)
      // Ended by itself, so that its store is whole, where it has a process of its own.
      if (Number(major) < 24) await until(() => /"msg":"stopped"/.test(killed.said()), 'it has stopped in order')
    })
  }

  test('the installed server says what is needed on an old Node.js where no other can be fetched', async () => {
    const run = (more: Readonly<Record<string, string>>) =>
      runFile(nodeOf('20'), [launcherOf(project.folder), 'status'], {
        env: { ...environment(), HOME: join(nodes, 'another'), TMPDIR: nodes, ...more },
      })
    const says = (why: RegExp) => (error: { code: number; stderr: string }) => {
      assert.match(error.stderr, /^switchboard: this is Node\.js v20\.\S+; the store needs a current Node\.js 24\. /m)
      assert.match(error.stderr, why)
      return error.code === 1
    }
    const nowhere = { npm_config_cache: join(nodes, 'no-cache'), npm_config_registry: 'http://127.0.0.1:9' }
    await assert.rejects(
      run({ ...nowhere, npm_config_fetch_retries: '0' }),
      says(/could not be fetched: npm ended with code 1\.$/m),
    )
    await assert.rejects(run({ PATH: nodes }), says(/npm was not found/))
  })

  test('the installed server ends with npx, of whose process alone others know', async () => {
    const server = await start('npx', ['--yes', '--package', packed.tarballs[0] ?? '', 'switchboard'])
    assert.match(server.said(), /Ctrl-C stops it/)
    server.child.kill('SIGTERM')
    await once(server.child, 'exit')
    await untilGone(server.url)
    await until(() => /"msg":"stopped"/.test(server.said()), 'it has stopped in order')
  })

  test('the installed server is a command of its own where it is installed globally', async () => {
    const prefix = join(nodes, 'global')
    await runNpm(['install', '--global', '--prefix', prefix, packed.tarballs[0] ?? ''], nodes)
    const command = join(prefix, 'bin', 'switchboard')
    const env = { PATH: `${join(nodeOf('24'), '..')}:${process.env['PATH']}`, HOME: home }
    const run = runFile(command, ['token', 'nothing'], { cwd: home, env })
    await assert.rejects(run, ({ stderr }) => /\(see switchboard token --help\)/.test(stderr))
  })
})

async function measure(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true })
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
