import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, type ExpectedError } from '../../../test/harness/errors.ts'
import { byForm } from '../../../test/harness/form.ts'
import * as files from '../../../test/harness/media-files.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { takeStock } from '../../../test/harness/stock.ts'
import { ids, numbers, tokens } from '../../../test/harness/world.ts'
import { fileTypeNotTaken, fileTypeUnknown } from './errors.ts'
import { mediaTypes } from './kinds.ts'
import { recognize } from './recognize.ts'

const path = `/v23.0/${numbers.main}/media`
const openXml = 'application/vnd.openxmlformats-officedocument'
const { fill, ogg, webp, mp4, officeDocument, compoundFile } = files

const text = 'Träume sind Schäume\n'
const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le')

const taken: readonly (readonly [string, Buffer, string])[] = [
  ['a JPEG picture', files.jpeg, 'image/jpeg'],
  ['a PNG picture', files.png, 'image/png'],
  ['AAC sound', files.aac, 'audio/aac'],
  ['AMR sound', files.amr, 'audio/amr'],
  ['MP3 sound', files.mp3, 'audio/mpeg'],
  ['MP3 sound behind a tag', Buffer.concat([files.id3, files.mp3]), 'audio/mpeg'],
  ['AAC sound behind a tag', Buffer.concat([files.id3, files.aac]), 'audio/aac'],
  ['MP4 sound by its brand', mp4('M4A '), 'audio/mp4'],
  ['MP4 sound by its only track', mp4('isom', ['soun']), 'audio/mp4'],
  ['an audio book with pictures of its chapters', mp4('M4B ', ['soun', 'vide']), 'audio/mp4'],
  ['Opus sound', ogg('OpusHead'), 'audio/ogg'],
  ['Vorbis sound', ogg('\x01vorbis'), 'audio/ogg'],
  ['an MP4 film with sound', mp4('isom', ['soun', 'vide']), 'video/mp4'],
  ['an MP4 film without a list of tracks', mp4('mp42'), 'video/mp4'],
  ['an M4V film', mp4('M4V ', ['vide']), 'video/mp4'],
  ['a 3GP film', mp4('3gp4', ['vide', 'soun']), 'video/3gpp'],
  ['a text in UTF-8', Buffer.from(text), 'text/plain'],
  ['a text of one character', Buffer.from('x'), 'text/plain'],
  ['a text with a mark of its byte order', Buffer.from(`\ufeff${text}`), 'text/plain'],
  ['a text in UTF-16, the small end first', utf16, 'text/plain'],
  ['a text in UTF-16, the big end first', Buffer.from(utf16).swap16(), 'text/plain'],
  ['a long text whose characters are divided by chunks', Buffer.from('ä€😀'.repeat(50_000)), 'text/plain'],
  ['a text that begins like a bitmap', Buffer.from('BMW or bicycle?'), 'text/plain'],
  ['a text that begins like a tag', Buffer.from('ID3 is a kind of tag, not a sound.'), 'text/plain'],
  ['a table of values', Buffer.from('name;price\nshrub;12\n'), 'text/plain'],
  ['a PDF document', files.pdf, 'application/pdf'],
  ['a Word document', officeDocument('docx'), `${openXml}.wordprocessingml.document`],
  ['an Excel sheet', officeDocument('xlsx'), `${openXml}.spreadsheetml.sheet`],
  ['a PowerPoint presentation', officeDocument('pptx'), `${openXml}.presentationml.presentation`],
  ['a Word document that tells so far inside', officeDocument('docx', 300_000), `${openXml}.wordprocessingml.document`],
  ['an old Word document with an Excel sheet in it', compoundFile(['1Table', 'WordDocument']), 'application/msword'],
  ['an old Excel sheet', compoundFile(['Workbook'], { embedded: 'WordDocument' }), 'application/vnd.ms-excel'],
  ['a very old Excel sheet', compoundFile(['Book'], { embedded: 'WordDocument' }), 'application/vnd.ms-excel'],
  ['an old PowerPoint presentation', compoundFile(['PowerPoint Document']), 'application/vnd.ms-powerpoint'],
  ['a sticker', webp({ animated: false }), 'image/webp'],
  ['a sticker that moves', webp({ animated: true }), 'image/webp'],
]

const types = Object.keys(mediaTypes)
const of = (found: string) => fileTypeNotTaken({ found, types })

const refused: readonly (readonly [string, Buffer, ExpectedError])[] = [
  ['a GIF picture', files.gif, of('image/gif')],
  ['FLAC sound behind a tag', Buffer.concat([files.id3, files.flac]), of('audio/flac')],
  ['a QuickTime film', mp4('qt  ', ['vide']), of('video/quicktime')],
  ['a film in Ogg', ogg('\x80theora'), of('video/ogg')],
  ['a HEIC picture', mp4('heic'), of('image/heic')],
  ['a zip archive', files.zip({ 'notes.txt': 'hello' }), of('application/zip')],
  ['a zip archive that breaks off', officeDocument('docx').subarray(0, 40), of('application/zip')],
  ['a Word document with macros', officeDocument('docm'), of('application/vnd.ms-word.document.macroenabled.12')],
  ['a compound file of another application', compoundFile(['__properties']), of('application/x-cfb')],
  ['a compound file without a directory', fill(compoundFile([]).subarray(0, 48), 4096), of('application/x-cfb')],
  ['a page in HTML', Buffer.from('\n<!-- hi --><!DOCTYPE html><p>hi'), of('text/html')],
  ['a drawing in SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), of('image/svg+xml')],
  ['XML', Buffer.from('<?xml version="1.0"?><a/>'), of('application/xml')],
  [
    'a program',
    Buffer.concat([Buffer.from('MZ'), Buffer.alloc(100, 0x90), Buffer.alloc(100)]),
    of('application/x-msdownload'),
  ],
  ['bytes of no known type', Buffer.from('0102030405060708', 'hex'), fileTypeUnknown({ types })],
  ['a text with a NUL', Buffer.from('hello\0'), fileTypeUnknown({ types })],
  ['a text with a control character far behind', Buffer.from(`${'x'.repeat(200_000)}\x01`), fileTypeUnknown({ types })],
  ['a text in Latin-1', Buffer.from('Träume', 'latin1'), fileTypeUnknown({ types })],
  ['a text whose last character is not whole', Buffer.from('Zwölf €').subarray(0, -1), fileTypeUnknown({ types })],
  ['UTF-16 with half a character', Buffer.concat([utf16, Buffer.from([0x61])]), fileTypeUnknown({ types })],
]

onOneDatabase('types of media', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const send = (bytes: Buffer, name = 'file.bin', type = 'application/octet-stream') =>
    server.client.callRow(server.client.row('media.upload'), path, {
      token: tokens.owner,
      multipart: { file: new File([new Uint8Array(bytes)], name, { type }) },
    })

  for (const [name, bytes, type] of taken) {
    test(`types of media: 200 for ${name}, which is ${type}`, async () => {
      const { status, body, text } = await send(bytes)
      assert.equal(status, 200, text)
      const read = await server.client.get(`/v23.0/${body.id}`, { token: tokens.owner })
      assert.equal(read.body.mime_type, type)
      assert.equal(read.body.file_size, bytes.length)
    })
  }

  for (const [name, bytes, expected] of refused) {
    test(`types of media: 400 for ${name}, and nothing stays`, async () => {
      const before = await takeStock(server)
      assertError(await send(bytes), expected)
      assert.deepEqual(await takeStock(server), before)
    })
  }

  test('the bytes decide, whatever the name and the type that were sent', async () => {
    const { body } = await send(files.png, 'film.mp4', 'video/mp4')
    const read = await server.client.get(`/v23.0/${body.id}`, { token: tokens.owner })
    assert.equal(read.body.mime_type, 'image/png')
    assert.equal((await send(files.gif, 'picture.png', 'image/png')).status, 400)
    assert.equal((await server.client.get(`/v23.0/${ids.media}`, { token: tokens.owner })).status, 200)
  })
})

describe('recognizing a whole file', () => {
  const recognizeBuffer = (bytes: Buffer) =>
    recognize({ size: bytes.length, read: async (at, length) => bytes.subarray(at, at + length) })

  test('an old Word document is found however far behind its directory is', async () => {
    const large = compoundFile(['WordDocument'], { before: 60_000 })
    assert.ok(large.length > 30_000_000)
    assert.equal(await recognizeBuffer(large), 'application/msword')
  })

  test('a compound file whose directory goes round in circles ends', async () => {
    const bytes = compoundFile(['Nothing'])
    const directory = bytes.readUInt32LE(48)
    // The chain leads back to its start.
    bytes.writeUInt32LE(directory, 512 + directory * 4)
    assert.equal(await recognizeBuffer(bytes), 'application/x-cfb')
  })

  test('an MP4 file of ever so many boxes ends', async () => {
    const bytes = Buffer.concat([mp4('isom'), Buffer.from('0000000866726565'.repeat(100_000), 'hex')])
    assert.equal(await recognizeBuffer(bytes), 'video/mp4')
  })

  test('a fault while reading is a fault, not an unknown type', async () => {
    const fault = Object.assign(new Error('EIO'), { syscall: 'read' })
    const read = async (at: number, length: number) => {
      if (at > 0) throw fault
      return officeDocument('docx').subarray(0, length)
    }
    await assert.rejects(recognize({ size: 5000, read }), fault)
  })

  test('every prefix of a file, and a file with any byte changed, is told or not, but never a fault', async () => {
    for (const [, bytes] of [...taken, ...refused]) {
      const start = bytes.subarray(0, 700)
      for (let length = 0; length < start.length; length += 1 + Math.floor(length / byForm(4, 16))) {
        await assert.doesNotReject(recognizeBuffer(start.subarray(0, length)))
        const changed = Buffer.from(start)
        changed[length] = (changed[length] ?? 0) ^ 0xff
        await assert.doesNotReject(recognizeBuffer(changed))
      }
    }
  })
})
