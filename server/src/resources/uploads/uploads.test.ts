import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertArgument, assertError } from '../../../test/harness/errors.ts'
import { makePicture } from '../../../test/harness/pictures.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, partnerIds, tokens } from '../../../test/harness/world.ts'
import { hour } from '../../base/time/duration.ts'
import { argumentWrong } from '../../graph/errors.ts'
import {
  fileLengthTooLarge,
  fileOffsetWrong,
  tooManyBytes,
  uploadOfAnotherType,
  uploadOfUnknownType,
} from './errors.ts'

const mebibyte = 1_048_576

onOneDatabase('resumable upload', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const token = tokens.owner
  const create = (json: object) =>
    server.client.callRow(server.client.row('uploads.create'), `/v23.0/${ids.application}/uploads`, { token, json })
  const append = (id: string, file_offset: number | string | undefined, bytes: Uint8Array, contentType?: string) =>
    server.client.callRow(server.client.row('uploads.append'), `/v23.0/${id}`, {
      token,
      raw: bytes,
      headers: {
        ...(file_offset !== undefined && { file_offset: String(file_offset) }),
        ...(contentType !== undefined && { 'content-type': contentType }),
      },
    })
  const read = (id: string) => server.client.callRow(server.client.row('uploads.read'), `/v23.0/${id}`, { token })

  async function open(file_length: number, file_type = 'image/png'): Promise<string> {
    const answer = await create({ file_length, file_type })
    assert.equal(answer.status, 200, answer.text)
    return answer.body.id
  }

  test('200 for a new upload, which nothing of has arrived', async () => {
    const answer = await create({ file_length: 8, file_type: 'image/jpeg', file_name: 'storefront.jpg' })
    assert.match(answer.body.id, /^upload:[\w-]{32}$/)
    assert.deepEqual((await read(answer.body.id)).body, { id: answer.body.id, file_offset: 0 })
  })

  test('200 with the arguments in the query, and the scheme OAuth', async () => {
    const answer = await server.client.post(`/v23.0/${ids.application}/uploads`, {
      query: { file_length: '8', file_type: 'image/jpeg' },
      headers: { authorization: `OAuth ${token}` },
    })
    assert.equal(answer.status, 200, answer.text)
  })

  const tooSmall = argumentWrong('file_length', { expected: 'an integer of at least 1' })
  for (const [file_length, refused] of [
    [0, tooSmall],
    [1, undefined],
    [5 * mebibyte, undefined],
    [5 * mebibyte + 1, fileLengthTooLarge({ max: 5 * mebibyte })],
    [1.5, tooSmall],
  ] as const) {
    test(`${refused ? 400 : 200} for a file_length of ${file_length}`, async () => {
      const answer = await create({ file_length, file_type: 'image/png' })
      if (refused) assertError(answer, refused)
      else assert.equal(answer.status, 200, answer.text)
    })
  }

  for (const [name, json, argument] of [
    ['another file_type', { file_length: 1, file_type: 'image/gif' }, 'file_type'],
    ['no file_type', { file_length: 1 }, 'file_type'],
    ['no file_length', { file_type: 'image/png' }, 'file_length'],
    ['an empty file_name', { file_length: 1, file_type: 'image/png', file_name: '' }, 'file_name'],
    [
      'a file_name of 256 characters',
      { file_length: 1, file_type: 'image/png', file_name: 'x'.repeat(256) },
      'file_name',
    ],
  ] as const) {
    test(`resumable upload: 400 for ${name}`, async () => assertArgument(await create(json), argument))
  }

  test("resumable upload: 404 for an app of another business, and 200 for any of the token's own", async () => {
    const answer = await server.client.post(`/v23.0/${partnerIds.application}/uploads`, {
      token,
      json: { file_length: 1, file_type: 'image/png' },
    })
    assert.equal(answer.status, 404)
    const world = await server.database.read.query
      .selectFrom('apps')
      .selectAll()
      .where('id', '=', ids.application)
      .executeTakeFirstOrThrow()
    await server.database.transaction(async ({ query }) => {
      const id = '3000000000000077'
      await query
        .insertInto('nodes')
        .values({ id, kind: 'application', business_id: ids.business, account_id: null })
        .execute()
      await query
        .insertInto('apps')
        .values({ ...world, id, name: 'Second app' })
        .execute()
    })
    const second = await server.client.post('/v23.0/3000000000000077/uploads', {
      token,
      json: { file_length: 1, file_type: 'image/png' },
    })
    assert.equal(second.status, 200, second.text)
  })

  for (const type of ['image/png', 'image/jpeg'] as const) {
    test(`resumable upload: 200 with a handle for a whole ${type} in one piece, and the same handle when asked again`, async () => {
      const picture = makePicture(type, 1000)
      const id = await open(picture.length, type)
      const answer = await append(id, 0, picture, type)
      assert.equal(answer.status, 200, answer.text)
      assert.match(answer.body.h, /^[\w-]{43}$/)
      assert.deepEqual((await read(id)).body, { id, file_offset: 1000 })
      assert.deepEqual((await append(id, 1000, new Uint8Array())).body, answer.body)
    })
  }

  for (const contentType of [undefined, 'application/json', 'multipart/form-data', 'no type at all', 'image/png']) {
    test(`200 for bytes sent with the content type ${contentType ?? 'left out'}`, async () => {
      const picture = makePicture('image/png', 300)
      const id = await open(picture.length)
      assert.deepEqual((await append(id, 0, picture.subarray(0, 100), contentType)).body, { id, file_offset: 100 })
      assert.ok((await append(id, 100, picture.subarray(100), contentType)).body.h)
    })
  }

  test('resumable upload: 200 for a file of the largest size in uneven pieces, an empty one among them', async () => {
    const picture = makePicture('image/png', 5 * mebibyte)
    const id = await open(picture.length)
    let offset = 0
    for (const size of [1, 0, 262_143, 262_145, 2 * mebibyte]) {
      const answer = await append(id, offset, picture.subarray(offset, offset + size))
      offset += size
      assert.deepEqual(answer.body, { id, file_offset: offset })
    }
    const { h } = (await append(id, offset, picture.subarray(offset))).body
    const { sha256 } = await server.database.read.query
      .selectFrom('uploads')
      .select('sha256')
      .where('handle', '=', h)
      .executeTakeFirstOrThrow()
    assert.ok(sha256)
    const stored = await server.files.read(sha256)
    assert.ok(stored.equals(picture), 'the bytes are those that were sent')
  })

  for (const given of [99, 101, 0] as const) {
    test(`resumable upload: 400 for the offset ${given} where 100 bytes have arrived, telling the right one`, async () => {
      const picture = makePicture('image/png', 300)
      const id = await open(picture.length)
      await append(id, 0, picture.subarray(0, 100))
      assertError(await append(id, given, picture.subarray(100)), fileOffsetWrong({ arrived: 100, length: 300 }))
      assert.equal((await read(id)).body.file_offset, 100)
    })
  }

  for (const given of [undefined, 'x', '-1', '1.5', ''] as const) {
    test(`400 for ${given === undefined ? 'no offset' : `the offset ${JSON.stringify(given)}`}`, async () => {
      const id = await open(300)
      assertArgument(await append(id, given, new Uint8Array(10)), 'file_offset')
      assert.equal((await read(id)).body.file_offset, 0)
    })
  }

  test('resumable upload: 400 for one byte more than was announced, and none of the piece is kept', async () => {
    const picture = makePicture('image/png', 300)
    const id = await open(picture.length)
    await append(id, 0, picture.subarray(0, 100))
    const answer = await append(id, 100, Buffer.concat([picture.subarray(100), Buffer.from('x')]))
    assertError(answer, tooManyBytes({ length: 300, offset: 100, left: 200 }))
    assert.equal((await read(id)).body.file_offset, 100)
    assert.ok((await append(id, 100, picture.subarray(100))).body.h)
  })

  test('400 for a byte more when all is there', async () => {
    const picture = makePicture('image/png', 300)
    const id = await open(picture.length)
    await append(id, 0, picture)
    assertError(await append(id, 300, Buffer.from('x')), tooManyBytes({ length: 300, offset: 300, left: 0 }))
  })

  for (const [name, type, bytes, expected] of [
    [
      'a GIF for a PNG',
      'image/png',
      makePicture('image/gif', 300),
      uploadOfAnotherType({ found: 'image/gif', type: 'image/png' }),
    ],
    ['a PNG for a JPEG', 'image/jpeg', makePicture('image/png', 300), uploadOfUnknownType({ type: 'image/jpeg' })],
    ['text for a PNG', 'image/png', Buffer.from('hello'), uploadOfUnknownType({ type: 'image/png' })],
    ['a single byte', 'image/png', Buffer.from([0x89]), uploadOfUnknownType({ type: 'image/png' })],
  ] as const) {
    test(`400 for ${name}, and the upload is over`, async () => {
      const id = await open(bytes.length, type)
      assertError(await append(id, 0, bytes), expected)
      assert.equal((await read(id)).status, 404)
      assert.equal((await append(id, 0, bytes)).status, 404)
      await server.app.settle()
      assert.deepEqual(
        (await partNames()).filter((name) => id.endsWith(name)),
        [],
      )
    })
  }

  async function partNames(): Promise<string[]> {
    return (await server.files.listPieces()).map((name) => name.split('/')[0] as string)
  }

  test('resumable upload: 404 when it has expired, whether or not it was swept; the sweep leaves nothing', async () => {
    const picture = makePicture('image/png', 300)
    const half = await open(picture.length)
    await append(half, 0, picture.subarray(0, 100))
    server.clock.advance(24 * hour - 1)
    assert.equal((await read(half)).status, 200)
    const whole = await open(picture.length)
    const { h } = (await append(whole, 0, picture)).body
    server.clock.advance(1)
    assert.equal((await read(half)).status, 404)
    assert.equal((await append(half, 100, picture.subarray(100))).status, 404)

    await server.app.settle()
    const { query } = server.database.read
    const left = async () => (await query.selectFrom('uploads').select('handle').execute()).map(({ handle }) => handle)
    const nodes = async () =>
      (await query.selectFrom('nodes').where('kind', '=', 'upload').select('id').execute()).map(({ id }) => id)
    assert.deepEqual(await left(), [h], 'the handle lives for a day from when it was made')
    assert.deepEqual(await nodes(), [whole])
    assert.deepEqual(await partNames(), [])

    server.clock.advance(24 * hour)
    await server.app.settle()
    assert.deepEqual(await left(), [])
    assert.deepEqual(await nodes(), [])
    const hash = createHash('sha256').update(picture).digest('hex')
    assert.deepEqual(await query.selectFrom('files').selectAll().where('sha256', '=', hash).execute(), [])
    assert.ok(!(await server.files.has(hash)), 'the file is gone too')
  })

  test('the record tells of the upload that was opened and of each piece that was taken', async () => {
    const picture = makePicture('image/png', 300)
    const before = (await operations()).length
    const id = await open(picture.length)
    await append(id, 0, picture.subarray(0, 100))
    await append(id, 0, picture)
    await append(id, 100, picture.subarray(100))
    assert.deepEqual((await operations()).slice(before), ['uploads.create', 'uploads.append', 'uploads.append'])

    async function operations(): Promise<string[]> {
      const rows = await server.database.read.query.selectFrom('activities').select('operation').orderBy('id').execute()
      return rows.map(({ operation }) => operation).filter((name) => name.startsWith('uploads.'))
    }
  })
})

onOneDatabase('resumable upload with settings', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { MAX_UPLOAD_BYTES: '10', UPLOAD_LIFETIME: '1h' } })
  const path = `/v23.0/${ids.application}/uploads`

  test('the largest size and the lifetime are what the operator set', async () => {
    const json = { file_length: 10, file_type: 'image/png' }
    const { body } = await server.client.post(path, { token: tokens.owner, json })
    const larger = await server.client.post(path, { token: tokens.owner, json: { ...json, file_length: 11 } })
    assertError(larger, fileLengthTooLarge({ max: 10 }))
    server.clock.advance(hour - 1)
    assert.equal((await server.client.get(`/v23.0/${body.id}`, { token: tokens.owner })).status, 200)
    server.clock.advance(1)
    assert.equal((await server.client.get(`/v23.0/${body.id}`, { token: tokens.owner })).status, 404)
  })
})
