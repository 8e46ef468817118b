import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { before, test } from 'node:test'
import WhatsApp from '@great-detail/whatsapp'
import { second } from '../src/base/time/duration.ts'
import { onOneDatabase } from './harness/databases.ts'
import { mp4, ogg, pdf, png, webp } from './harness/media-files.ts'
import { useTestServer } from './harness/server.ts'
import { listenForTest, type SinkRequest } from './harness/sink.ts'
import { startSubscriber } from './harness/subscriber.ts'
import { ids, numbers, tokens } from './harness/world.ts'

const phoneNumberID = numbers.main
const to = '16505557001'

/** The library that already exists, unmodified: what it knows of messages and templates. */
onOneDatabase('@great-detail/whatsapp sends messages', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })
  let sdk: WhatsApp
  before(() => {
    sdk = new WhatsApp({
      baseUrl: server.url,
      request: { headers: { Authorization: `Bearer ${tokens.owner}` }, retry: 0, fetch: server.client.fetch },
    })
  })

  /** What the user writes, which opens the window; returns its id. */
  async function write(): Promise<string> {
    const json = { phone_number_id: phoneNumberID, from: to, type: 'text', text: { body: 'Hi' } }
    return (await server.client.post('/gateway/messages', { token: tokens.gateway, json })).body.message_id
  }

  /** The types of the library require what the platform does not, so messages are given to it as they are. */
  async function send(message: object): Promise<string> {
    const options = { phoneNumberID, to, ...message } as unknown as Parameters<typeof sdk.message.createMessage>[0]
    const { contacts, messages } = await sdk.message.createMessage(options).json()
    const [{ user_id, ...contact }] = contacts as unknown as [{ user_id: string }]
    assert.deepEqual(contact, { input: to, wa_id: to })
    assert.match(user_id, /^US\.[A-Z0-9]{28}$/)
    return messages[0]?.id ?? ''
  }

  async function stateOf(id: string): Promise<string> {
    return (await server.client.get(`/gateway/messages/${id}`, { token: tokens.gateway })).body.state
  }

  test('@great-detail/whatsapp sends messages of every kind that it knows', async (t) => {
    const incoming = await write()
    const files: Record<string, Buffer> = {
      '/voice.ogg': ogg('OpusHead'),
      '/a.pdf': pdf,
      '/a.png': png,
      '/a.mp4': mp4('isom', ['vide']),
      '/a.webp': webp({ animated: false }),
    }
    const { port } = await listenForTest(
      t,
      createServer((request, response) => response.end(files[request.url ?? ''])),
    )
    const at = (path: string) => ({ link: `http://127.0.0.1:${port}${path}` })
    const button = { type: 'reply', reply: { id: 'yes', title: 'Yes' } }
    const messages = [
      { type: 'text', text: { body: 'Hello', preview_url: false } },
      { type: 'audio', audio: at('/voice.ogg') },
      { type: 'document', document: { ...at('/a.pdf'), caption: 'The list' } },
      { type: 'image', image: at('/a.png') },
      { type: 'video', video: at('/a.mp4') },
      { type: 'sticker', sticker: at('/a.webp') },
      { type: 'location', location: { latitude: 37.48, longitude: -122.14, name: 'Shop', address: 'Hacker Way' } },
      { type: 'contacts', contacts: [{ name: { formatted_name: 'Ada L.', first_name: 'Ada' } }] },
      { type: 'reaction', reaction: { message_id: incoming, emoji: '👍' } },
      { type: 'interactive', interactive: { type: 'button', body: { text: 'Yes?' }, action: { buttons: [button] } } },
      { type: 'template', template: { name: 'hello_world', language: { code: 'en_US' } } },
    ]
    for (const message of messages) {
      const id = await send(message)
      await server.app.settle()
      assert.equal(await stateOf(id), message.type === 'reaction' ? 'sent' : 'delivered', message.type)
    }
    const { success } = await sdk.message
      .createStatus({
        phoneNumberID,
        message_id: incoming,
        status: 'read' as never,
        typing_indicator: { type: 'text' },
      })
      .json()
    assert.equal(success, true)
    assert.equal(await stateOf(incoming), 'read')
  })

  test('creates, lists and deletes a template', async () => {
    const template = {
      ...{ name: 'library_made', language: 'en_US', category: 'UTILITY' },
      components: [{ type: 'BODY', text: 'Thank you for your visit.' }],
    }
    const made = await sdk.template
      .create(ids.account, template as unknown as Parameters<typeof sdk.template.create>[1])
      .json()
    assert.match(String(made.id), /^\d+$/)
    server.clock.advance(second)
    await server.app.settle()
    const { data } = await sdk.template.list(ids.account, { name_or_content: 'library_made' }).json()
    assert.deepEqual(
      data.map(({ id, status }) => [id, status]),
      [[made.id, 'APPROVED']],
    )
    await write()
    const id = await send({ type: 'template', template: { name: 'library_made', language: { code: 'en_US' } } })
    assert.equal(await stateOf(id), 'delivered')
    assert.deepEqual(await sdk.template.delete(ids.account, { name: 'library_made' }).json(), { success: true })
  })

  test('@great-detail/whatsapp sends messages takes the statuses that it is told, by their signatures', async (t) => {
    const subscriber = await startSubscriber(t)
    const answer = await server.client.post(`/v23.0/${ids.application}/subscriptions`, {
      token: tokens.owner,
      json: {
        ...{ object: 'whatsapp_business_account', callback_url: subscriber.url, verify_token: 'vt' },
        fields: ['messages'],
      },
    })
    assert.equal(answer.status, 200, answer.text)
    await write()
    const id = await send({ type: 'text', text: { body: 'Hello' } })
    await server.app.settle()
    const read = async ({ body, headers }: SinkRequest) => {
      const event = await sdk.webhook.eventNotification({
        ...{ method: 'POST', query: {}, body: body.toString() },
        headers: headers as Record<string, string>,
      })
      await event.verifySignature('shrub-app-secret')
      await assert.rejects(async () => event.verifySignature('another-secret'))
      const [change] = event.eventNotification.entry[0]?.changes ?? []
      return (change as unknown as { value: { statuses?: { id: string; status: string }[] } }).value
    }
    const statuses = (await Promise.all(subscriber.posts.map(read))).flatMap((value) => value.statuses ?? [])
    assert.deepEqual(
      statuses.map((status) => [status.id, status.status]),
      [
        [id, 'sent'],
        [id, 'delivered'],
      ],
    )
  })
})
