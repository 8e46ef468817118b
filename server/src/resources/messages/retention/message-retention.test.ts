import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { png } from '../../../../test/harness/media-files.ts'
import { messageSides } from '../../../../test/harness/messages.ts'
import { readStolenBytes } from '../../../../test/harness/secret-search.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { refuseWith, subscribe, takeIt } from '../../../../test/harness/subscriber.ts'
import { ids, numbers, tokens } from '../../../../test/harness/world.ts'
import { systemRandom } from '../../../base/keys/random.ts'
import { silentLog } from '../../../base/log/log.ts'
import { day, hour, second } from '../../../base/time/duration.ts'
import { replayDelivery } from '../../../delivery/history/replay-deliveries.ts'
import { type KeepRules, MessageRetention } from './message-retention.ts'

const usual: KeepRules = {
  messageKeep: 30 * day,
  messageBodyKeep: 30 * day,
  idempotencyKeep: day,
  webhookKeep: 30 * day,
  streamKeep: day,
}

onOneDatabase('what is kept of messages', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { MESSAGE_TTL: '40d' } })
  const sides = messageSides(server)

  const sweep = (rules: Partial<KeepRules>) => {
    const { database, clock } = server
    const deps = { database, clock, random: systemRandom, log: silentLog, rules: { ...usual, ...rules } }
    return new MessageRetention(deps).sweep()
  }

  async function isRemoved(id: string): Promise<boolean> {
    const shown = await sides.show(id)
    assert.equal('text' in shown, !shown.content_removed)
    return shown.content_removed ?? false
  }

  async function showsStatus(id: string): Promise<number> {
    return (await sides.read(`messages/${id}`)).status
  }

  async function goOffline(user: string): Promise<void> {
    assert.equal((await sides.gateway(`users/${user}`, { presence: 'offline' })).status, 200)
  }

  async function countEmptied(): Promise<number> {
    const { query } = server.database.read
    return (await query.selectFrom('events').select('id').where('value', '=', '').execute()).length
  }

  test('contents go after MESSAGE_BODY_KEEP, everything else after MESSAGE_KEEP', async () => {
    const user = sides.newUser()
    const incoming = await sides.write(user)
    const outgoing = await sides.send(user)
    const rules = { messageBodyKeep: 2 * day, messageKeep: 3 * day }
    server.clock.advance(2 * day - second)
    await sweep(rules)
    assert.deepEqual([await isRemoved(incoming), await isRemoved(outgoing)], [false, false])
    server.clock.advance(second)
    await sweep(rules)
    assert.deepEqual([await isRemoved(incoming), await isRemoved(outgoing)], [true, true])
    const shown = await sides.show(outgoing)
    assert.deepEqual(
      [shown.state, shown.type, shown.states.length, shown.user_wa_id],
      ['delivered', 'text', 2, user],
      'the rest is there',
    )
    const listed = await sides.read(`users/${user}/messages`, { phone_number_id: numbers.main })
    assert.deepEqual(
      listed.body.data.map((one: { content_removed?: boolean }) => one.content_removed),
      [true, true],
    )
    server.clock.advance(day)
    await sweep(rules)
    assert.deepEqual([await showsStatus(incoming), await showsStatus(outgoing)], [404, 404])
    assert.equal((await sides.read(`users/${user}/chats`)).body.data[0].last_message, undefined)
  })

  test('what messages said is nowhere in the store afterwards', async (t) => {
    const subscriber = await subscribe(t, server)
    const user = sides.newUser()
    const said = {
      written: 'the amber zeppelin leaves at nine',
      sent: 'your marzipan lighthouse is ready',
      caption: 'a narwhal in the afternoon',
      name: 'Zerlina Quibblewick',
      place: 'Under the velvet ostrich',
      button: 'Choose walrus',
      key: 'the teapot admiral salutes',
      // What it was found by.
      word: 'zeppelin',
      otherWord: 'lighthouse',
    }
    // It says back what it was sent.
    subscriber.answerWith((post, response) => {
      const header = post.body.includes(said.written) ? said.written : 'nothing'
      response.setHeader('x-said', header).end(post.body)
    })
    await sides.write(user, { text: { body: said.written } })
    const longText = `${said.sent} ${randomBytes(2900).toString('base64')}`
    await sides.send(user, { text: { body: longText } })
    await sides.send(user, { type: 'image', image: { id: ids.media, caption: said.caption } })
    const contacts = [{ name: { formatted_name: said.name, first_name: 'Z' } }]
    await sides.send(user, { type: 'contacts', contacts })
    await sides.send(user, { type: 'location', location: { latitude: 1, longitude: 1, name: said.place } })
    await sides.post({ to: user, text: { body: said.key } }, { headers: { 'idempotency-key': 'wiped' } })
    const reply = { id: 'yes', title: 'Yes' }
    const interactive = {
      ...{ type: 'button', body: { text: said.button } },
      action: { buttons: [{ type: 'reply', reply }] },
    }
    await sides.send(user, { type: 'interactive', interactive })
    await server.app.settle()
    assert.ok(subscriber.posts.some(({ body }) => body.includes(said.written)))
    const find = async () => {
      const bytes = await readStolenBytes({ engine, dataDir: server.dataDir }, server.database)
      return Object.entries(said).flatMap(([name, text]) => (bytes.includes(text) ? [name] : []))
    }
    assert.deepEqual(await find(), Object.keys(said), 'all of it is there before')
    const answers = () =>
      server.database.read.query
        .selectFrom('delivery_attempts')
        .select(['answer', 'answer_headers'])
        .where('answer', 'like', `%${said.written}%`)
        .where('answer_headers', 'like', `%${said.written}%`)
        .execute()
    assert.equal((await answers()).length, 1, 'an answer holds it too')
    server.clock.advance(2 * day)
    await sweep({ messageBodyKeep: 2 * day })
    assert.deepEqual(await find(), [])
  })

  test('a message under way is kept until its end, however old it is', async () => {
    const user = sides.newUser()
    await sides.write(user)
    await goOffline(user)
    const waiting = await sides.send(user)
    server.clock.advance(31 * day)
    await sweep({})
    assert.equal(await showsStatus(waiting), 200)
    server.clock.advance(9 * day)
    await sweep({})
    assert.equal(await showsStatus(waiting), 404, 'it was dropped')
  })

  test('nothing is kept: contents go when messages were delivered, failed or dropped', async () => {
    const [online, offline, stranger] = [sides.newUser(), sides.newUser(), sides.newUser()]
    await sides.write(online)
    await sides.write(offline)
    await goOffline(offline)
    const [delivered, waiting, failed] = [
      await sides.send(online),
      await sides.send(offline),
      await sides.send(stranger),
    ]
    const none = { messageBodyKeep: 0 }
    await sweep(none)
    assert.deepEqual(
      [await isRemoved(delivered), await isRemoved(waiting), await isRemoved(failed)],
      [true, false, true],
    )
    assert.equal((await sides.act(waiting, 'deliver')).status, 200)
    await sweep(none)
    assert.equal(await isRemoved(waiting), true)

    await sides.write(offline)
    const dropped = await sides.send(offline)
    server.clock.advance(40 * day - second)
    await sweep({ ...none, messageKeep: 90 * day })
    assert.equal(await isRemoved(dropped), false)
    server.clock.advance(second)
    await sweep({ ...none, messageKeep: 90 * day })
    assert.equal(await isRemoved(dropped), true)
    assert.equal((await sides.show(dropped)).state, 'expired')
  })

  test('nothing is kept: of a message to a group until every participant has it, and what can be pressed stays', async () => {
    const link = await server.client.get(`/v23.0/${ids.group}/invite_link`, { token: tokens.owner })
    const joined = await sides.gateway('groups/join', { invite_link: link.body.invite_link, user_wa_id: '16505551234' })
    assert.equal(joined.status, 200, joined.text)
    const groupSide = await sides.gateway('messages', {
      group_id: ids.group,
      from: '16505551234',
      type: 'text',
      text: { body: 'All here?' },
    })
    assert.equal(groupSide.status, 200, groupSide.text)
    await goOffline('16505551234')
    const posted = await sides.post({ recipient_type: 'group', to: ids.group, text: { body: 'Hello' } })
    assert.equal(posted.status, 200, posted.text)
    const [{ id }] = posted.body.messages
    await sweep({ messageBodyKeep: 0 })
    assert.equal(await isRemoved(id), false)
    assert.equal((await sides.act(id, 'deliver', { user_wa_id: '16505551234' })).status, 200)
    await sweep({ messageBodyKeep: 0 })
    assert.equal(await isRemoved(id), true)

    const user = sides.newUser()
    await sides.write(user)
    const buttons = [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }]
    const interactive = { type: 'button', body: { text: 'Agreed?' }, action: { buttons } }
    const asked = await sides.send(user, { type: 'interactive', interactive })
    await sweep({ messageBodyKeep: 0 })
    assert.equal((await sides.show(asked)).content_removed, true)
    assert.equal((await sides.act(asked, 'press', { choice: 'yes' })).status, 200)
  })

  test('nothing is kept: of what came in until its deliveries have ended, whose values are emptied too', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    const user = sides.newUser()
    const incoming = await sides.write(user)
    await server.app.settle()
    await sweep({ messageBodyKeep: 0 })
    assert.equal(await isRemoved(incoming), false)
    assert.equal((await sides.readDelivered(user)).length, 1)
    subscriber.answerWith(takeIt)
    server.clock.advance(hour)
    await server.app.settle()
    await sweep({ messageBodyKeep: 0 })
    assert.equal(await isRemoved(incoming), true)
    assert.deepEqual(await sides.readDelivered(user), [])
    const { id } = await server.database.read.query
      .selectFrom('deliveries')
      .select('id')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    const replay = await server.database.transaction((tx) => replayDelivery(tx, server.clock, id))
    assert.deepEqual(replay, { kind: 'emptied' })
  })

  test('values are emptied only where contents go before the webhook log does', async (t) => {
    await subscribe(t, server)
    const user = sides.newUser()
    await sides.write(user)
    await server.app.settle()
    const before = await countEmptied()
    server.clock.advance(day)
    await sweep({ messageBodyKeep: day, webhookKeep: day })
    assert.equal(await countEmptied(), before)
    await sweep({ messageBodyKeep: day, webhookKeep: day + 1 })
    assert.ok((await countEmptied()) > before)
  })

  test('the bytes of a media file go with the last content that has it', async () => {
    const user = sides.newUser()
    await sides.write(user)
    const picture = new Blob([new Uint8Array(png)], { type: 'image/png' })
    const multipart = { messaging_product: 'msgapp', file: picture }
    const uploaded = await server.client.post(`/v23.0/${numbers.main}/media`, { token: tokens.owner, multipart })
    assert.equal(uploaded.status, 200, uploaded.text)
    const id = await sides.send(user, { type: 'image', image: { id: uploaded.body.id } })
    const { sha256 } = (await sides.show(id)).image
    assert.ok(await server.files.has(sha256))
    const deleted = await server.client.delete(`/v23.0/${uploaded.body.id}`, { token: tokens.owner })
    assert.equal(deleted.status, 200, deleted.text)
    server.clock.advance(2 * hour)
    await server.app.settle()
    assert.ok(await server.files.has(sha256))
    await sweep({ messageBodyKeep: 0 })
    await server.app.settle()
    assert.ok(!(await server.files.has(sha256)))
  })

  test('idempotency keys go after their time', async () => {
    const user = sides.newUser()
    await sides.write(user)
    const headers = { 'idempotency-key': 'kept-for-a-day' }
    await sides.post({ to: user, text: { body: 'Hello' } }, { headers })
    const count = async () =>
      (await server.database.read.query.selectFrom('idempotency_keys').selectAll().execute()).length
    assert.equal(await count(), 1)
    server.clock.advance(day - second)
    await sweep({})
    assert.equal(await count(), 1)
    server.clock.advance(second)
    await sweep({})
    assert.equal(await count(), 0)
  })
})
