import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, before, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import type { App } from '../src/app.ts'
import { systemRandom } from '../src/base/keys/random.ts'
import { type Log, silentLog } from '../src/base/log/log.ts'
import { ManualClock } from '../src/base/time/clock.ts'
import { hour, minute } from '../src/base/time/duration.ts'
import { readConfig } from '../src/config.ts'
import { openFileStores } from '../src/files/open.ts'
import { cannotReachFiles, cannotStoreFiles } from '../src/graph/errors.ts'
import type { Answer, Client } from './harness/client.ts'
import { runCommand } from './harness/command.ts'
import { assertError } from './harness/errors.ts'
import { makeTestFiles } from './harness/file-stores.ts'
import { pdf } from './harness/media-files.ts'
import { accessKeyId, ObjectStorage, secretAccessKey } from './harness/object-storage.ts'
import { makePicture } from './harness/pictures.ts'
import { startSecondProcess } from './harness/second-process.ts'
import { startTestServer, type TestServer } from './harness/server.ts'
import { listFiles, takeStock } from './harness/stock.ts'
import { until } from './harness/until.ts'
import { ids, numbers, tokens } from './harness/world.ts'

const path = `/v23.0/${numbers.main}/media`
const token = tokens.owner
let serial = 0

/** A document that no other test has. */
function makeDocument(size = 1000): Buffer {
  return Buffer.concat([pdf, Buffer.from(`% ${++serial}\n`), Buffer.alloc(size, serial)])
}

/** Two machines with a disk of their own each, one PostgreSQL and one object storage. */
describe('files in object storage', () => {
  let storage: ObjectStorage
  let server: TestServer
  let otherDisk: string
  let other: { app: App; client: Client }
  let lines = ''
  const sink = new Writable({
    write(chunk, _, done) {
      lines += chunk
      done()
    },
  })
  const log: Log = Object.assign(pino({ level: 'trace' }, sink), { line: () => undefined })

  before(async () => {
    const env = { FILES_TIMEOUT: '8s' }
    server = await startTestServer({ engine: 'postgres', storage: 'object storage', env, log })
    assert.ok(server.files.storage)
    storage = server.files.storage
    otherDisk = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
    other = await startSecondProcess(server, { ...env, DATA_DIR: otherDisk })
  })
  after(async () => {
    await other.app.close(1000)
    await server.stop()
    await rm(otherDisk, { recursive: true, force: true })
  })
  beforeEach(() => {
    storage.fault = () => undefined
  })

  const upload = (bytes: Buffer): Promise<Answer> =>
    server.client.post(path, { token, multipart: { file: new Blob([new Uint8Array(bytes)]) } })
  async function put(bytes: Buffer): Promise<string> {
    const { status, body, text } = await upload(bytes)
    assert.equal(status, 200, text)
    return body.id
  }
  /** Reads a media file at the other machine. */
  async function download(id: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
    const { body } = await other.client.get(`/v23.0/${id}`, { token })
    return fetch(body.url, { method, headers: { authorization: `Bearer ${token}`, ...headers } })
  }
  /** Either machine may have taken what is due, and what follows from it. */
  const settle = async () => {
    for (const { app } of [server, other, server]) await app.settle()
  }
  const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())
  const keysOf = async (bytes: Buffer) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return (await storage.keys()).filter((key) => key.includes(`${sha256.slice(0, 2)}/${sha256.slice(2)}`))
  }

  test('one machine stores a media file, another serves it and its parts, and neither keeps it on its disk', async () => {
    const bytes = makeDocument(300_000)
    const id = await put(bytes)
    const whole = await download(id)
    assert.equal(whole.headers.get('content-length'), String(bytes.length))
    assert.ok((await bytesOf(whole)).equals(bytes))
    const part = await download(id, { range: 'bytes=200000-200009' })
    assert.equal(part.status, 206)
    assert.ok((await bytesOf(part)).equals(bytes.subarray(200_000, 200_010)))
    const head = await download(id, {}, 'HEAD')
    assert.equal(head.headers.get('content-length'), String(bytes.length))
    assert.deepEqual([await listFiles(server.dataDir), await listFiles(otherDisk)], [[], []])

    assert.equal((await server.client.delete(`/v23.0/${id}`, { token })).status, 200)
    server.clock.advance(hour)
    await settle()
    assert.deepEqual(await keysOf(bytes), [])
  })

  test('an upload by pieces goes on at another machine, and the picture is served there; nothing is left of the pieces', async () => {
    const picture = makePicture('image/png', 300)
    const json = { file_length: picture.length, file_type: 'image/png' }
    const { body: opened } = await server.client.post(`/v23.0/${ids.application}/uploads`, { token, json })
    const append = (client: Client, offset: number, raw: Uint8Array) =>
      client.post(`/v23.0/${opened.id}`, { token, raw, headers: { file_offset: String(offset) } })
    assert.equal((await append(server.client, 0, picture.subarray(0, 100))).body.file_offset, 100)

    // Not taken, and the upload stays where it was.
    storage.fault = ({ method }) => (method === 'PUT' ? { status: 507, code: 'InsufficientStorage' } : undefined)
    assertError(await append(other.client, 100, picture.subarray(100, 200)), cannotStoreFiles({ seconds: 30 }))
    storage.fault = () => undefined
    assert.equal((await other.client.get(`/v23.0/${opened.id}`, { token })).body.file_offset, 100)

    assert.equal((await append(other.client, 100, picture.subarray(100, 200))).body.file_offset, 200)
    const handle = (await append(server.client, 200, picture.subarray(200))).body.h
    assert.ok(handle)
    const profile = `/v23.0/${numbers.main}/msgapp_business_profile`
    const set = { messaging_product: 'msgapp', profile_picture_handle: handle }
    assert.equal((await server.client.post(profile, { token, json: set })).status, 200)
    const shown = await other.client.get(profile, { token, query: { fields: 'profile_picture_url' } })
    const url = new URL(shown.body.data[0].business_profile.profile_picture_url)
    const served = await fetch(`${other.client.url}${url.pathname}`)
    assert.ok((await bytesOf(served)).equals(picture))
    await settle()
    assert.deepEqual(
      (await storage.keys()).filter((key) => key.includes('uploads/')),
      [],
    )
  })

  for (const [name, fault, expected] of [
    ['is silent', 'silence', cannotReachFiles({ seconds: 5 })],
    ['fails', { status: 500, code: 'InternalError' }, cannotReachFiles({ seconds: 5 })],
    ['is overloaded', { status: 503, code: 'SlowDown' }, cannotReachFiles({ seconds: 5 })],
    ['is full', { status: 507, code: 'InsufficientStorage' }, cannotStoreFiles({ seconds: 30 })],
    ['refuses the key', { status: 403, code: 'AccessDenied' }, cannotReachFiles({ seconds: 30 })],
    ['has no bucket', { status: 404, code: 'NoSuchBucket' }, cannotReachFiles({ seconds: 30 })],
  ] as const) {
    test(`storage that ${name}: a transient error, nothing half-stored, and the same upload works afterwards`, async () => {
      const bytes = makeDocument()
      const id = await put(makeDocument())
      const before = await takeStock(server)
      storage.fault = () => fault
      const answer = await upload(bytes)
      assertError(answer, expected)
      assert.equal(answer.headers.get('retry-after'), String(expected.args['seconds']))
      assert.equal((await download(id)).status, 500)
      const { contents: _, ...after } = await takeStock(server)
      const { contents: __, ...expectedStock } = before
      assert.deepEqual(after, expectedStock)
      assert.deepEqual(await listFiles(server.dataDir), [])

      storage.fault = () => undefined
      assert.ok((await bytesOf(await download(await put(bytes)))).equals(bytes))
      assert.equal((await download(id)).status, 200)
    })
  }

  test('storage that vanishes and comes back: refused meanwhile, then as before', async () => {
    const bytes = makeDocument()
    const id = await put(bytes)
    await storage.vanish()
    assertError(await upload(makeDocument()), cannotReachFiles({ seconds: 5 }))
    assert.equal((await download(id)).status, 500)
    // What needs no bytes goes on.
    assert.equal((await server.client.get(`/v23.0/${numbers.main}`, { token })).status, 200)
    await storage.appear()
    assert.ok((await bytesOf(await download(id))).equals(bytes))
    await put(makeDocument())
  })

  test('a request that fails once is repeated, and a download that breaks off goes on where it was', async () => {
    let failures = 0
    storage.fault = () => (failures++ === 0 ? { status: 500, code: 'InternalError' } : undefined)
    const bytes = makeDocument(500_000)
    const id = await put(bytes)
    let cuts = 0
    storage.fault = ({ method }) => (method === 'GET' && cuts++ < 2 ? 'cut' : undefined)
    assert.ok((await bytesOf(await download(id))).equals(bytes))
    assert.equal(cuts, 3)
  })

  test('a removal that comes late takes nothing of who stored the same bytes again', async () => {
    const bytes = makeDocument()
    const first = await put(bytes)
    const [place] = await keysOf(bytes)
    storage.fault = ({ method }) => (method === 'DELETE' ? { status: 500, code: 'InternalError' } : undefined)
    await server.client.delete(`/v23.0/${first}`, { token })
    server.clock.advance(hour)
    await settle()
    assert.deepEqual(await keysOf(bytes), [place])

    const second = await put(bytes)
    storage.fault = () => undefined
    server.clock.advance(2 * minute)
    await settle()
    const left = await keysOf(bytes)
    assert.ok(left.length === 1 && left[0] !== place, 'the first one is gone, the second one is not')
    assert.ok((await bytesOf(await download(second))).equals(bytes))
  })

  test('metrics count what the storage did, by outcome, and bytes', async () => {
    const read = async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      const find = (line: string) =>
        Number(
          text
            .split('\n')
            .find((one) => one.startsWith(line))
            ?.split(' ')[1] ?? 0,
        )
      const count = (operation: string, outcome: string) =>
        find(`switchboard_files_operation_duration_seconds_count{operation="${operation}",outcome="${outcome}"}`)
      const bytes = (direction: string) => find(`switchboard_files_bytes_total{direction="${direction}"}`)
      return [count('store', 'ok'), count('store', 'full'), bytes('stored')] as const
    }
    const [stored, refused, bytes] = await read()
    await put(makeDocument(5000))
    storage.fault = () => ({ status: 507, code: 'InsufficientStorage' })
    await upload(makeDocument())
    const [storedThen, refusedThen, bytesThen] = await read()
    assert.deepEqual([storedThen - stored, refusedThen - refused], [1, 1])
    assert.ok(bytesThen - bytes > 5000 && bytesThen - bytes < 6000)
  })

  test('neither the log nor a response ever has the credentials of the object storage', async () => {
    await until(async () => lines.includes('files cannot be stored or read'), 'an outage was logged')
    assert.match(lines, /the object storage works again/)
    assert.ok(!lines.includes(secretAccessKey) && !lines.includes(accessKeyId) && !lines.includes('Signature='))
  })
})

test('an outage is over in the log when something was found, not when a HEAD found nothing', async (t) => {
  const clock = new ManualClock(Date.now())
  const place = await makeTestFiles('object storage', clock)
  t.after(() => place.remove())
  const lines: string[] = []
  const note = (...said: unknown[]) => void lines.push(String(said.at(-1)))
  const log: Log = { ...silentLog, error: note, warn: note }
  const config = readConfig({ ...place.storage?.settings(), DATA_DIR: place.folder })
  const { store } = await openFileStores(config, { clock, random: systemRandom, log })
  t.after(() => store.close())
  assert.ok(place.storage)
  place.storage.fault = () => ({ status: 404, code: 'NoSuchBucket' })
  const blob = { sha256: '0'.repeat(64), place: '' }
  await assert.rejects(store.get(blob), /NoSuchBucket/)
  assert.equal(await store.find(blob), undefined)
  assert.deepEqual(lines, ['files cannot be stored or read: requests are refused'])
  place.storage.fault = () => undefined
  assert.equal(await store.get(blob), undefined)
  assert.deepEqual(lines.slice(1), ['the object storage works again'])
})

describe('files copy', () => {
  test('files copy takes every file to object storage and back, goes on where it was stopped, and names what is missing', async (t) => {
    const storage = await ObjectStorage.start()
    t.after(() => storage.stop())
    const server = await startTestServer({ engine: 'sqlite', storage: 'disk' })
    t.after(() => server.stop())
    const documents = Array.from({ length: 6 }, () => makeDocument())
    for (const bytes of documents) {
      const multipart = { file: new Blob([new Uint8Array(bytes)]) }
      assert.equal((await server.client.post(path, { token, multipart })).status, 200)
    }
    const json = { file_length: 300, file_type: 'image/png' }
    const { body: opened } = await server.client.post(`/v23.0/${ids.application}/uploads`, { token, json })
    const raw = makePicture('image/png', 300).subarray(0, 100)
    await server.client.post(`/v23.0/${opened.id}`, { token, raw, headers: { file_offset: '0' } })
    // The test world has rows of files that never had bytes.
    const { query } = server.database.read
    const bare = await query.selectFrom('files').select('sha256').where('size', '=', 100).execute()

    const { FILES_URL: url = '', ...env } = storage.settings()
    const options = { env: { ...env, DATA_DIR: server.dataDir }, cwd: server.dataDir }
    const copy = (from: string, to: string) => runCommand(['files', 'copy', '--from', from, '--to', to], options)

    let stored = 0
    storage.fault = ({ method }) =>
      method === 'PUT' && stored++ === 3 ? { status: 403, code: 'AccessDenied' } : undefined
    const stopped = await copy('disk', url)
    assert.equal(stopped.code, 1)
    assert.match(stopped.stderr, /the object storage answered PUT with 403 AccessDenied/)
    assert.equal((await storage.keys()).length, 3)

    storage.fault = () => undefined
    const done = await copy('disk', url)
    assert.match(done.stdout, /^Copied 4 files and pieces \(\d+ bytes\)/, done.stderr)
    assert.match(done.stderr, /100 %/)
    assert.equal((await storage.keys()).length, 7)
    if (bare.length > 0) assert.match(done.stderr, /files that are used are not in disk/)

    const back = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
    t.after(() => rm(back, { recursive: true, force: true }))
    const returned = await copy(url, back)
    assert.match(returned.stdout, /^Copied 7 files and pieces/)
    assert.deepEqual(await listFiles(back), await listFiles(server.dataDir))
    assert.match((await copy(url, back)).stdout, /^Copied 0 files and pieces/)

    const same = await copy('disk', 'disk')
    assert.deepEqual([same.code, same.stdout], [1, ''])
    assert.match(same.stderr, /are the same storage/)
  })
})
