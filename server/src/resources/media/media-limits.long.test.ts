import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../../../test/harness/client.ts'
import { onBothDatabases } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import * as files from '../../../test/harness/media-files.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { SlowUpload } from '../../../test/harness/slow-upload.ts'
import { takeStock } from '../../../test/harness/stock.ts'
import { until } from '../../../test/harness/until.ts'
import { ids, numbers, tokens } from '../../../test/harness/world.ts'
import { readConfig } from '../../config.ts'
import { bodyTooLarge, tooManyParts, tooMuchBesidesFile, uploadTooLarge } from '../../http/errors.ts'
import { fileTooLarge, fileTypeNotTaken, fileTypeUnknown } from './errors.ts'

const path = `/v23.0/${numbers.main}/media`
const { fill, webp, mp4, officeDocument } = files
const mebibyte = 1_048_576
/** The limits that are megabytes by default. */
const smallLimits = {
  MAX_IMAGE_BYTES: '200000',
  MAX_AUDIO_BYTES: '250000',
  MAX_VIDEO_BYTES: '350000',
  MAX_DOCUMENT_BYTES: '300000',
  MAX_MEDIA_TEXT_BYTES: '2000',
}

test('the limits by default', () => {
  const { maxImageBytes, maxAudioBytes, maxVideoBytes, maxDocumentBytes, maxMediaTextBytes } = readConfig({})
  assert.deepEqual(
    [maxImageBytes, maxAudioBytes, maxVideoBytes, maxDocumentBytes, maxMediaTextBytes],
    [5 * mebibyte, 16 * mebibyte, 16 * mebibyte, 100 * mebibyte, 16 * mebibyte],
  )
})

onBothDatabases('limits of media', (engine) => {
  const server = useTestServer({ engine })
  const small = useTestServer({ engine, env: smallLimits })

  function send(bytes: Buffer, { client } = server): Promise<Answer> {
    const file = new Blob([new Uint8Array(bytes)])
    return client.callRow(client.row('media.upload'), path, { token: tokens.owner, multipart: { file } })
  }

  for (const [name, file, limit, expected] of [
    ['an image', files.png, 200_000, fileTooLarge({ kind: 'an image', max: 200_000 })],
    ['sound', files.mp3, 250_000, fileTooLarge({ kind: 'an audio file', max: 250_000 })],
    ['a film', mp4('3gp4', ['vide']), 350_000, fileTooLarge({ kind: 'a video', max: 350_000 })],
    ['a sticker', webp({ animated: false, extended: true }), 102_400, fileTooLarge({ kind: 'a sticker', max: 102400 })],
    ['a plain sticker', webp({ animated: false }), 102_400, fileTooLarge({ kind: 'a sticker', max: 102400 })],
    ['a moving sticker', webp({ animated: true }), 512_000, fileTooLarge({ kind: 'an animated sticker', max: 512000 })],
  ] as const) {
    test(`limits of media: 200 for ${name} of ${limit} bytes, 400 for one of a byte more, of which nothing stays`, async () => {
      assert.equal((await send(fill(file, limit), small)).status, 200)
      const before = await takeStock(small)
      assertError(await send(fill(file, limit + 1), small), expected)
      assert.deepEqual(await takeStock(small), before)
    })
  }

  for (const [name, file, byte] of [
    ['PDF', files.pdf, 0],
    ['plain text', Buffer.from('hello'), 0x20],
    ['zip', officeDocument('docx'), 0],
    ['compound', files.compoundFile(['WordDocument']), 0],
  ] as const) {
    test(`limits of media: 200 for a document (${name}) as large as the setting says, 400 for one of a byte more`, async () => {
      assert.equal((await send(fill(file, 300_000, byte), small)).status, 200)
      assertError(await send(fill(file, 300_001, byte), small), fileTooLarge({ kind: 'a document', max: 300000 }))
    })
  }

  test('limits of media: 200 for a body of text as large as the setting says, 400 for one of a byte more', async () => {
    const bare = JSON.stringify({ file: files.png.toString('base64') })
    const post = (raw: string) =>
      small.client.post(path, { token: tokens.owner, raw, headers: { 'content-type': 'application/json' } })
    assert.equal((await post(bare.padEnd(2000))).status, 200)
    assertError(await post(bare.padEnd(2001)), bodyTooLarge({ max: 2000 }))
  })

  test('200 for a text of 16 MiB by default, where other operations take 1 MiB', async () => {
    const file = Buffer.from('hello '.repeat(2_000_000)).toString('base64')
    assert.ok(file.length >= 16_000_000)
    const { status, text } = await server.client.post(path, { token: tokens.owner, json: { file } })
    assert.equal(status, 200, text)
  })

  test('400 when the members besides the file are larger than 1 MiB together, and nothing stays', async () => {
    const before = await takeStock(server)
    const half = 'x'.repeat(mebibyte / 2)
    const file = new Blob([new Uint8Array(files.jpeg)])
    const post = (multipart: Record<string, string | Blob>) =>
      server.client.post(path, { token: tokens.owner, multipart })
    assert.equal((await post({ file, a: half, b: half })).status, 200)
    const kept = await takeStock(server)
    assert.equal(kept.media.length, before.media.length + 1)
    const tooMuch: Record<string, string>[] = [{ a: half, b: half, c: 'x' }, { a: half + half + half }]
    for (const members of tooMuch) {
      assertError(await post({ file, ...members }), tooMuchBesidesFile({ max: 1048576 }))
    }
    assert.deepEqual(await takeStock(server), kept)
  })

  test('limits of media: 400 with more than 1000 members', async () => {
    const multipart = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`m${index}`, 'x']))
    assertError(await server.client.post(path, { token: tokens.owner, multipart }), tooManyParts({ max: 1000 }))
  })

  const startUpload = (length?: number) => SlowUpload.start({ url: server.url, path, token: tokens.owner, length })
  const isStillArriving = async () => (await server.files.list()).some((file) => file.startsWith('incoming/'))

  test('limits of media: 400 for what is announced as larger than any file may be, before a byte of it has come', async () => {
    const upload = await startUpload(101 * mebibyte + 1)
    const { status, body } = await upload.answer()
    assertError({ status, body: JSON.parse(body) }, uploadTooLarge('file', { max: 104_857_600 }))
    upload.cut()
  })

  for (const [name, bytes, expected] of [
    ['is of another type', files.gif, like(fileTypeNotTaken, { found: 'image/gif' })],
    ['is larger than an image may be', files.png, like(fileTooLarge, { kind: 'an image' })],
    ['stops to be a text', fill(Buffer.from('hello'), 100_000, 0x20), fileTypeUnknown],
  ] as const) {
    test(`limits of media: 400 as soon as a file ${name}, though more of it would come, and the connection stays usable`, async () => {
      const before = await takeStock(server)
      const upload = await startUpload()
      await upload.send(bytes)
      await upload.send(Buffer.alloc(6 * mebibyte))
      // Nobody has said that this was all: the answer does not wait for the end.
      const { status, body } = await upload.answer()
      assertError({ status, body: JSON.parse(body) }, expected)
      assert.deepEqual(await takeStock(server), before)
      await upload.send(Buffer.alloc(3 * mebibyte))
      await upload.end()
      assert.equal((await upload.ask(`/v23.0/${ids.account}`, tokens.owner)).status, 200)
      upload.cut()
    })
  }

  test('an upload that comes byte by byte is taken like one that comes at once', async () => {
    const upload = await startUpload()
    for (const byte of files.png) await upload.send(Buffer.from([byte]))
    await upload.end()
    const { status, body } = await upload.answer()
    assert.equal(status, 200)
    const { id } = JSON.parse(body)
    const read = await server.client.get(`/v23.0/${id}`, { token: tokens.owner })
    assert.deepEqual([read.body.mime_type, read.body.file_size], ['image/png', files.png.length])
    upload.cut()
  })

  test('nothing stays of an upload whose connection is cut off', async () => {
    const before = await takeStock(server)
    const upload = await startUpload(3 * mebibyte)
    await upload.send(fill(files.png, mebibyte))
    await until(isStillArriving, 'the file has begun to arrive')
    upload.cut()
    await until(async () => !(await isStillArriving()), 'what had arrived is gone')
    assert.deepEqual(await takeStock(server), before)
  })

  test('many uploads at the same moment, equal and different, all arrive whole', async () => {
    const before = await server.files.list()
    const pictures = [1, 2, 3].map((byte) => fill(files.png, mebibyte, byte))
    const answers = await Promise.all([...pictures, ...pictures, ...pictures, ...pictures].map((bytes) => send(bytes)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    assert.equal(new Set(answers.map(({ body }) => body.id)).size, 12)
    assert.equal((await server.files.list()).length, before.length + 3)
  })
})
