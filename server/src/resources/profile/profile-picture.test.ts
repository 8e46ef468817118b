import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { makePicture } from '../../../test/harness/pictures.ts'
import { type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { uploadPicture } from '../../../test/harness/upload-calls.ts'
import { ids, numbers, partnerIds, tokens } from '../../../test/harness/world.ts'
import { hour } from '../../base/time/duration.ts'
import { pictureHandleUnknown } from './errors.ts'

const path = (number: string) => `/v23.0/${number}/msgapp_business_profile`

function setPicture(
  { client }: TestServer,
  number: string,
  handle: string,
  members: object = {},
  token: string = tokens.owner,
) {
  const json = { messaging_product: 'msgapp', profile_picture_handle: handle, ...members }
  return client.callRow(client.row('profile.update'), path(number), { token, json })
}

async function pictureUrlOf({ client }: TestServer, number: string): Promise<string | undefined> {
  const answer = await client.get(path(number), { token: tokens.owner, query: { fields: 'profile_picture_url' } })
  return answer.body.data[0].business_profile.profile_picture_url
}

onOneDatabase("a profile's picture", 'postgres', (engine) => {
  const server = useTestServer({ engine })

  /** A number with a new picture, and where it is served. */
  async function show(number: string, picture: Buffer, type = 'image/png'): Promise<string> {
    const answer = await setPicture(server, number, await uploadPicture(server, picture, { type }))
    assert.equal(answer.status, 200, answer.text)
    const url = await pictureUrlOf(server, number)
    assert.ok(url)
    return url
  }

  const isStored = (sha256: string) => server.files.has(sha256)

  async function contentOf(url: string): Promise<string> {
    const { sha256 } = await server.database.read.query
      .selectFrom('profile_pictures')
      .select('sha256')
      .where('picture_id', '=', url.split('/').at(-1) ?? '')
      .executeTakeFirstOrThrow()
    return sha256
  }

  for (const type of ['image/png', 'image/jpeg'] as const) {
    test(`a profile's picture: 200 for a ${type}, served to anyone as what it is and for ever`, async () => {
      const picture = makePicture(type, 100_000)
      const url = await show(numbers.main, picture, type)
      assert.match(url, new RegExp(`^${server.url}/pictures/[\\w-]{32}$`))
      const served = await fetch(url)
      assert.equal(served.status, 200)
      assert.ok(Buffer.from(await served.arrayBuffer()).equals(picture))
      const { headers } = served
      assert.equal(headers.get('content-type'), type)
      assert.equal(headers.get('content-length'), '100000')
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      const head = await fetch(url, { method: 'HEAD' })
      assert.deepEqual([head.status, head.headers.get('content-length')], [200, '100000'])
    })
  }

  test("a profile's picture: 404 at the old address when another picture took its place, and its bytes go", async () => {
    const old = await show(numbers.main, makePicture('image/png', 500))
    const content = await contentOf(old)
    const url = await show(numbers.main, makePicture('image/png', 500))
    assert.notEqual(url, old)
    const gone = await server.client.get(new URL(old).pathname)
    assert.equal(gone.status, 404)
    assert.equal(gone.headers.get('cache-control'), 'private, no-store')
    assert.equal((await fetch(url)).status, 200)
    await sweep()
    assert.equal(await isStored(content), false)
    assert.equal((await fetch(url)).status, 200)
  })

  test('200 for an empty handle: the picture is removed', async () => {
    const old = await show(numbers.main, makePicture('image/png', 500))
    assert.equal((await setPicture(server, numbers.main, '')).status, 200)
    assert.equal(await pictureUrlOf(server, numbers.main), undefined)
    assert.equal((await server.client.get(new URL(old).pathname)).status, 404)
    assert.equal((await setPicture(server, numbers.main, '')).status, 200, 'also when there is none')
  })

  test('a picture that two numbers show is kept once, and for as long as one of them shows it', async () => {
    const picture = makePicture('image/png', 500)
    const first = await show(numbers.main, picture)
    const second = await show(numbers.fresh, picture)
    assert.notEqual(first, second)
    const content = await contentOf(first)
    assert.equal(await contentOf(second), content)
    await setPicture(server, numbers.main, '')
    await sweep()
    assert.ok(Buffer.from(await (await fetch(second)).arrayBuffer()).equals(picture))
    await setPicture(server, numbers.fresh, '')
    await sweep()
    assert.equal(await isStored(content), false)
  })

  test('the picture stays when the upload behind it has expired', async () => {
    const url = await show(numbers.fresh, makePicture('image/png', 500))
    server.clock.advance(48 * hour)
    await server.app.settle()
    assert.equal((await fetch(url)).status, 200)
  })

  /** What is put is held for an hour, however little it is used. */
  async function sweep(): Promise<void> {
    server.clock.advance(hour)
    await server.app.settle()
  }

  for (const id of ['x', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', '%00', '..%2f..%2fswitchboard.db', 'x'.repeat(5000)]) {
    test(`404 in the envelope for the picture ${id.slice(0, 40)}`, async () => {
      const answer = await server.client.get(`/pictures/${id}`)
      assert.equal(answer.status, 404)
      assert.equal(answer.body.error.code, 803)
    })
  }

  async function assertUnknown(handle: string, number: string = numbers.shared): Promise<void> {
    await setPicture(server, number, '', { about: 'Before' })
    const answer = await setPicture(server, number, handle, { about: 'After' })
    assertError(answer, pictureHandleUnknown())
    const shown = await server.client.get(path(number), { token: tokens.owner })
    assert.deepEqual(shown.body.data[0].business_profile, { messaging_product: 'msgapp', about: 'Before' })
  }

  test('422 for an unknown handle, and nothing else of the request is done', () => assertUnknown('no-such-handle'))

  test('422 for a handle that was used', async () => {
    const handle = await uploadPicture(server, makePicture('image/png', 500))
    await setPicture(server, numbers.main, handle)
    await assertUnknown(handle)
  })

  test("a profile's picture: 422 for a handle that has expired, whether or not it was swept", async () => {
    const handle = await uploadPicture(server, makePicture('image/png', 500))
    server.clock.advance(24 * hour)
    await assertUnknown(handle)
    await server.app.settle()
    await assertUnknown(handle)
  })

  test("a profile's picture: 200 for a handle in its last moment", async () => {
    const handle = await uploadPicture(server, makePicture('image/png', 500))
    server.clock.advance(24 * hour - 1)
    assert.equal((await setPicture(server, numbers.main, handle)).status, 200)
  })

  test("a profile's picture: 422 for the handle of another business, and 200 for that business, which was given the number", async () => {
    const options = { token: tokens.partner, application: partnerIds.application }
    const handle = await uploadPicture(server, makePicture('image/png', 500), options)
    await assertUnknown(handle)
    assert.equal((await setPicture(server, numbers.shared, handle, {}, tokens.partner)).status, 200)
    assert.ok(await pictureUrlOf(server, numbers.shared))
  })

  test("a profile's picture: 422 for the id of an upload in place of its handle", () => assertUnknown(ids.upload))

  test("a profile's picture: of two numbers that want the same handle at the same moment one gets it", async () => {
    for (let round = 0; round < 5; round++) {
      const handle = await uploadPicture(server, makePicture('image/png', 500))
      const answers = await Promise.all(
        [numbers.main, numbers.fresh, numbers.smallBusiness].map((number) => setPicture(server, number, handle)),
      )
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 422, 422])
    }
  })

  test("a profile's picture: of several pictures for one number at the same moment one stays, and the bytes of the others go", async () => {
    const handles = await Promise.all(
      Array.from({ length: 6 }, () => uploadPicture(server, makePicture('image/png', 500))),
    )
    const contents = await server.database.read.query
      .selectFrom('uploads')
      .select('sha256')
      .where('handle', 'in', handles)
      .execute()
    const answers = await Promise.all(handles.map((handle) => setPicture(server, numbers.main, handle)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      handles.map(() => 200),
    )
    const url = await pictureUrlOf(server, numbers.main)
    assert.equal((await fetch(url ?? '')).status, 200)
    await sweep()
    const stored = await Promise.all(contents.map(({ sha256 }) => isStored(sha256 ?? '')))
    assert.equal(stored.filter(Boolean).length, 1)
    assert.equal((await fetch(url ?? '')).status, 200)
  })
})

onOneDatabase("a profile's picture behind PUBLIC_URL", 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { PUBLIC_URL: 'https://api.example.com/graph' } })

  test("a profile's picture behind PUBLIC_URL has its address under it", async () => {
    const picture = makePicture('image/png', 500)
    await setPicture(server, numbers.main, await uploadPicture(server, picture))
    const url = await pictureUrlOf(server, numbers.main)
    assert.match(url ?? '', /^https:\/\/api\.example\.com\/graph\/pictures\/[\w-]{32}$/)
    const served = await fetch(server.url + new URL(url ?? '').pathname.replace('/graph', ''))
    assert.ok(Buffer.from(await served.arrayBuffer()).equals(picture))
  })
})
