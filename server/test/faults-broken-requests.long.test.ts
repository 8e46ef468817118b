import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, readlink, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type RunningServer, startCommand } from './harness/command.ts'
import { type Engine, makeMigratedPlace, onBothDatabases, type StorePlace } from './harness/databases.ts'
import { png } from './harness/media-files.ts'
import { PostgresProxy } from './harness/postgres-proxy.ts'
import { exchangeBytes, readRawAnswer } from './harness/raw-http.ts'
import { until } from './harness/until.ts'

/** Bodies that are broken and connections that break, at servers that are processes of their own: none of them ends, hangs or leaks. */

const authorization = 'Bearer demo-token'
const account = '/v23.0/1000000000000001'
const media = '/v23.0/4000000000000001/media'

interface Started {
  readonly place: StorePlace
  readonly server: RunningServer
}

async function start(engine: Engine, env: Readonly<Record<string, string>> = {}): Promise<Started> {
  const place = await makeMigratedPlace(engine)
  const { dataDir, databaseUrl } = place
  const store = { DATA_DIR: dataDir, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) }
  const server = await startCommand(['serve', '--port', '0'], { env: { ...store, ...env }, cwd: dataDir })
  return { place, server }
}

async function remove({ place, server }: Started): Promise<void> {
  await server.stop('SIGKILL')
  await place.remove()
}

async function startAlone(t: TestContext, engine: Engine, env?: Readonly<Record<string, string>>): Promise<Started> {
  const started = await start(engine, env)
  t.after(() => remove(started))
  return started
}

async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

function writePost(path: string, body: string, length = body.length): string {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${authorization}`,
    'Content-Type: multipart/form-data; boundary=x',
    `Content-Length: ${length}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

const filePart = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'

onBothDatabases('broken requests', (engine) => {
  const held: { started?: Started } = {}
  before(async () => {
    held.started = await start(engine)
  })
  after(() => held.started && remove(held.started))
  const started = (): Started => held.started as Started

  async function assertUnharmed(): Promise<void> {
    const { place, server } = started()
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200, server.stderr())
    await until(
      async () => (await readdir(join(place.dataDir, 'files/incoming'))).length === 0,
      'nothing is left of what arrived',
    )
    if (process.platform === 'linux') {
      const handles = await readdir(`/proc/${server.pid}/fd`)
      const files = await Promise.all(handles.map((fd) => readlink(`/proc/${server.pid}/fd/${fd}`).catch(() => '')))
      assert.deepEqual(
        files.filter((file) => file.includes('/files/') || file.includes('/uploads/')),
        [],
      )
    }
  }

  test('connections of one moment wait for a process that is busy, and are answered', async () => {
    const { server } = started()
    // The most that the system lets wait.
    const most = process.platform === 'linux' ? Number(await readFile('/proc/sys/net/core/somaxconn', 'utf8')) : 100
    const count = Math.min(1000, most)
    process.kill(server.pid, 'SIGSTOP')
    try {
      const sockets: Socket[] = []
      for (let index = 0; index < count; index++) {
        openConnection(server.url).then((socket) => sockets.push(socket), assert.fail)
      }
      await until(() => sockets.length === count, 'all of them are connected')
      process.kill(server.pid, 'SIGCONT')
      for (const socket of sockets) {
        socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
        const [answer] = await once(socket, 'data')
        assert.match(String(answer), /^HTTP\/1\.1 200 /)
        socket.destroy()
      }
    } finally {
      process.kill(server.pid, 'SIGCONT')
    }
  })

  test('400 for a request that is not valid HTTP also reaches whoever goes on sending', async () => {
    const socket = await openConnection(started().server.url)
    const closed = once(socket, 'close')
    socket.pause()
    socket.write(`POST ${media} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`)
    for (let chunk = 0; chunk < 50 && !socket.destroyed; chunk++) {
      await new Promise((resolve) => socket.write(Buffer.alloc(16 << 10, 'x'), resolve))
      await setImmediate()
    }
    let received = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text
    })
    socket.end()
    socket.resume()
    await closed
    assert.equal(readRawAnswer(received).status, 400, received)
    await assertUnharmed()
  })

  test('400 for a body in too many pieces also reaches whoever goes on sending it', async () => {
    const { hostname, port } = new URL(started().server.url)
    for (let tries = 0; tries < 40; tries++) {
      const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true, noDelay: true })
      let received = ''
      socket.on('data', (chunk) => {
        received += String(chunk)
      })
      socket.on('error', () => {})
      const ended = new Promise<void>((resolve) => {
        socket.once('end', resolve).once('close', () => resolve())
      })
      socket.write(writePost('/dialog/new-business', '', 200_000))
      for (let sent = 0; sent < 300 && socket.writable; sent++) {
        socket.write('a')
        await setImmediate()
      }
      if (socket.writable) socket.write('a'.repeat(199_700))
      await ended
      socket.destroy()
      assert.equal(readRawAnswer(received).status, 400, `try ${tries}: ${received}`)
    }
    await assertUnharmed()
  })

  test('a world file that breaks off is the mistake of who sent it, not a fault that is logged', async () => {
    const { server } = started()
    const socket = await openConnection(server.url)
    const token = 'Authorization: Bearer demo-operator-token'
    const lines = ['POST /operator/world HTTP/1.1', 'Host: localhost', token, 'Content-Length: 100', '', 'accounts:']
    socket.write(lines.join('\r\n'))
    await setImmediate()
    socket.destroy()
    const logged = () =>
      server
        .stderr()
        .split('\n')
        .find((line) => line.includes('operator.apply_world'))
    await until(() => logged() !== undefined, 'it is logged')
    assert.match(String(logged()), /"status":400/)
    assert.doesNotMatch(server.stderr(), /"level":50/)
  })

  const bodies: Readonly<Record<string, string>> = {
    'delimiters by the thousand': '--x\r\n'.repeat(1100),
    'empty parts by the thousand': '--x\r\n\r\n\r\n'.repeat(1100),
    'delimiters by the thousand behind a part': `--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n${'--x\r\n'.repeat(1100)}`,
    'parts by the thousand': `${'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(1100)}--x--\r\n`,
    'a part whose head never ends': '--x\r\nabc\r\n--x--\r\n',
    'a file before a part whose head never ends': `${filePart}${png.toString('latin1')}\r\n--x\r\nabc\r\n--x--\r\n`,
    'a file and no end': `${filePart}${png.toString('latin1')}`,
    'nothing but a line end': '\r\n',
  }
  for (const [name, body] of Object.entries(bodies)) {
    test(`400 for a multipart body with ${name}, and nothing stays`, async () => {
      const headers = { authorization, 'content-type': 'multipart/form-data; boundary=x' }
      for (const path of [account, media]) {
        for (const method of ['POST', 'DELETE']) {
          const init = { method, headers, body: Buffer.from(body, 'latin1'), signal: AbortSignal.timeout(120_000) }
          const answer = await fetch(started().server.url + path, init)
          // There is nothing to delete here; the same body is read where there is.
          assert.ok(answer.status === 400 || (answer.status === 404 && method === 'DELETE'), `${answer.status}`)
          assert.ok(((await answer.json()) as { error: object }).error)
        }
      }
      const code = `${started().server.url}/v23.0/4000000000000001/message_qrdls/ABCDEFGHIJKLMN`
      const deletion = await fetch(code, { method: 'DELETE', headers, body: Buffer.from(body, 'latin1') })
      assert.equal(deletion.status, 400, await deletion.text())
      await assertUnharmed()
    })
  }

  test('a connection that ends at any byte of an upload leaves nothing', async () => {
    const request = writePost(media, `${filePart}${png.toString('latin1')}\r\n--x--\r\n`)
    const places = Array.from({ length: 40 }, (_, index) => Math.floor((request.length * index) / 40))
    await Promise.all(
      places.map(async (place, index) => {
        const socket = await openConnection(started().server.url)
        await new Promise((resolve) => socket.write(request.slice(0, place), 'latin1', resolve))
        if (index % 3 === 0) socket.end()
        else if (index % 3 === 1) socket.destroy()
        else socket.resetAndDestroy()
        socket.resume()
        if (!socket.closed) await once(socket, 'close')
      }),
    )
    await assertUnharmed()
  })

  test('a client that asks for a tunnel and resets its connection ends nothing', async () => {
    const { server } = started()
    const answer = await exchangeBytes(server.url, 'CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n')
    assert.equal(readRawAnswer(answer).status, 404)
    for (let count = 0; count < 50; count++) {
      const socket = await openConnection(server.url)
      socket.write('CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\nabc', () => socket.resetAndDestroy())
      await once(socket, 'close')
    }
    await assertUnharmed()
  })
})

describe('a stop', () => {
  /** The grace and what any machine takes; far less than forever. */
  const testOptions = { timeout: 240_000 }

  /** By the time of the answer the request before has come, too. */
  async function assertAlive({ url }: RunningServer): Promise<void> {
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
  }

  test(
    'a stop ends connections that were answered by hand, asked for a tunnel, or stopped in the middle of a body',
    testOptions,
    async (t) => {
      const { place, server } = await startAlone(t, 'sqlite', { STOP_GRACE: '300ms' })
      const requests = [
        'CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\nabc',
        'NONSENSE\r\n\r\n',
        'POST / HTT',
        writePost(account, '--x\r\nabc\r\n--x--\r\n'),
        writePost(account, '--x\r\nabc', 1000),
        writePost(media, `${filePart}${png.toString('latin1')}`, 100_000),
      ]
      for (const request of requests) {
        const socket = await openConnection(server.url)
        t.after(() => socket.destroy())
        socket.resume()
        socket.write(request, 'latin1')
      }
      const incoming = join(place.dataDir, 'files/incoming')
      await until(async () => (await readdir(incoming)).length === 1, 'the file has begun to arrive')
      const { code, stderr } = await server.stop('SIGTERM')
      assert.equal(code, 0, stderr)
      assert.deepEqual(await readdir(incoming), [])
    },
  )

  test('a stop ends a process whose disk hangs, and says why', testOptions, async (t) => {
    const { place, server } = await startAlone(t, 'sqlite', { STOP_GRACE: '300ms' })
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(png)]))
    const uploaded = await fetch(server.url + media, { method: 'POST', headers: { authorization }, body })
    const { id } = (await uploaded.json()) as { id: string }
    const read = await fetch(`${server.url}/v23.0/${id}`, { headers: { authorization } })
    const { url, sha256 } = (await read.json()) as { url: string; sha256: string }
    // Opening a pipe that nobody writes to waits, as opening a file on a disk that hangs does.
    const file = join(place.dataDir, 'files', sha256.slice(0, 2), sha256.slice(2))
    await rm(file)
    await promisify(execFile)('mkfifo', [file])
    const download = fetch(url, { headers: { authorization } })
    await assertAlive(server)
    const [{ code, stderr }] = await Promise.all([server.stop('SIGTERM'), assert.rejects(download)])
    assert.equal(code, null, 'it was killed')
    assert.match(stderr, /the stop took too long/)
  })

  test('a stop ends a process whose database hangs, and says why', testOptions, async (t) => {
    const place = await makeMigratedPlace('postgres')
    t.after(() => place.remove())
    const proxy = await new PostgresProxy(place.databaseUrl ?? '').start()
    t.after(() => proxy.cut())
    const env = { DATA_DIR: place.dataDir, DATABASE_URL: proxy.url, DATABASE_TIMEOUT: '5m', STOP_GRACE: '300ms' }
    const server = await startCommand(['serve', '--port', '0'], { env, cwd: place.dataDir })
    t.after(() => server.stop('SIGKILL'))
    proxy.goSilent()
    const headers = { authorization, 'content-type': 'application/json' }
    const write = fetch(server.url + account, { method: 'POST', headers, body: '{"name": "Later"}' })
    await assertAlive(server)
    const [{ code, stderr }] = await Promise.all([server.stop('SIGTERM'), assert.rejects(write)])
    assert.equal(code, null, 'it was killed')
    assert.match(stderr, /the stop took too long/)
  })
})
