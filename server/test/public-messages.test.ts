import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { readKeyFile, replaceKeyFile } from '../src/base/keys/key-file.ts'
import { systemRandom } from '../src/base/keys/random.ts'
import { makeSecretKey } from '../src/base/keys/secret-key.ts'
import { minute } from '../src/base/time/duration.ts'
import { rotateKeys } from '../src/db/secrets/rotation.ts'
import { eraseUserFromEvents } from '../src/delivery/history/erase-user.ts'
import { badArgument } from '../src/graph/define-error.ts'
import { notOffered, recipientUnknown } from '../src/resources/messages/errors.ts'
import { onOneDatabase } from './harness/databases.ts'
import { assertError } from './harness/errors.ts'
import { mp4, ogg, pdf, png, webp } from './harness/media-files.ts'
import { messageSides } from './harness/messages.ts'
import { startSecondProcess } from './harness/second-process.ts'
import { type TestServer, useTestServer } from './harness/server.ts'
import { ids, numbers, strangerIds, tokens } from './harness/world.ts'

const publicId = /^wamid\.[A-Za-z0-9+/]{40,122}={0,2}$/
const userId = /^US\.[A-Z0-9]{28}$/
/** Its bytes are those of the public platform's documentation. */
const publicExample = 'wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI4MjZGRDA0OUE2OTQ3RkEyMzcA=='
const text = { type: 'text', text: { body: 'Hello' } }

/** The sides of a number, with the name of the product on the wire. */
function sidesOf(server: TestServer, product: string, phone_number_id: string = numbers.main) {
  const sides = messageSides(server, phone_number_id)
  return {
    ...sides,
    write: async (from: string, message: object = text): Promise<string> => {
      const written = await sides.gateway('messages', { phone_number_id, from, name: 'Ada', ...message })
      assert.equal(written.status, 200, written.text)
      return written.body.message_id
    },
    post: (body: object) => sides.post({ messaging_product: product, ...body }),
    send: async (to: string, body: object = text): Promise<string> =>
      (await sides.post({ messaging_product: product, to, ...body })).body.messages[0].id,
  }
}

/** A file that a user sends. */
async function upload(server: TestServer, file: Buffer): Promise<string> {
  const json = { phone_number_id: numbers.main, file: file.toString('base64') }
  const made = await server.client.post('/gateway/media', { token: tokens.gateway, json })
  assert.equal(made.status, 200, made.text)
  return made.body.id
}

const files: Readonly<Record<string, Buffer>> = {
  image: png,
  audio: ogg('OpusHead'),
  video: mp4('isom', ['vide']),
  document: pdf,
  sticker: webp({ animated: false }),
}

onOneDatabase('messages in the second vocabulary', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })
  const sides = sidesOf(server, 'whatsapp')
  const operator = (path: string, query: Record<string, string> = {}) =>
    server.client.get(`/operator/${path}`, { token: tokens.operator, query })

  const handInValue = async (members: object) => {
    const metadata = { display_phone_number: '', phone_number_id: numbers.main }
    const value = { messaging_product: 'whatsapp', metadata, ...members }
    const entry = [{ id: ids.account, changes: [{ field: 'messages', value }] }]
    const json = { object: 'whatsapp_business_account', entry }
    const handed = await server.client.post('/whatsapp/webhooks', { token: tokens.gateway, json })
    assert.equal(handed.status, 200, handed.text)
  }
  const handIn = (message: Readonly<Record<string, unknown>>) =>
    handInValue({ contacts: [{ profile: { name: 'Ada' }, wa_id: message['from'] }], messages: [message] })

  test('ids of messages have the form of the public ones in both directions, without the number of the user', async () => {
    const user = sides.newUser()
    const incoming = await sides.write(user)
    const outgoing = await sides.send(user)
    for (const [id, direction] of [
      [incoming, '12'],
      [outgoing, '11'],
    ] as const) {
      assert.match(id, publicId)
      assert.ok(id.startsWith('wamid.HBgL'), id)
      const bytes = Buffer.from(id.slice('wamid.'.length), 'base64')
      const form = /^1c180b(3[1-9](?:3\d){10})150200(..)1820((?:3\d|4[1-6]){32})00$/
      const between = form.exec(bytes.toString('hex'))
      assert.ok(between, bytes.toString('hex'))
      assert.notEqual(between[1], Buffer.from(user).toString('hex'))
      assert.equal(between[2], direction)
    }
  })

  test('such an id is found wherever a message is named by it, as it is and with its characters escaped', async () => {
    const user = sides.newUser()
    const incoming = await sides.write(user)
    const outgoing = await sides.send(user, { ...text, context: { message_id: incoming } })
    for (const id of [outgoing, encodeURIComponent(outgoing)]) {
      assert.equal((await sides.show(id)).id, outgoing)
      assert.equal((await operator(`why/${id}`)).body.id, outgoing)
      assert.equal((await sides.act(id, 'read')).status, 200)
    }
    assert.equal(await sides.namesOf(outgoing), 'sent, delivered, read')
    assert.equal((await sides.show(outgoing)).context.id, incoming)
    const found = await operator('find', { q: outgoing })
    assert.deepEqual(found.body.data.map(({ kind, id }: { kind: string; id: string }) => [kind, id])[0], [
      'message',
      outgoing,
    ])
    const mark = await sides.post({ status: 'read', message_id: incoming })
    assert.deepEqual(mark.body, { success: true })
    const reaction = { message_id: incoming, emoji: '👍' }
    assert.equal((await sides.post({ to: user, type: 'reaction', reaction })).status, 200)
    const listed = await sides.read(`users/${user}/messages`, { phone_number_id: numbers.main, limit: '1' })
    const next = await fetch(listed.body.paging.next, { headers: { authorization: `Bearer ${tokens.gateway}` } })
    assert.equal(next.status, 200)
  })

  test('ids with every character of base64, and those of before, are taken as they are', async () => {
    const user = sides.newUser()
    for (const id of [`wamid.ab+/${'x/+='.repeat(30)}==`, `wamid.${engine}q83vEjRWeJCrze8SNFZ4kKvN`]) {
      assert.equal(await sides.write(user, { ...text, id }), id)
      assert.equal((await sides.show(encodeURIComponent(id))).id, id)
      assert.equal((await operator(`why/${encodeURIComponent(id)}`)).body.id, id)
      assert.equal((await operator('find', { q: id })).body.data[0].id, id)
      assert.equal((await sides.post({ status: 'read', message_id: id })).status, 200)
      const image = { id: await upload(server, png) }
      const sent = await sides.write(user, { id: `${id}2`, type: 'image', image, context: { id } })
      const shown = await sides.show(encodeURIComponent(sent))
      assert.equal(shown.context.id, id)
      const loaded = await fetch(shown.image.url, { headers: { authorization: `Bearer ${tokens.gateway}` } })
      assert.deepEqual(Buffer.from(await loaded.arrayBuffer()), png)
    }
  })

  for (const [type, file] of Object.entries(files)) {
    test(`a webhook about ${type} has a link to the file, valid for five minutes and with the token, and its hash in base64`, async () => {
      const user = sides.newUser()
      const id = await upload(server, file)
      await sides.write(user, { type, [type]: { id } })
      const [message] = await sides.readDelivered(user)
      const sha256 = createHash('sha256').update(file)
      assert.equal(message[type].sha256, sha256.copy().digest('base64'))
      assert.equal(message[type].id, id)
      const load = (token?: string) =>
        fetch(message[type].url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })
      assert.equal((await load()).status, 401)
      assert.deepEqual(Buffer.from(await (await load(tokens.owner)).arrayBuffer()), file)
      assert.notEqual((await load(tokens.stranger)).status, 200)
      const read = await server.client.get(`/v23.0/${id}`, { token: tokens.owner })
      assert.equal(read.body.sha256, sha256.digest('hex'))
      const nameless = (url: string) => url.split('?')[0]
      assert.equal(nameless(read.body.url), nameless(message[type].url))
      server.clock.advance(5 * minute)
      assert.notEqual((await load(tokens.owner)).status, 200)
      const again = await server.client.get(`/v23.0/${id}`, { token: tokens.owner })
      const renewed = await fetch(again.body.url, { headers: { authorization: `Bearer ${tokens.owner}` } })
      assert.equal(renewed.status, 200)
    })
  }

  test('a file that is not stored here is passed on as the edge described it, and one that is stored gets its link', async () => {
    const user = sides.newUser()
    const image = {
      id: '123456789012345',
      mime_type: 'image/png',
      sha256: 'q83vEjRWeJA=',
      url: 'https://edge.example/1',
    }
    const message = { from: user, id: `wamid.${user}`, timestamp: '1780315200', type: 'image', image }
    const stored = {
      ...message,
      id: `${message.id}2`,
      image: { ...image, id: await upload(server, png), url: undefined },
    }
    await handIn(message)
    await handIn(stored)
    const [{ from_user_id, ...rest }, { image: shown }] = await sides.readDelivered(user)
    assert.deepEqual(rest, message)
    assert.match(from_user_id, userId)
    assert.equal(shown.sha256, createHash('sha256').update(png).digest('base64'))
    assert.ok(shown.url.startsWith(`${server.url}/media/${shown.id}?`), shown.url)
  })

  test('each message that the edge hands in has the id of its user, whatever stands in its place', async () => {
    const user = sides.newUser()
    for (let index = 0; index < 3; index++) {
      const message = { from: user, id: `wamid.${user}.${index}`, timestamp: '1780315200', ...text }
      await handIn({ ...message, ...(index === 2 && { from_user_id: 'US.1' }) })
    }
    const found = (await sides.readDelivered(user)).map(({ from_user_id }) => from_user_id)
    assert.equal(found.length, 3)
    assert.equal(new Set(found).size, 1)
    assert.match(found[0], userId)
    await handIn({ from: 'somebody', id: `wamid.${engine}.nobody`, timestamp: '1780315200', ...text })
    assert.equal((await sides.readDelivered('somebody'))[0].from_user_id, undefined)
  })

  test('the id of a user stands beside the number in messages, statuses and responses, and is the same for all numbers of a business', async () => {
    const user = sides.newUser()
    await sides.write(user)
    const sent = await sides.post({ to: `+${user}`, ...text })
    const [contact] = sent.body.contacts
    const { user_id } = contact
    assert.deepEqual(contact, { input: `+${user}`, wa_id: user, user_id })
    assert.match(user_id, userId)
    const shared = sidesOf(server, 'whatsapp', numbers.shared)
    await shared.write(user)
    const events = (await sides.readEvents()).filter(({ contacts }) => contacts?.[0].wa_id === user)
    assert.deepEqual(
      events.map(({ contacts, messages = [], statuses = [] }) => [
        contacts[0].user_id,
        ...messages.map((message: { from_user_id: string }) => message.from_user_id),
        ...statuses.map((status: { recipient_user_id: string }) => status.recipient_user_id),
      ]),
      events.map(() => [user_id, user_id]),
    )
    assert.equal(events.length, 4)
    const stranger = sidesOf(server, 'whatsapp', strangerIds.phone_number)
    await stranger.write(user)
    const foreign = (await sides.readEvents()).at(-1).messages[0]
    assert.equal(foreign.from, user)
    assert.notEqual(foreign.from_user_id, user_id)
  })

  test('statuses that come later, and statuses that the edge hands in of messages of its own, have the id too', async () => {
    const user = sides.newUser()
    await sides.write(user)
    assert.equal((await sides.gateway(`users/${user}`, { presence: 'offline' })).status, 200)
    const id = await sides.send(user)
    assert.equal((await sides.gateway(`users/${user}`, { presence: 'online' })).status, 200)
    await server.app.settle()
    await sides.act(id, 'read')
    const statuses = await sides.statusesOf(id)
    assert.deepEqual(
      statuses.map(({ status }) => status),
      ['sent', 'delivered', 'read'],
    )
    const [user_id] = new Set(statuses.map(({ recipient_user_id }) => recipient_user_id))
    assert.match(user_id, userId)
    const status = { id: `wamid.out${user}`, status: 'read', timestamp: '1780315200', recipient_id: user }
    const group = { ...status, recipient_id: ids.group, group_id: ids.group, recipient_type: 'group' }
    await handInValue({ statuses: [status, group] })
    assert.deepEqual(await sides.statusesOf(status.id), [{ ...status, recipient_user_id: user_id }, group])
  })

  test('a message of any kind goes to the user whom recipient names; to counts where both are given', async () => {
    const [user, other] = [sides.newUser(), sides.newUser()]
    await sides.write(user)
    const [{ from_user_id: recipient }] = await sides.readDelivered(user)
    const template = { name: 'hello_world', language: { code: 'en_US' } }
    const location = { latitude: 1, longitude: 2 }
    for (const message of [text, { type: 'location', location }, { type: 'template', template }]) {
      const { status, body, text: raw } = await sides.post({ recipient, ...message })
      assert.equal(status, 200, raw)
      assert.deepEqual(body.contacts, [{ input: recipient, wa_id: user, user_id: recipient }])
      assert.equal((await sides.show(body.messages[0].id)).user_wa_id, user)
    }
    await sides.write(other)
    const both = await sides.post({ to: other, recipient, ...text })
    assert.equal(both.body.contacts[0].wa_id, other)
    const ofGroup = await sides.post({ recipient_type: 'group', recipient, ...text })
    assert.equal(ofGroup.body.error.code, 100)
    assert.equal((await sides.post(text)).body.error.code, 100)
  })

  test('in a group the writer and each participant have their ids, and the group has none', async () => {
    const user = sides.newUser()
    const link = await server.client.get(`/v23.0/${ids.group}/invite_link`, { token: tokens.owner })
    const joined = await sides.gateway('groups/join', { invite_link: link.body.invite_link, user_wa_id: user })
    assert.equal(joined.status, 200, joined.text)
    const written = await sides.gateway('messages', { group_id: ids.group, from: user, ...text })
    assert.equal(written.status, 200, written.text)
    const [{ from_user_id }] = await sides.readDelivered(user)
    assert.match(from_user_id, userId)
    const sent = await sides.post({ recipient_type: 'group', to: ids.group, ...text })
    assert.deepEqual(sent.body.contacts, [{ input: ids.group, wa_id: ids.group }])
    const events = (await sides.readEvents()).filter(({ statuses }) => statuses?.[0].id === sent.body.messages[0].id)
    assert.deepEqual(
      events.map(({ contacts, statuses: [status] }) => [
        status.status,
        contacts?.[0].user_id,
        status.recipient_user_id,
      ]),
      [
        ['sent', undefined, undefined],
        ['delivered', from_user_id, undefined],
      ],
    )
  })

  test('an id that is made up, altered, or of another business is refused alike', async () => {
    const user = sides.newUser()
    await sides.write(user)
    const [{ from_user_id: own }] = await sides.readDelivered(user)
    await sidesOf(server, 'whatsapp', strangerIds.phone_number).write(user)
    const foreign = (await sides.readEvents()).at(-1).messages[0].from_user_id
    const altered = `${own.slice(0, -1)}${own.endsWith('A') ? 'B' : 'A'}`
    for (const recipient of [foreign, altered, user, '', 'US.13491208655302741918']) {
      assertError(await sides.post({ recipient, ...text }), recipientUnknown())
    }
  })

  test('what is erased of a user takes the id of the user with it', async () => {
    const user = sides.newUser()
    await sides.write(user)
    await sides.send(user)
    const [{ from_user_id }] = await sides.readDelivered(user)
    const valuesWith = async (text: string) =>
      (await sides.readEvents()).filter((value) => JSON.stringify(value).includes(text)).length
    assert.equal(await valuesWith(from_user_id), 3)
    await eraseUserFromEvents(server.database, server.clock, user)
    assert.deepEqual([await valuesWith(from_user_id), await valuesWith(user)], [0, 0])
  })

  test('ids of users stay the same in another process, after a rotation of keys, and after a reset', async (t) => {
    const user = sides.newUser()
    await sides.write(user)
    const [{ from_user_id: recipient }] = await sides.readDelivered(user)
    const key = makeSecretKey(systemRandom)
    const file = join(server.dataDir, 'secrets.key')
    replaceKeyFile(file, systemRandom, [key, ...(readKeyFile(file)?.keys ?? [])])
    const { unreadable } = await rotateKeys(server.database, { clock: server.clock, chooseKey: () => key })
    assert.deepEqual(unreadable, [])
    const next = await startSecondProcess(server, { VOCABULARY: 'whatsapp' })
    t.after(() => next.app.close(1000))
    const json = { messaging_product: 'whatsapp', recipient, ...text }
    const sent = await next.client.post(`/v23.0/${numbers.main}/messages`, { token: tokens.owner, json })
    assert.deepEqual(sent.body.contacts, [{ input: recipient, wa_id: user, user_id: recipient }])
    const reset = await server.client.post('/operator/reset', { token: tokens.operator, json: {} })
    assert.equal(reset.status, 200, reset.text)
    await sides.write(user)
    assert.equal((await sides.readDelivered(user))[0].from_user_id, recipient)
  })
})

onOneDatabase('messages in the first vocabulary', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const sides = sidesOf(server, 'msgapp')

  test('messages in the first vocabulary have short ids, no ids of users and no links, and hashes in hexadecimal digits', async () => {
    const user = sides.newUser()
    const image = { id: await upload(server, png) }
    const ids = [await sides.write(user, { type: 'image', image }), await sides.send(user)]
    for (const id of ids) assert.match(id, /^wamid\.[\w-]{24}$/)
    const [delivered] = await sides.readDelivered(user)
    const sha256 = createHash('sha256').update(png).digest('hex')
    assert.deepEqual(delivered.image, { mime_type: 'image/png', sha256, id: image.id })
    const { body } = await sides.post({ to: user, ...text })
    assert.deepEqual(body.contacts, [{ input: user, wa_id: user }])
    const events = JSON.stringify(await sides.readEvents())
    for (const member of ['user_id', 'from_user_id', 'recipient_user_id', 'url']) {
      assert.ok(!events.includes(`"${member}"`), member)
    }
    const refused = await sides.post({ recipient: `US.${'A'.repeat(28)}`, ...text })
    assertError(refused, badArgument(notOffered('recipient')))
  })

  test('a store whose messages have ids of either form is one history', async (t) => {
    const user = sides.newUser()
    const [short, other] = [await sides.write(user), await sides.write(user, { ...text, id: publicExample })]
    const next = await startSecondProcess(server, { VOCABULARY: 'whatsapp' })
    t.after(() => next.app.close(1000))
    const read = async (id: string) =>
      (await next.client.get(`/gateway/messages/${id}`, { token: tokens.gateway })).body.id
    assert.deepEqual([await read(short), await read(other)], [short, other])
    const json = { messaging_product: 'whatsapp', to: user, ...text, context: { message_id: short } }
    const sent = await next.client.post(`/v23.0/${numbers.main}/messages`, { token: tokens.owner, json })
    const [{ id }] = sent.body.messages
    assert.match(id, publicId)
    assert.equal((await sides.show(id)).context.id, short)
    assert.equal((await sides.show(other)).id, other)
  })
})
