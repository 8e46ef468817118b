import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { onBothDatabases, openPlace, type StorePlace } from './harness/databases.ts'
import { storages } from './harness/file-stores.ts'
import type { KeptFiles } from './harness/kept-files.ts'
import { fill, pdf } from './harness/media-files.ts'
import { assertLittleMemory, headers, measureMegabytes, path, token, useServers } from './harness/media-process.ts'
import { SlowUpload } from './harness/slow-upload.ts'
import { takeStock } from './harness/stock.ts'
import { until } from './harness/until.ts'

/** Uploads of media to servers that are processes of their own: what is left when one is killed, and what memory one takes. */

const mebibyte = 1_048_576

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
  test('uploads of media to servers that are killed: in the middle of the file: neither a row nor a file is left, and the next server takes it', async (t) => {
    const { startServer, ...kept } = await useServers(t, engine)
    const bytes = fill(pdf, 3 * mebibyte)
    const first = await startServer()
    const before = await takeStockOf(kept)
    const upload = await SlowUpload.start({ url: first.url, path, token, length: 4 * mebibyte })
    await upload.send(bytes.subarray(0, 2 * mebibyte))
    const isArriving = async () => (await kept.files.list()).some((file) => file.startsWith('incoming/'))
    await until(isArriving, 'the file has begun to arrive')
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

  // Where the file is, is decided before.
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

// Far more than it may take, so that a file that is held whole is found.
for (const where of storages) {
  test(`a document of 48 MiB raises the memory of the server by less than 40 MB, and so does its download: on ${where}`, (t) =>
    assertLittleMemory(t, where, 48 * mebibyte))
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
    const head = `POST ${at} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${headers.authorization}\r\nContent-Type: ${type}\r\n`
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
