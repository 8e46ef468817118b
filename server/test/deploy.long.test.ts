import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findProgram, Program, takePort } from './harness/cluster/programs.ts'
import { startTestServer } from './harness/server.ts'
import { listenForTest } from './harness/sink.ts'
import { until } from './harness/until.ts'

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

  test('HAProxy takes haproxy-postgres.cfg, leads to the primary, and ends connections to one that is a standby now', async (t) => {
    const path = await findProgram('haproxy')
    const { stdout, stderr } = await run(path, ['-c', '-f', file('haproxy-postgres.cfg')])
    assert.match(stdout, /Configuration file is valid/)
    const warnings = stderr.split('\n').filter((line) => line.includes('[WARNING]'))
    for (const line of warnings) assert.match(line, /could not resolve address 'db[123]'/)

    let primary = 'db1'
    const folder = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const front = await takePort()
    let text = (await readFile(file('haproxy-postgres.cfg'), 'utf8')).replace('bind :5432', `bind 127.0.0.1:${front}`)
    for (const name of ['db1', 'db2', 'db3']) {
      const patroni = createServer(({ url }, response) => {
        response.writeHead(url === '/primary' && name === primary ? 200 : 503).end()
      })
      const database = createTcpServer((socket) => socket.on('error', () => undefined).write(name))
      const [checked, served] = [await listenForTest(t, patroni), await listenForTest(t, database)]
      const there = `127.0.0.1:${served.port} check port ${checked.port}`
      text = text.replace(`${name}:5432 check port 8008`, there)
    }
    await writeFile(join(folder, 'haproxy.cfg'), text)
    const proxy = await new Program(path, ['-db', '-f', join(folder, 'haproxy.cfg')], front).start()
    t.after(() => proxy.kill())
    /** A connection, and which server has greeted it; undefined where there is none. */
    const enter = async () => {
      const socket = connect(front, '127.0.0.1').on('error', () => undefined)
      t.after(() => socket.destroy())
      const greeting = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))))
      return { socket, name: await Promise.race([greeting, once(socket, 'close').then(() => undefined)]) }
    }
    /** Before its first checks it takes every server for the primary. */
    const leadsTo = (name: string) => async () =>
      (await Promise.all(['db1', 'db2', 'db3'].map(enter))).every((entered) => entered.name === name)
    await until(leadsTo('db1'), 'it leads to the primary')
    const { socket, name } = await enter()
    assert.equal(name, 'db1')
    const closed = once(socket, 'close')
    primary = 'db2'
    await closed
    await until(leadsTo('db2'), 'it leads to the new primary')
  })

  test('HAProxy keeps health and metrics private, says where requests come from, and logs no secret', async (t) => {
    const asked: IncomingMessage[] = []
    const host = createServer((request, response) => {
      if (request.url !== '/readyz/process') asked.push(request)
      response.end('{}')
    })
    const { port } = await listenForTest(t, host)
    const folder = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const free = createServer()
    const { port: front } = await listenForTest(t, free)
    await new Promise((resolve) => free.close(resolve))
    const text = (await readFile(file('haproxy.cfg'), 'utf8'))
      .replace('bind :8443', `bind 127.0.0.1:${front}`)
      .replaceAll(/server (api\d) \S+/g, `server $1 127.0.0.1:${port}`)
    await writeFile(join(folder, 'haproxy.cfg'), text)
    const proxy = spawn(await findProgram('haproxy'), ['-db', '-f', join(folder, 'haproxy.cfg')])
    t.after(() => proxy.kill())
    let log = ''
    for (const stream of [proxy.stdout, proxy.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (log += chunk))
    const ask = (path: string) =>
      fetch(`http://127.0.0.1:${front}${path}`, {
        headers: { 'x-forwarded-for': '9.9.9.9', forwarded: 'for=9.9.9.9', via: '1.1 me', 'x-real-ip': '9.9.9.9' },
      }).then(({ status }) => status)
    await until(async () => (await ask('/v23.0/1').catch(() => 0)) === 200, 'HAProxy passes requests on')
    for (const path of [
      '/metrics',
      '/metrics/',
      '//metrics',
      '/%6detrics',
      '/metrics%2f',
      '/healthz/',
      '/readyz?a=b',
      '/readyz//process',
    ]) {
      assert.equal(await ask(path), 404, path)
    }
    const askSecretly = () => ask('/invite/HIDDEN1?access_token=HIDDEN2&code=HIDDEN3')
    assert.equal(await askSecretly(), 200)
    const { headers, url } = asked.at(-1) ?? assert.fail()
    assert.equal(url, '/invite/HIDDEN1?access_token=HIDDEN2&code=HIDDEN3')
    assert.deepEqual(
      ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'].map((name) => headers[name]),
      ['127.0.0.1', undefined, undefined, undefined],
    )
    // HAProxy drops a line that it cannot write at once.
    await until(async () => {
      assert.equal(await askSecretly(), 200)
      return /GET \/invite\/-/.test(log)
    }, 'the request is logged')
    assert.doesNotMatch(log, /HIDDEN/)
    host.closeAllConnections()
    await new Promise((resolve) => host.close(resolve))
    await until(async () => (await ask('/v23.0/1')) === 503, 'no process is there')
    const response = await fetch(`http://127.0.0.1:${front}/v23.0/1`)
    assert.deepEqual(
      [response.headers.get('content-type'), response.headers.get('retry-after')],
      ['application/json', '5'],
    )
    const { error } = (await response.json()) as { error: { code: number; is_transient: boolean } }
    assert.deepEqual([error.code, error.is_transient], [2, true])
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
      const unit = (await readFile(file(name), 'utf8'))
        .replaceAll('/opt/switchboard/node_modules/@switchboard', root)
        .replaceAll('/opt/switchboard', root)
      await writeFile(join(folder, as), unit)
      const { stdout, stderr } = await run(program, ['verify', join(folder, as)])
      assert.deepEqual(
        (stdout + stderr).split('\n').filter((line) => line.includes('switchboard')),
        [],
      )
      const security = ['security', '--offline=true', '--no-pager', join(folder, as)]
      const [, exposure] = /Overall exposure level .*: (\S+)/.exec((await run(program, security)).stdout) ?? []
      assert.ok(Number(exposure) <= 1.5, `the exposure of ${name} is ${exposure}`)
    }
  })

  test('kustomize takes deploy/kubernetes/', async () => {
    const kubectl = await findProgram('kubectl', 'kubernetes-client')
    const { stdout } = await run(kubectl, ['kustomize', file('kubernetes')])
    assert.equal(stdout.match(/^kind: /gm)?.length, 10)
    const images = new Set(stdout.match(/image: \S+/g))
    assert.deepEqual([...images], ['image: registry.example.com/switchboard:0.2.0'])
  })

  test('Prometheus takes alerts.yaml', async () => {
    const { stdout } = await run(await findProgram('promtool', 'prometheus'), ['check', 'rules', file('alerts.yaml')])
    assert.match(stdout, /SUCCESS: \d+ rules found/)
  })

  test('every alert fires when it should, and not before, nor for what is ordinary', async () => {
    const program = await findProgram('promtool', 'prometheus')
    const { stdout } = await run(program, ['test', 'rules', file('alerts.test.yaml')])
    assert.match(stdout, /SUCCESS/)
  })

  test('the command in alerts.yaml makes links of the paths to the runbook', async () => {
    const [, expression = ''] =
      /^# +sed '(\S+ \S+)' alerts\.yaml$/m.exec(await readFile(file('alerts.yaml'), 'utf8')) ?? []
    const { stdout } = await run('sed', [expression, file('alerts.yaml')])
    const links =
      stdout.match(/runbook_url: https:\/\/git\.example\.com\/switchboard\/blob\/main\/docs\/runbook\.md#\w+/g) ?? []
    assert.equal(links.length, stdout.match(/- alert: /g)?.length)
  })

  test('Prometheus has nothing to complain of in our metrics', async (t) => {
    const server = await startTestServer({ engine: 'postgres' })
    t.after(() => server.stop())
    await server.client.get('/healthz')
    const text = await (await fetch(`${server.url}/metrics`)).text()
    const ours = text.split('\n').filter((line) => /^(# \w+ )?switchboard_/.test(line))
    const checked = run(await findProgram('promtool', 'prometheus'), ['check', 'metrics'])
    // Those of the runtime have the names that the library of Prometheus gives them.
    checked.child.stdin?.end(`${ours.join('\n')}\n`)
    const { stdout, stderr } = await checked
    assert.deepEqual([stdout, stderr], ['', ''])
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
