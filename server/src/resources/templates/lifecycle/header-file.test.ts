import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { forgeLink } from '../../../../test/harness/forged-link.ts'
import { mp4, pdf } from '../../../../test/harness/media-files.ts'
import { makePicture } from '../../../../test/harness/pictures.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { body, templateCalls } from '../../../../test/harness/template-calls.ts'
import { uploadPicture } from '../../../../test/harness/upload-calls.ts'
import { ids, numbers, strangerIds, tokens } from '../../../../test/harness/world.ts'
import { day, hour } from '../../../base/time/duration.ts'
import { pictureHandleOfAnotherType } from '../../profile/errors.ts'
import { headerHandleOfAnotherType, headerHandleUnknown } from '../errors.ts'

onOneDatabase('the files of template headers', 'postgres', (engine) => {
  const server = useTestServer({
    engine,
    env: { MAX_VIDEO_BYTES: '1000000', MAX_DOCUMENT_BYTES: '2000000', MAX_TEMPLATE_EDITS: '100/1d' },
  })
  const calls = templateCalls(server)
  const headed = (format: string, handle: string) => ({
    components: [{ type: 'HEADER', format, example: { header_handle: [handle] } }, body],
  })
  const picture = () => makePicture('image/png', 300)
  const video = mp4('isom', ['vide'])

  async function addressOf(id: string): Promise<string> {
    const { components } = (await calls.read(id)).body
    return components[0].example.header_handle[0]
  }

  async function download(url: string, token: string | undefined = tokens.owner) {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(url, { headers })
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }

  async function usesOf(id: string): Promise<number> {
    const uses = await server.database.read.query
      .selectFrom('file_uses')
      .select('sha256')
      .where('used_by', '=', `template:${id}`)
      .execute()
    return uses.length
  }

  for (const [format, type, bytes, extension] of [
    ['IMAGE', 'image/png', picture(), 'png'],
    ['IMAGE', 'image/jpeg', makePicture('image/jpeg', 300), 'jpg'],
    ['VIDEO', 'video/mp4', video, 'mp4'],
    ['DOCUMENT', 'application/pdf', pdf, 'pdf'],
  ] as const) {
    test(`${type} is read back at a signed address`, async () => {
      const id = await calls.make(headed(format, await uploadPicture(server, bytes, { type })))
      const { components } = (await calls.read(id)).body
      assert.deepEqual(Object.keys(components[0]), ['type', 'format', 'example'])
      const file = await download(await addressOf(id))
      assert.deepEqual([file.status, file.headers.get('content-type')], [200, type])
      assert.equal(file.headers.get('content-disposition'), `attachment; filename="${id}.${extension}"`)
      assert.ok(file.bytes.equals(bytes))
      const { data } = (await calls.list({ limit: '1000' })).body
      const listed = data.find((template: { id: string }) => template.id === id)
      assert.match(listed.components[0].example.header_handle[0], /^http.*\?expires=\d+&signature=/)
    })
  }

  test('the address is good for a few minutes, for tokens that see the template', async () => {
    const id = await calls.make(headed('IMAGE', await uploadPicture(server, picture())))
    const url = await addressOf(id)
    assert.equal((await download(url, tokens.stranger)).status, 404)
    assert.equal((await download(url, tokens.messagingOnly)).status, 403)
    assert.equal((await fetch(url)).status, 401)
    assert.equal((await download(forgeLink(url))).status, 404)
    assert.equal((await download(url.replace(id, ids.template))).status, 404)
    server.clock.advance(hour)
    assert.equal((await download(url)).status, 404)
  })

  test('the files of template headers: 422 with a handle that is unknown, used, expired or of another business', async () => {
    assertError(await calls.create(headed('IMAGE', 'nothing')), headerHandleUnknown)
    const handle = await uploadPicture(server, picture())
    await calls.make(headed('IMAGE', handle))
    assertError(await calls.create(headed('IMAGE', handle)), headerHandleUnknown)
    const late = await uploadPicture(server, picture())
    server.clock.advance(day)
    assertError(await calls.create(headed('IMAGE', late)), headerHandleUnknown)
    const application = strangerIds.application
    const foreign = await uploadPicture(server, picture(), { token: tokens.stranger, application })
    assertError(await calls.create(headed('IMAGE', foreign)), headerHandleUnknown)
  })

  test('the files of template headers: 422 with a file of another type, and the handle is good afterwards', async () => {
    const handle = await uploadPicture(server, picture())
    const types = 'application/pdf'
    const refused = await calls.create(headed('DOCUMENT', handle))
    assertError(refused, headerHandleOfAnotherType({ found: 'image/png', format: 'DOCUMENT', types }))
    assert.equal((await calls.create(headed('IMAGE', handle))).status, 200)
  })

  test('a template that is refused leaves its handle unused', async () => {
    const handle = await uploadPicture(server, picture())
    assert.equal((await calls.create({ name: 'hello_world', ...headed('IMAGE', handle) })).status, 422)
    assert.equal((await calls.create(headed('IMAGE', handle))).status, 200)
  })

  test('an edit keeps the file by its address, or brings another; a delete releases it', async () => {
    const first = picture()
    const id = await calls.make(headed('IMAGE', await uploadPicture(server, first)))
    assert.equal((await calls.edit(id, headed('IMAGE', await addressOf(id)))).status, 200)
    assert.ok((await download(await addressOf(id))).bytes.equals(first))
    assert.equal((await calls.edit(id, headed('VIDEO', await addressOf(id)))).status, 422)
    const foreign = await calls.make(headed('IMAGE', await uploadPicture(server, picture())))
    assertError(await calls.edit(id, headed('IMAGE', await addressOf(foreign))), headerHandleUnknown)

    const handle = await uploadPicture(server, video, { type: 'video/mp4' })
    assert.equal((await calls.edit(id, headed('VIDEO', handle))).status, 200)
    assert.ok((await download(await addressOf(id))).bytes.equals(video))
    assert.equal(await usesOf(id), 1)

    assert.equal((await calls.edit(id, { components: [body] })).status, 200)
    assert.equal(await usesOf(id), 0)
    assert.deepEqual((await calls.read(id)).body.components, [body])

    assert.equal(await usesOf(foreign), 1)
    await calls.delete(foreign)
    assert.equal(await usesOf(foreign), 0)
  })

  test('an edit that keeps the file changes everything else', async () => {
    const bytes = picture()
    const id = await calls.make(headed('IMAGE', await uploadPicture(server, bytes)))
    const elsewhere = (await addressOf(id)).replace(server.url, 'https://another.example')
    for (const [handle, text] of [
      [await addressOf(id), 'The first of the new texts.'],
      [elsewhere, 'The second of the new texts.'],
    ] as const) {
      const [header] = headed('IMAGE', handle).components
      assert.equal((await calls.edit(id, { components: [header, { ...body, text }] })).status, 200)
      const { components, status } = (await calls.read(id)).body
      assert.deepEqual([components[1].text, status], [text, 'APPROVED'])
      assert.deepEqual(
        (await calls.list({ name_or_content: text })).body.data.map((one: { id: string }) => one.id),
        [id],
      )
    }
    assert.ok((await download(await addressOf(id))).bytes.equals(bytes))
    await server.client.post(`/gateway/templates/${id}`, { token: tokens.gateway, json: { status: 'PAUSED' } })
    assert.equal((await calls.edit(id, { category: 'MARKETING' })).status, 200)
    assert.equal((await calls.read(id)).body.category, 'MARKETING')
    assert.ok((await download(await addressOf(id))).bytes.equals(bytes))
  })

  test('the same file sent again for the header of a template stays', async () => {
    const bytes = picture()
    const id = await calls.make(headed('IMAGE', await uploadPicture(server, bytes)))
    assert.equal((await calls.edit(id, headed('IMAGE', await uploadPicture(server, bytes)))).status, 200)
    assert.ok((await download(await addressOf(id))).bytes.equals(bytes))
  })

  test('uploads have the size of their kind at the most, and the type that was said', async () => {
    const open = (file_type: string, file_length: number) =>
      server.client.post(`/v23.0/${ids.application}/uploads`, { token: tokens.owner, json: { file_type, file_length } })
    for (const [type, max] of [
      ['video/mp4', 1_000_000],
      ['application/pdf', 2_000_000],
      ['image/png', 5_242_880],
    ] as const) {
      assert.equal((await open(type, max)).status, 200)
      assert.equal((await open(type, max + 1)).status, 400)
    }
    assert.equal((await open('video/3gpp', 10)).status, 400)
    for (const [type, bytes] of [
      ['video/mp4', pdf],
      ['application/pdf', video],
      ['video/mp4', mp4('M4A ', ['soun'])],
      ['image/png', pdf],
    ] as const) {
      const { body: opened } = await open(type, bytes.length)
      const headers = { file_offset: '0' }
      const answer = await server.client.post(`/v23.0/${opened.id}`, { token: tokens.owner, raw: bytes, headers })
      assert.equal(answer.status, 400, type)
    }
  })

  test('a profile picture stays a picture', async () => {
    const handle = await uploadPicture(server, pdf, { type: 'application/pdf' })
    const json = { messaging_product: 'msgapp', profile_picture_handle: handle }
    const path = `/v23.0/${numbers.main}/msgapp_business_profile`
    const answer = await server.client.post(path, { token: tokens.owner, json })
    assertError(answer, pictureHandleOfAnotherType({ found: 'application/pdf' }))
  })
})
