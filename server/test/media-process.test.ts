import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { type RunningServer, startCommand } from './harness/command.ts'
import { type Engine, makeMigratedPlace, onBothDatabases, openPlace, type StorePlace } from './harness/databases.ts'
import { storages } from './harness/file-stores.ts'
import { type KeptFiles, makeKeptFiles, storageOf } from './harness/kept-files.ts'
import { fill, pdf } from './harness/media-files.ts'
import { SlowUpload, waitUntil } from './harness/slow-upload.ts'
import { listFiles, takeStock } from './harness/stock.ts'

/** Uploads of media to servers that are processes of their own: what is left when one is killed, and what memory one takes. */

const mebibyte = 1_048_576
const token = 'demo-token'
const headers = { authorization: `Bearer ${token}` }
const path = '/v23.0/4000000000000001/media'

/** A place for a store and the servers that run on it one after the other; all of it is gone after the test. */
async function useServers(t: TestContext, engine: Engine, where = storageOf(engine)) {
  const place = await makeMigratedPlace(engine)
  const files = await makeKeptFiles(place.dataDir, where)
  const started: RunningServer[] = []
  t.after(async () => {
    for (const server of started) await server.stop('SIGKILL')
    await files.stop()
    await place.remove()
  })
  return {
    place,
    files,
    async startServer(): Promise<RunningServer> {
      const { dataDir, databaseUrl } = place
      const env = {
        ...files.settings,
        DATA_DIR: dataDir,
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      }
      const server = await startCommand(['serve', '--port', '0'], { env, cwd: dataDir })
      started.push(server)
      return server
    },
  }
}

async function takeStockOf({ place, files }: { place: StorePlace; files: KeptFiles }) {
  const database = await openPlace(place)
  try {
    return await takeStock({ database, files })
  } finally {
    await database.close()
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

onBothDatabases('uploads of media to servers that are killed', (engine) => {
  test('in the middle of the file: neither a row nor a file is left, and the next server takes it', async (t) => {
    const { startServer, ...kept } = await useServers(t, engine)
    const bytes = fill(pdf, 3 * mebibyte)
    const first = await startServer()
    const before = await takeStockOf(kept)
    const upload = await SlowUpload.start({ url: first.url, path, token, length: 4 * mebibyte })
    await upload.send(bytes.subarray(0, 2 * mebibyte))
    const isArriving = async () => (await kept.files.list()).some((file) => file.startsWith('incoming/'))
    await waitUntil(isArriving, 'the file has begun to arrive')
    await first.stop('SIGKILL')
    upload.cut()
    assert.ok(await isArriving(), 'the process that was killed could not clear up')

    const second = await startServer()
    assert.deepEqual(await takeStockOf(kept), before)
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(bytes)]))
    const answer = await fetch(`${second.url}${path}`, { method: 'POST', headers, body })
    assert.equal(answer.status, 200)
    const after = await takeStockOf(kept)
    assert.deepEqual(after.media[0]?.sha256, sha256(bytes))
    assert.equal(after.files.length, before.files.length + 1)
  })

  test('when all of the file has come and nothing is answered yet: what is recorded is there whole', async (t) => {
    const { startServer, ...kept } = await useServers(t, engine)
    const bytes = fill(pdf, mebibyte)
    const first = await startServer()
    const upload = await SlowUpload.start({ url: first.url, path, token })
    await upload.send(bytes)
    await upload.end()
    await first.stop('SIGKILL')
    upload.cut()

    const second = await startServer()
    const { media, files } = await takeStockOf(kept)
    assert.deepEqual(
      files.filter((file) => file.startsWith('incoming/')),
      [],
    )
    for (const { id } of media) {
      const read = await fetch(`${second.url}/v23.0/${id}`, { headers })
      const { url } = (await read.json()) as { url: string }
      const answer = await fetch(url, { headers })
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes))
    }
  })
})

describe('memory', () => {
  /** The memory of a process, and the most that it had so far; only Linux tells of the latter. */
  async function measureMegabytes(pid: number) {
    if (process.platform !== 'linux') {
      const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])
      return { now: Number(stdout) / 1024, peak: Number(stdout) / 1024 }
    }
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
    return { now: read('VmRSS'), peak: read('VmHWM') }
  }

  for (const where of storages) {
    test(`a document of 100 MiB raises the memory of the server by less than 40 MB, and so does its download: on ${where}`, async (t) => {
      const { place, startServer } = await useServers(t, 'sqlite', where)
      const server = await startServer()
      // What the first upload of any size loads and compiles is no part of it.
      const small = await SlowUpload.start({ url: server.url, path, token })
      await small.send(pdf)
      await small.send(Buffer.alloc(4 * mebibyte, 1))
      await small.end()
      assert.equal((await small.answer()).status, 200)
      small.cut()
      const before = await measureMegabytes(server.pid)
      const upload = await SlowUpload.start({ url: server.url, path, token })
      await upload.send(pdf)
      for (let left = 100 * mebibyte - pdf.length; left > 0; left -= mebibyte) {
        await upload.send(Buffer.alloc(Math.min(left, mebibyte), left % 251))
      }
      await upload.end()
      const { status, body } = await upload.answer()
      assert.equal(status, 200, body)
      const uploaded = await measureMegabytes(server.pid)
      upload.cut()

      const read = await fetch(`${server.url}/v23.0/${JSON.parse(body).id}`, { headers })
      const medium = (await read.json()) as { url: string; sha256: string; file_size: number }
      assert.equal(medium.file_size, 100 * mebibyte)
      const answer = await fetch(medium.url, { headers })
      const hash = createHash('sha256')
      for await (const chunk of answer.body ?? []) hash.update(chunk)
      assert.equal(hash.digest('hex'), medium.sha256)
      const downloaded = await measureMegabytes(server.pid)

      t.diagnostic(
        `${before.now.toFixed(1)} MB, uploaded ${uploaded.peak.toFixed(1)}, downloaded ${downloaded.peak.toFixed(1)}`,
      )
      assert.ok(uploaded.peak - before.now < 40, `from ${before.now} MB to ${uploaded.peak} MB`)
      assert.ok(downloaded.peak - uploaded.peak < 40, `from ${uploaded.peak} MB to ${downloaded.peak} MB`)
      assert.equal((await listFiles(place.dataDir)).length, where === 'disk' ? 2 : 0)
    })
  }

  test('a body of 120,000 chunks of one byte raises the memory of the server by what it holds, not by what each chunk costs', async (t) => {
    const { startServer } = await useServers(t, 'sqlite')
    const server = await startServer()
    const before = await measureMegabytes(server.pid)
    const pieces = Buffer.from('1\r\nx\r\n'.repeat(20_000))
    const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
    for (const [type, at, first] of [
      ['application/json', '/v23.0/1000000000000001', '"'],
      ['multipart/form-data; boundary=b', path, part],
    ] as const) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
      t.after(() => socket.destroy())
      const head = `POST ${at} HTTP/1.1\r\nHost: a\r\nAuthorization: ${headers.authorization}\r\nContent-Type: ${type}\r\n`
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${first.length.toString(16)}\r\n${first}\r\n`)
      for (let sent = 0; sent < 6; sent++) await new Promise((resolve) => socket.write(pieces, resolve))
      socket.write('0\r\n\r\n')
      const [answer] = await once(socket, 'data')
      assert.match(String(answer), /^HTTP\/1\.1 400 /)
    }
    const { peak } = await measureMegabytes(server.pid)
    t.diagnostic(`${before.now.toFixed(1)} MB, then ${peak.toFixed(1)} MB`)
    assert.ok(peak - before.now < 85, `from ${before.now} MB to ${peak} MB`)
  })
})
