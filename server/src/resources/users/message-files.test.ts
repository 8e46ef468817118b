import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { forgeLink } from '../../../test/harness/forged-link.ts'
import { mp3, ogg, png } from '../../../test/harness/media-files.ts'
import { messageSides } from '../../../test/harness/messages.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { numbers, tokens } from '../../../test/harness/world.ts'
import { hour } from '../../base/time/duration.ts'

onOneDatabase('the media files of messages', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const sides = messageSides(server)

  async function upload(file: Buffer = png): Promise<string> {
    const json = { messaging_product: 'msgapp', file: file.toString('base64') }
    const made = await server.client.post(`/v23.0/${numbers.main}/media`, { token: tokens.owner, json })
    assert.equal(made.status, 200, made.text)
    return made.body.id
  }

  const get = (url: string, token: string | undefined = tokens.gateway, headers: Record<string, string> = {}) =>
    fetch(url, { headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers } })

  test('the phone loads what it is sent, whole or in part, also when the media id is deleted', async () => {
    const id = await upload()
    const user = sides.newUser()
    await sides.write(user)
    const message = await sides.send(user, { type: 'image', image: { id, caption: 'Tulips' } })
    const { image } = await sides.show(message)
    assert.deepEqual([image.mime_type, image.file_size, image.caption], ['image/png', png.length, 'Tulips'])
    assert.equal((await server.client.call('DELETE', `/v23.0/${id}`, { token: tokens.owner })).status, 200)
    await server.app.settle()
    const whole = await get((await sides.show(message)).image.url)
    assert.deepEqual([whole.status, whole.headers.get('content-type')], [200, 'image/png'])
    assert.deepEqual(Buffer.from(await whole.arrayBuffer()), png)
    const part = await get(image.url, tokens.gateway, { range: 'bytes=1-3' })
    assert.deepEqual([part.status, await part.text()], [206, 'PNG'])
    const [listed] = (await sides.read(`users/${user}/messages`, { phone_number_id: numbers.main })).body.data
    assert.equal((await get(listed.image.url)).status, 200)
    const [chat] = (await sides.read(`users/${user}/chats`)).body.data
    assert.equal((await get(chat.last_message.image.url)).status, 200)
  })

  test('the media file in the header of an interactive message, and of what a user sends, can be opened, whatever its id looks like', async () => {
    const user = sides.newUser()
    await sides.write(user)
    const header = { type: 'image', image: { id: await upload() } }
    const action = { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }] }
    const interactive = { type: 'button', header, body: { text: 'Do you like it?' }, action }
    const shown = (await sides.show(await sides.send(user, { type: 'interactive', interactive }))).interactive
    assert.equal(shown.url, undefined)
    assert.equal((await get(shown.header.image.url)).status, 200)
    const written = { phone_number_id: numbers.main, from: user, id: 'wamid.a/b c?d=%41', type: 'image' }
    const answer = await sides.gateway('messages', { ...written, image: { id: await upload() } })
    assert.equal(answer.status, 200, answer.text)
    const [own] = (await sides.read(`users/${user}/messages`, { phone_number_id: numbers.main })).body.data
    const loaded = await get(own.image.url)
    assert.deepEqual(Buffer.from(await loaded.arrayBuffer()), png)
  })

  test('a voice message takes Ogg with Opus alone, and is played', async () => {
    const user = sides.newUser()
    await sides.write(user)
    const voice = async (file: Buffer) =>
      sides.post({ to: user, type: 'audio', audio: { id: await upload(file), voice: true } })
    for (const file of [mp3, ogg('\x01vorbis')]) {
      const refused = await voice(file)
      assert.deepEqual([refused.status, refused.body.error.code], [422, 131053], refused.text)
      const audio = { id: await upload(file) }
      assert.equal((await sides.post({ to: user, type: 'audio', audio })).status, 200)
    }
    const [{ id }] = (await voice(ogg('OpusHead'))).body.messages
    assert.equal((await sides.act(id, 'play')).status, 200)
    assert.equal(await sides.namesOf(id), 'sent, delivered, read, played')
    const unknown = await sides.post({ to: user, type: 'audio', audio: { id: '123', voice: true } })
    assert.equal(unknown.body.error.code, 131053)
  })

  test('not without a token of the gateway that sees the account, nor with another address, nor for ever', async () => {
    const user = sides.newUser()
    await sides.write(user)
    const { url } = (await sides.show(await sides.send(user, { type: 'image', image: { id: await upload() } }))).image
    assert.equal((await get(url, '')).status, 401)
    assert.equal((await get(url, tokens.owner)).status, 403)
    assert.equal((await get(forgeLink(url))).status, 404)
    assert.equal((await get(url.replace(/expires=\d/, 'expires=9'))).status, 404)
    assert.equal((await get(url.split('?')[0])).status, 404)
    const other = await sides.show(await sides.send(user, { text: { body: 'No file' } }))
    assert.equal((await get(url.replace(/wamid[^?]*/, other.id))).status, 404)
    server.clock.advance(hour)
    const late = await get(url)
    assert.equal(late.ok, false)
    await late.body?.cancel()
  })
})
