import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { onBothDatabases } from '../harness/databases.ts'
import { fill, jpeg } from '../harness/media-files.ts'
import { startTestServer } from '../harness/server.ts'
import { changeIn, subscribe } from '../harness/subscriber.ts'
import { envelopeOf, handIn, messagesChange } from '../harness/webhooks.ts'
import { numbers, tokens } from '../harness/world.ts'

onBothDatabases('the story of a picture', (engine) => {
  test('a user sends a picture; the business hears of it, downloads it by its id, and deletes it', async (t) => {
    const server = await startTestServer({ engine })
    t.after(() => server.stop())
    const app = await subscribe(t, server)
    const token = tokens.owner

    // The edge has put Ana's picture where the messages of the number find it, and hands in the message.
    const picture = fill(jpeg, 300_000, 7)
    const file = new File([new Uint8Array(picture)], 'shrub.jpg', { type: 'image/jpeg' })
    const uploaded = await server.client.post(`/v23.0/${numbers.main}/media`, {
      token,
      multipart: { messaging_product: 'msgapp', file },
    })
    assert.equal(uploaded.status, 200, uploaded.text)
    const sha256 = createHash('sha256').update(picture)
    const image = {
      caption: 'Is this one still there?',
      mime_type: 'image/jpeg',
      sha256: sha256.copy().digest('base64'),
      id: uploaded.body.id,
    }
    const message = { from: '16505551234', id: 'wamid.picture', timestamp: '1780315200', type: 'image', image }
    const handedIn = await handIn(server, envelopeOf([messagesChange(message)]))
    assert.deepEqual([handedIn.status, handedIn.body], [200, { success: true }])

    // The app is told, and has nothing but what it was told.
    await server.app.settle()
    const [post, ...others] = app.posts
    assert.ok(post)
    assert.deepEqual(others, [])
    const { field, value } = changeIn(post)
    assert.equal(field, 'messages')
    const [heard] = value.messages
    assert.deepEqual(heard, message)

    // It asks where the picture is, and fetches it in two parts, as a phone with a bad line would.
    const found = await server.client.get(`/v23.0/${heard.image.id}`, {
      token,
      query: { phone_number_id: value.metadata.phone_number_id },
    })
    assert.equal(found.status, 200, found.text)
    assert.equal(found.body.mime_type, heard.image.mime_type)
    assert.equal(found.body.sha256, sha256.copy().digest('hex'))
    const headers = { authorization: `Bearer ${token}` }
    const start = await fetch(found.body.url, { headers: { ...headers, range: 'bytes=0-99999' } })
    const etag = start.headers.get('etag') ?? ''
    const rest = await fetch(found.body.url, { headers: { ...headers, range: 'bytes=100000-', 'if-range': etag } })
    assert.deepEqual([start.status, rest.status], [206, 206])
    const parts = await Promise.all([start.arrayBuffer(), rest.arrayBuffer()])
    assert.ok(Buffer.concat(parts.map((part) => Buffer.from(part))).equals(picture))

    // Another business was told nothing, and gets nothing.
    assert.equal((await server.client.get(`/v23.0/${heard.image.id}`, { token: tokens.stranger })).status, 404)
    const overheard = await fetch(found.body.url, { headers: { authorization: `Bearer ${tokens.stranger}` } })
    assert.equal(overheard.status, 404)

    // It has what it needs; from now on nobody gets the picture.
    assert.deepEqual((await server.client.delete(`/v23.0/${heard.image.id}`, { token })).body, { success: true })
    assert.equal((await fetch(found.body.url, { headers })).status, 404)
    assert.equal((await server.client.get(`/v23.0/${heard.image.id}`, { token })).status, 404)
  })
})
