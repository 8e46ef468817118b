import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { cannotStore } from '../src/graph/errors.ts'
import { type RunningServer, startCommand } from './harness/command.ts'
import { assertError } from './harness/errors.ts'
import { canMount, makeLimitedFolder, makeSmallFileSystem, type TightFolder } from './harness/full-disk.ts'
import { fill, pdf } from './harness/media-files.ts'
import { listFiles } from './harness/stock.ts'
import { until } from './harness/until.ts'
import { envelopeOf, messagesChange, textMessage } from './harness/webhooks.ts'

/** The store on a disk that is full for a while, in a process of its own: nothing half-written, clear errors, and no restart. */

const account = '/v23.0/1000000000000001'
const media = '/v23.0/4000000000000001/media'
const main = new URL('../src/main.js', import.meta.url).pathname
const mebibyte = 1_048_576

interface Answer {
  readonly status: number
  readonly retryAfter: string | null
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects.
  readonly body: any
}

class DiskClient {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async send(path: string, init: RequestInit = {}, token = 'demo-token'): Promise<Answer> {
    const headers = { authorization: `Bearer ${token}`, ...init.headers }
    const response = await fetch(this.#url + path, { ...init, headers })
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() }
  }

  rename(name: string): Promise<Answer> {
    return this.#post(account, { name })
  }

  async name(): Promise<string> {
    const { status, body } = await this.send(account)
    assert.equal(status, 200, JSON.stringify(body))
    return body.name
  }

  handIn(id: string, vocabulary: string): Promise<Answer> {
    return this.#post(
      '/msgapp/webhooks',
      envelopeOf([messagesChange(textMessage(id, vocabulary))]),
      'demo-gateway-token',
    )
  }

  upload(bytes: number): Promise<Answer> {
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(fill(pdf, bytes))]))
    return this.send(media, { method: 'POST', body })
  }

  #post(path: string, body: object, token?: string): Promise<Answer> {
    const headers = { 'content-type': 'application/json' }
    return this.send(path, { method: 'POST', headers, body: JSON.stringify(body) }, token)
  }
}

async function startOn(t: TestContext, folder: TightFolder): Promise<{ server: RunningServer; client: DiskClient }> {
  // With a limit whose count is stored once in a few calls, which must not be in the way of reads.
  const limit = { RATE_LIMIT_PLATFORM: '500/1h' }
  const env = { DATA_DIR: folder.path, LOG_LEVEL: 'warn', WEBHOOK_RETRY_DELAYS: '1h', DISK_RESERVE: '0', ...limit }
  const server = await startCommand(['serve', '--port', '0'], { env, cwd: folder.path })
  t.after(async () => {
    await server.stop('SIGKILL')
    await folder.remove()
  })
  return { server, client: new DiskClient(server.url) }
}

function assertRefused({ status, retryAfter, body }: Answer): void {
  assert.deepEqual([retryAfter, body.error.is_transient], ['30', true])
  assertError({ status, body }, cannotStore({ seconds: 30 }))
}

async function runLimited(blocks: number, args: readonly string[], folder: string) {
  const script = `ulimit -f ${blocks}; exec "$@"`
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', main, ...args]
  const child = spawn('bash', ['-c', script, 'bash', ...command], {
    env: { PATH: process.env['PATH'], DATA_DIR: folder, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { code, stderr }
}

function count(whole: string, part: string): number {
  return whole.split(part).length - 1
}

/** A full file system where one can be mounted; otherwise a limit, which leads to the same by another code. */
const isReal = canMount()
const makeFolder = (): Promise<TightFolder> => (isReal ? makeSmallFileSystem(24) : makeLimitedFolder(4096))
const name = isReal ? 'a file system without a byte left' : 'a limit on the size of files'

if (process.platform === 'linux') {
  test(`${name}: writes get a clear 500, reads go on, and with room writes work again by themselves`, async (t) => {
    const folder = await makeFolder()
    const { server, client } = await startOn(t, folder)
    assert.equal((await client.rename('Before')).status, 200)
    const files = await listFiles(folder.path)

    await folder.fill(server.pid)
    // The log of the database takes some more where it has been longer before.
    for (const size of [200_000, 20_000, 10]) {
      let turn = 0
      await until(
        async () => (await client.handIn(`m.${size}.${turn++}`, 'x'.repeat(size))).status === 500,
        'it is full',
      )
    }
    const kept = await client.name()
    const writes = Array.from({ length: 20 }, (_, i) => client.rename(`Meanwhile ${i}`))
    for (const answer of await Promise.all(writes)) assertRefused(answer)
    assertRefused(await client.handIn('m.refused', 'x'))
    for (const answer of await Promise.all([client.upload(100_000), client.upload(3 * mebibyte)])) assertRefused(answer)

    assert.equal(await client.name(), kept)
    assert.deepEqual(await listFiles(folder.path), files, 'nothing half-written is left')
    await until(async () => (await client.send('/readyz')).body.warning !== undefined, 'a warning is told')
    const { status, body } = await client.send('/readyz')
    assert.deepEqual([status, body], [200, { status: 'ready', warning: 'writes are refused' }])

    await folder.empty(server.pid)
    await until(async () => (await client.send('/readyz')).body.warning === undefined, 'the warning is taken back')
    assert.equal((await client.rename('After')).status, 200)
    assert.equal(await client.name(), 'After')
    assert.equal((await client.upload(3 * mebibyte)).status, 200)
    assert.equal((await listFiles(folder.path)).length, files.length + 1)
    assert.equal((await client.handIn('m.refused', 'x')).status, 200)

    const { code, stderr } = await server.stop('SIGTERM')
    assert.equal(code, 0, stderr)
    assert.equal(count(stderr, 'nothing can be stored: writes are refused, reads go on'), 1, stderr)
    assert.equal(count(stderr, 'writes are stored again'), 1, stderr)
    assert.doesNotMatch(stderr, /a request failed|"stack"|could not be/)
    const database = new DatabaseSync(join(folder.path, 'switchboard.db'), { readOnly: true })
    assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' })
    database.close()
  })
}

if (process.platform === 'linux') {
  test('a start on a full disk says so in one line', async (t) => {
    const { path, remove } = await makeLimitedFolder(0)
    t.after(remove)
    // Of 1024 bytes each: enough to make the database, and not to fill it.
    const { code, stderr } = await runLimited(300, ['serve', '--port', '0'], path)
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^switchboard: nothing can be stored in the data folder \(.+\); make room on its disk, or .+\n$/,
    )
  })

  describe('a disk that has room for the database and not for a file', () => {
    test('a disk that has room for the database and not for a file refuses the file, leaves nothing of it, and takes every other write', async (t) => {
      const folder = await makeLimitedFolder(8 * mebibyte)
      const { server, client } = await startOn(t, folder)
      const files = await listFiles(folder.path)
      await folder.fill(server.pid)
      assertRefused(await client.upload(9 * mebibyte))
      assert.deepEqual(await listFiles(folder.path), files)
      assert.equal((await client.rename('Meanwhile')).status, 200)
      assert.equal((await client.upload(mebibyte)).status, 200)
      assert.deepEqual((await client.send('/readyz')).body, { status: 'ready' })
      await folder.empty(server.pid)
      assert.equal((await client.upload(9 * mebibyte)).status, 200)
    })
  })
}
