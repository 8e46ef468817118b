import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Answer, CallOptions } from '../../../test/harness/client.ts'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { jpeg, pdf, png } from '../../../test/harness/media-files.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { takeStock } from '../../../test/harness/stock.ts'
import { ids, numbers, strangerIds, tokens } from '../../../test/harness/world.ts'
import { day } from '../../base/time/duration.ts'
import { holdTime } from '../../files/files.ts'
import { argumentMissing, argumentOfAnotherVocabulary, argumentWrong } from '../../graph/errors.ts'
import { moreThanOneFile, multipartEndsEarly } from '../../http/errors.ts'
import { dataUrlWithoutComma, fileIsEmpty, fileNotBase64 } from './errors.ts'

const path = `/v23.0/${numbers.main}/media`
let serial = 0

/** A document that no other test has. */
function makeDocument(): Buffer {
  return Buffer.concat([pdf, Buffer.from(`% ${++serial}\n`)])
}

function blob(bytes: Buffer): Blob {
  return new Blob([new Uint8Array(bytes)])
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

onOneDatabase('media', 'postgres', (engine) => {
  const server = useTestServer({ engine })

  const upload = (options: CallOptions, at = path): Promise<Answer> =>
    server.client.callRow(server.client.row('media.upload'), at, { token: tokens.owner, ...options })
  const read = (id: string, options: CallOptions = {}): Promise<Answer> =>
    server.client.callRow(server.client.row('media.read'), `/v23.0/${id}`, { token: tokens.owner, ...options })
  const remove = (id: string, options: CallOptions = {}): Promise<Answer> =>
    server.client.callRow(server.client.row('media.delete'), `/v23.0/${id}`, { token: tokens.owner, ...options })
  const download = (url: string) => fetch(url, { headers: { authorization: `Bearer ${tokens.owner}` } })

  async function put(bytes: Buffer, at = path): Promise<string> {
    const { status, body, text } = await upload({ multipart: { file: blob(bytes) } }, at)
    assert.equal(status, 200, text)
    return body.id
  }

  test('media: 200 with the id of a multipart upload, which is read and downloaded by it', async () => {
    const bytes = makeDocument()
    const { status, body } = await upload({ multipart: { messaging_product: 'msgapp', file: blob(bytes) } })
    assert.equal(status, 200)
    assert.match(body.id, /^\d{15,16}$/)
    const { body: mediaFile } = await read(body.id)
    const { url, ...rest } = mediaFile
    assert.deepEqual(rest, {
      messaging_product: 'msgapp',
      mime_type: 'application/pdf',
      sha256: sha256(bytes),
      file_size: bytes.length,
      id: body.id,
    })
    assert.ok(url.startsWith(`${server.url}/media/${body.id}?`))
    const answer = await download(url)
    assert.equal(answer.status, 200)
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes))
  })

  const asData = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`
  for (const [name, options] of [
    ['base64 in JSON', { json: { messaging_product: 'msgapp', file: png.toString('base64') } }],
    ['a data: URL in JSON', { json: { file: asData(png) } }],
    ['a data: URL that is not in base64', { json: { file: `data:,${escape(png.toString('latin1'))}` } }],
    ['a data: URL whose base64 is escaped', { json: { file: asData(png).replaceAll(/[+/=]/g, encodeURIComponent) } }],
    ['a data: URL in capitals, with parameters', { json: { file: asData(png).replace('data:', 'DATA:a=b;x/y;') } }],
    ['base64 with line breaks', { json: { file: png.toString('base64').replaceAll(/.{20}/g, '$&\r\n') } }],
    ['base64 for URLs, without padding', { json: { file: png.toString('base64url') } }],
    ['base64 in a form', { form: { file: png.toString('base64') } }],
    ['base64 in the query', { query: { file: png.toString('base64') } }],
    ['a part without a name of its file', { multipart: { file: blob(png) } }],
    ['members that are not known', { multipart: { type: 'image/jpeg', extra: 'x', file: blob(png) } }],
    ['the product behind the file', { multipart: { file: blob(png), messaging_product: 'msgapp' } }],
    ['the product in the query', { multipart: { file: blob(png) }, query: { messaging_product: 'msgapp' } }],
    ['a file in the query that the body overrules', { multipart: { file: blob(png) }, query: { file: '!' } }],
  ] as const) {
    test(`media: 200 for a file as ${name}`, async () => {
      const { status, body, text } = await upload(options)
      assert.equal(status, 200, text)
      const { body: mediaFile } = await read(body.id)
      assert.deepEqual([mediaFile.mime_type, mediaFile.sha256], ['image/png', sha256(png)])
    })
  }

  test('200 for a part of plain text whose only name is the member', async () => {
    const raw = '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nhello\r\n--b--\r\n'
    const { body } = await upload({ raw, headers: { 'content-type': 'multipart/form-data; boundary=b' } })
    assert.deepEqual((await read(body.id)).body.mime_type, 'text/plain')
  })

  for (const [name, options, expected] of [
    ['no body at all', {}, argumentMissing('file', { expected: 'a string' })],
    ['no file in JSON', { json: { messaging_product: 'msgapp' } }, argumentMissing('file', { expected: 'a string' })],
    [
      'no file in multipart',
      { multipart: { messaging_product: 'msgapp' } },
      argumentMissing('file', { expected: 'a string' }),
    ],
    ['an empty file', { multipart: { file: blob(Buffer.alloc(0)) } }, fileIsEmpty()],
    ['an empty text', { json: { file: '' } }, fileIsEmpty()],
    ['an empty data: URL', { json: { file: 'data:image/png;base64,' } }, fileIsEmpty()],
    ['a number', { json: { file: 5 } }, argumentWrong('file', { expected: 'a string' })],
    ['null', { json: { file: null } }, argumentWrong('file', { expected: 'a string' })],
    [
      'two files',
      { raw: twice(), headers: { 'content-type': 'multipart/form-data; boundary=b' } },
      moreThanOneFile('file'),
    ],
    ['a data: URL without a comma', { json: { file: 'data:image/png;base64' } }, dataUrlWithoutComma()],
    ['letters that base64 does not have', { json: { file: `${png.toString('base64')}!` } }, fileNotBase64()],
    ['base64 with a letter too few', { json: { file: png.toString('base64').slice(0, -3) } }, fileNotBase64()],
    ['base64 with padding in the middle', { json: { file: `QQ==${png.toString('base64')}` } }, fileNotBase64()],
    ['base64 with too little padding', { json: { file: 'QUI=Qw=' } }, fileNotBase64()],
    [
      'another product before the file',
      { multipart: { messaging_product: 'x', file: blob(png) } },
      argumentWrong('messaging_product', { expected: '"msgapp"' }),
    ],
    [
      'another product behind the file',
      { multipart: { file: blob(jpeg), messaging_product: 'x' } },
      argumentWrong('messaging_product', { expected: '"msgapp"' }),
    ],
    [
      'another product in JSON',
      { json: { messaging_product: 'whatsapp', file: asData(png) } },
      argumentOfAnotherVocabulary('messaging_product', { expected: '"msgapp"', other: 'whatsapp' }),
    ],
    [
      'a member with a NUL',
      { multipart: { file: blob(jpeg), messaging_product: '\0' } },
      argumentWrong('messaging_product', { expected: '"msgapp"' }),
    ],
  ] as const) {
    test(`media: 400 with ${name}, and nothing stays`, async () => {
      const before = await takeStock(server)
      assertError(await upload(options), expected)
      assert.deepEqual(await takeStock(server), before)
    })
  }

  test('400 when the body breaks off inside the file, and nothing stays', async () => {
    const before = await takeStock(server)
    const raw = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello'
    const answer = await upload({ raw, headers: { 'content-type': 'multipart/form-data; boundary=b' } })
    assertError(answer, multipartEndsEarly())
    assert.deepEqual(await takeStock(server), before)
  })

  test('operators see a media file by its type, and find it by that', async () => {
    const id = await put(png)
    const query = { kind: 'media', q: 'IMAGE/p', limit: '200' }
    const { body } = await server.client.get('/operator/nodes', { token: tokens.operator, query })
    assert.equal(body.data.find((one: { id: string }) => one.id === id)?.name, 'image/png')
  })

  test('media: 200 for a media file of the number that is asked for, 404 for another', async () => {
    const id = await put(png)
    for (const query of [{ phone_number_id: numbers.fresh }, { phone_number_id: 'x' }, { phone_number_id: '' }]) {
      assert.equal((await read(id, { query })).status, 404)
      assert.equal((await remove(id, { query })).status, 404)
      assert.equal((await remove(id, { json: query })).status, 404)
    }
    const query = { phone_number_id: numbers.main }
    assert.equal((await read(id, { query })).status, 200)
    assert.deepEqual((await remove(id, { query })).body, { success: true })
  })

  test('media: 404 for who does not see the account, 200 for who was given it', async () => {
    const id = await put(png, `/v23.0/${numbers.shared}/media`)
    assert.equal((await read(id, { token: tokens.stranger })).status, 404)
    assert.equal((await remove(id, { token: tokens.stranger })).status, 404)
    assert.equal((await read(id, { token: tokens.partner })).status, 200)
    assert.equal((await read(id, { token: tokens.granular })).status, 200)
    const own = await put(png)
    assert.equal((await read(own, { token: tokens.granular })).status, 404)
    assert.equal((await read(own, { token: tokens.partner })).status, 404)
    assert.equal(
      (await upload({ json: { file: asData(png) } }, `/v23.0/${strangerIds.phone_number}/media`)).status,
      404,
    )
  })

  test('equal uploads have ids of their own and one file; it is readable until the last is deleted, and then goes', async () => {
    const bytes = makeDocument()
    const files = await server.files.list()
    const [first, second] = await Promise.all([put(bytes), put(bytes)])
    assert.notEqual(first, second)
    assert.equal((await server.files.list()).length, files.length + 1)

    assert.equal((await remove(first)).status, 200)
    assert.equal((await read(first)).status, 404)
    server.clock.advance(holdTime)
    await server.app.settle()
    const answer = await download((await read(second)).body.url)
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes))

    assert.equal((await remove(second)).status, 200)
    await server.app.settle()
    assert.deepEqual(
      (await server.files.list()).filter((file) => file.endsWith(sha256(bytes).slice(2))),
      [],
    )
  })

  test('media: of two deletions at the same moment one finds the media file', async () => {
    const id = await put(makeDocument())
    const statuses = (await Promise.all([remove(id), remove(id)])).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [200, 404])
  })

  test('media: 404 for a media file 30 days after its upload, when its file is gone too', async () => {
    const bytes = makeDocument()
    const id = await put(bytes)
    server.clock.advance(30 * day - 1)
    await server.app.settle()
    const { url } = (await read(id)).body
    assert.equal((await download(url)).status, 200)
    server.clock.advance(1)
    // Before the sweep has come to it.
    assert.equal((await read(id)).status, 404)
    assert.equal((await remove(id)).status, 404)
    assert.equal((await download(url)).status, 404)
    await server.app.settle()
    const stock = await takeStock(server)
    assert.ok(!stock.nodes.some((node) => node.id === id))
    assert.ok(!stock.media.some((mediaFile) => mediaFile.id === id))
    assert.ok(!stock.uses.some(({ used_by }) => used_by.includes(id)))
    assert.ok(!stock.contents.some((content) => content.sha256 === sha256(bytes)))
    assert.ok(!stock.files.some((file) => file.endsWith(sha256(bytes).slice(2))))
    assert.equal((await read(ids.media)).status, 404)
  })
})

function twice(): string {
  const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello\r\n'
  return `${part}${part}--b--\r\n`
}
