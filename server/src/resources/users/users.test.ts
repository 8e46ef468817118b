import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callSides } from '../../../test/harness/calls.ts'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { messageSides } from '../../../test/harness/messages.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, numbers, tokens } from '../../../test/harness/world.ts'
import { insertToken } from '../../auth/tokens.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { day, second } from '../../base/time/duration.ts'
import { incomingIdTaken, writerIsNumber } from '../messages/errors.ts'
import { failureCodes } from '../messages/status/failures.ts'
import {
  actionNotPossible,
  choiceUnknown,
  failCodeNotTaken,
  nothingToAnswer,
  numberIsNoUser,
  numberOrGroup,
  writtenNumberNotRegistered,
} from './errors.ts'

const number = numbers.main

onOneDatabase("the users' side", 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const sides = messageSides(server)
  const text = { type: 'text', text: { body: 'Hello' } }
  const write = (from: string, rest: object = text) =>
    sides.gateway('messages', { phone_number_id: number, from, ...rest })
  const offlineUser = async () => {
    const user = sides.newUser()
    await write(user)
    assert.equal((await sides.gateway(`users/${user}`, { presence: 'offline' })).status, 200)
    return user
  }

  test('a user who was never seen has the defaults, and keeps what is set', async () => {
    const user = sides.newUser()
    const defaults = { wa_id: user, presence: 'online', auto_read: false, read_receipts: true, reachable: true }
    assert.deepEqual((await sides.read(`users/${user}`)).body, defaults)
    const set = { name: 'Ada', presence: 'offline', auto_read: true, read_receipts: false, reachable: false }
    assert.deepEqual((await sides.gateway(`users/${user}`, set)).body, { success: true })
    assert.deepEqual((await sides.read(`users/${user}`)).body, { wa_id: user, ...set })
    assertError(await sides.gateway('users/16315551001', { name: 'x' }), numberIsNoUser)
    assertError(await sides.read('users/16315551001'), numberIsNoUser)
    assertError(await sides.read('users/16315551001/chats'), numberIsNoUser)
    assertError(await sides.read('users/16315551001/messages', { phone_number_id: number }), numberIsNoUser)
  })

  test('the gateway and the receiver give the same event, and the same id is told once', async () => {
    const [one, other] = [sides.newUser(), sides.newUser()]
    const { body } = await write(one, { ...text, id: `wamid.same.${engine}`, name: 'Ada' })
    assert.deepEqual(body, { message_id: `wamid.same.${engine}` })
    assert.deepEqual((await write(one, { ...text, id: `wamid.same.${engine}` })).body, body)
    await sides.write(other)
    const events = (await sides.readEvents()).filter(({ messages }) => [one, other].includes(messages?.[0].from))
    assert.equal(events.length, 2)
    const blur = (event: object) =>
      JSON.stringify(event)
        .replaceAll(one, 'U')
        .replaceAll(other, 'U')
        .replaceAll(/wamid\.[\w.]+/g, 'ID')
    assert.equal(blur(events[0]), blur(events[1]))
  })

  test('what a user writes opens the window, and is refused where it cannot be', async () => {
    const user = sides.newUser()
    assert.equal((await write(user)).status, 200)
    assert.equal(await sides.namesOf(await sides.send(user)), 'sent, delivered')
    assertError(await sides.gateway('messages', { from: user, ...text }), numberOrGroup)
    assertError(
      await sides.gateway('messages', { phone_number_id: number, group_id: ids.group, from: user, ...text }),
      numberOrGroup,
    )
    assertError(
      await sides.gateway('messages', { phone_number_id: numbers.fresh, from: user, ...text }),
      writtenNumberNotRegistered,
    )
    assertError(await write('16315551002'), writerIsNumber)
    const bad = await write(user, { type: 'text', text: {} })
    assert.deepEqual([bad.status, bad.body.error.message.slice(0, 10)], [400, 'text.body:'])
    const { message_id } = (await write(user)).body
    const elsewhere = { phone_number_id: numbers.shared, from: user, id: message_id, ...text }
    assertError(await sides.gateway('messages', elsewhere), incomingIdTaken)
  })

  test("a user's call opens the window too", async () => {
    const user = sides.newUser()
    await callSides(server).callBusiness(user)
    assert.equal(await sides.namesOf(await sides.send(user)), 'sent, delivered')
  })

  test('a message whose sender saw the phone offline while it came online is delivered a little later', async () => {
    const user = await offlineUser()
    const set = (presence: 'offline' | 'online') =>
      server.database.transaction((tx) =>
        tx.query.updateTable('users').set({ presence }).where('wa_id', '=', user).execute(),
      )
    await sides.gateway(`users/${user}`, { presence: 'online' })
    await set('offline')
    const left = await sides.send(user)
    await set('online')
    await server.app.settle()
    assert.equal(await sides.namesOf(left), 'sent')
    server.clock.advance(5 * second)
    await server.app.settle()
    assert.equal(await sides.namesOf(left), 'sent, delivered')

    await set('offline')
    const another = await sides.send(user)
    await set('online')
    await sides.gateway(`users/${user}`, { presence: 'online' })
    assert.equal(await sides.namesOf(another), 'sent, delivered', 'a phone that was online already')
  })

  test('offline: a message waits; going online delivers what waits, oldest first', async () => {
    const user = await offlineUser()
    const waiting = [await sides.send(user), await sides.send(user), await sides.send(user)]
    for (const id of waiting) assert.equal(await sides.namesOf(id), 'sent')
    await sides.gateway(`users/${user}`, { presence: 'online' })
    await server.app.settle()
    const events = (await sides.readEvents()).flatMap(({ statuses }) => statuses ?? [])
    const delivered = events.filter(({ status, recipient_id }) => status === 'delivered' && recipient_id === user)
    assert.deepEqual(
      delivered.map(({ id }) => id),
      waiting,
    )
  })

  test('a message past its life is never delivered and has no status', async () => {
    const user = await offlineUser()
    const id = await sides.send(user)
    server.clock.advance(30 * day - second)
    assert.equal((await sides.show(id)).state, 'sent')
    server.clock.advance(second)
    assert.equal((await sides.show(id)).state, 'expired')
    await sides.gateway(`users/${user}`, { presence: 'online' })
    assert.deepEqual((await sides.act(id, 'deliver')).body, { success: true })
    await server.app.settle()
    assert.equal(await sides.namesOf(id), 'sent')
  })

  test('auto_read reads a second after delivery; without read receipts the gateway alone knows it', async () => {
    const user = sides.newUser()
    await write(user)
    await sides.gateway(`users/${user}`, { auto_read: true })
    const id = await sides.send(user)
    server.clock.advance(second - 1)
    await server.app.settle()
    assert.equal(await sides.namesOf(id), 'sent, delivered')
    server.clock.advance(1)
    await server.app.settle()
    assert.equal(await sides.namesOf(id), 'sent, delivered, read')
    await sides.gateway(`users/${user}`, { auto_read: false, read_receipts: false })
    const unseen = await sides.send(user)
    await sides.act(unseen, 'read')
    assert.equal(await sides.namesOf(unseen), 'sent, delivered')
    assert.equal((await sides.show(unseen)).state, 'read')
  })

  test('a report that skips tells what it skipped, with one timestamp; one that is not ahead does nothing', async () => {
    const user = await offlineUser()
    const id = await sides.send(user)
    server.clock.advance(5 * second)
    await sides.act(id, 'read')
    const [sent, delivered, read] = await sides.statusesOf(id)
    assert.equal(await sides.namesOf(id), 'sent, delivered, read')
    assert.equal(delivered.timestamp, read.timestamp)
    assert.equal(Number(read.timestamp) - Number(sent.timestamp), 5)
    for (const action of ['deliver', 'fail']) assert.deepEqual((await sides.act(id, action)).body, { success: true })
    assert.equal(await sides.namesOf(id), 'sent, delivered, read')
    const failed = await sides.send(user)
    await sides.act(failed, 'fail', { code: 131049 })
    await sides.act(failed, 'deliver')
    assert.equal(await sides.namesOf(failed), 'sent, failed 131049')
    assertError(await sides.act(failed, 'fail', { code: 5 }), failCodeNotTaken({ codes: failureCodes }))
    assertError(await sides.act(id, 'play'), actionNotPossible({ action: 'play', reason: 'it is no voice message' }))
    assert.equal((await sides.act('wamid.unknown', 'read')).status, 404)
  })

  test('a user who blocked the number gets nothing, and no status tells', async () => {
    const user = sides.newUser()
    await write(user)
    await sides.gateway(`users/${user}/chats/${number}`, { blocked: true })
    const id = await sides.send(user)
    for (const action of ['deliver', 'read', 'fail']) {
      assert.deepEqual((await sides.act(id, action)).body, { success: true })
    }
    assert.equal((await write(user)).status, 200)
    await sides.gateway(`users/${user}/chats/${number}`, { blocked: false })
    await server.app.settle()
    // Neither a phone that goes online nor a report brings what was sent before the block ended.
    for (const presence of ['offline', 'online']) await sides.gateway(`users/${user}`, { presence })
    assert.equal((await sides.act(id, 'deliver')).status, 200)
    await server.app.settle()
    assert.equal(await sides.namesOf(id), 'sent')
    const { state, states } = await sides.show(id)
    assert.deepEqual([state, states.length], ['sent', 1])
    assert.equal(await sides.namesOf(await sides.send(user)), 'sent, delivered')
  })

  test('a user who blocked the number can press what came before, and nothing that was sent since', async () => {
    const user = sides.newUser()
    await write(user)
    const action = { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }] }
    const question = { type: 'interactive', interactive: { type: 'button', body: { text: 'Well?' }, action } }
    const before = await sides.send(user, question)
    await sides.gateway(`users/${user}/chats/${number}`, { blocked: true })
    const since = await sides.send(user, question)
    assertError(
      await sides.act(since, 'press', { choice: 'yes' }),
      actionNotPossible({ action: 'press', reason: 'it has not reached the user' }),
    )
    assert.equal((await sides.act(before, 'press', { choice: 'yes' })).status, 200)
    assert.deepEqual(
      (await sides.readDelivered(user)).map(({ context }) => context?.id),
      [undefined, before],
    )
  })

  test('a change of marketing is told once', async () => {
    const user = sides.newUser()
    for (const marketing of ['stop', 'stop', 'resume']) {
      assert.equal((await sides.gateway(`users/${user}/chats/${number}`, { marketing })).status, 200)
    }
    const rows = await server.database.read.query.selectFrom('events').selectAll().orderBy('id').execute()
    const told = rows
      .filter(({ field }) => field === 'user_preferences')
      .map(({ value }) => JSON.parse(value).user_preferences[0])
      .filter(({ wa_id }) => wa_id === user)
    assert.deepEqual(
      told.map(({ value, category }) => [value, category]),
      [
        ['stop', 'marketing_messages'],
        ['resume', 'marketing_messages'],
      ],
    )
  })

  test('chats show the last message, what is unread, and the window; messages page from the newest', async () => {
    const user = sides.newUser()
    const first = (await write(user)).body.message_id
    const sent = [await sides.send(user), await sides.send(user)]
    const row = server.client.row('gateway.list_chats')
    const chats = await server.client.callRow(row, `/gateway/users/${user}/chats`, { token: tokens.gateway })
    const [chat, ...others] = chats.body.data
    assert.deepEqual(others, [])
    assert.deepEqual(
      [
        chat.phone_number_id,
        chat.last_message.id,
        chat.unread_count,
        chat.window_expires_at,
        chat.blocked,
        chat.marketing,
      ],
      [number, sent[1], 2, String(server.clock.now() / 1000 + 86_400), false, 'resume'],
    )
    await sides.act(sent[0] ?? '', 'read')
    assert.equal((await sides.read(`users/${user}/chats`)).body.data[0].unread_count, 1)
    const list = (query: object) =>
      server.client.callRow(server.client.row('gateway.list_messages'), `/gateway/users/${user}/messages`, {
        token: tokens.gateway,
        query: { phone_number_id: number, limit: '2', ...query },
      })
    const { data, paging } = (await list({})).body
    assert.deepEqual(
      data.map(({ id }: { id: string }) => id),
      [sent[1], sent[0]],
    )
    const next = (await list({ after: paging.cursors.after })).body
    assert.deepEqual(
      next.data.map(({ id, direction }: { id: string; direction: string }) => [id, direction]),
      [[first, 'to_business']],
    )
    assertError(await sides.read(`users/${user}/messages`), numberOrGroup)
  })

  test("a user takes back a message: its content goes, and the business is told the user's digits", async () => {
    const user = sides.newUser()
    const id = (await write(user)).body.message_id
    assert.equal((await sides.show(id)).text.body, 'Hello')
    await sides.act(id, 'delete')
    await sides.act(id, 'delete')
    const [deleted, ...others] = await sides.statusesOf(id)
    assert.deepEqual(others, [])
    assert.deepEqual([deleted.status, deleted.recipient_id, deleted.pricing], ['deleted', user, undefined])
    const shown = await sides.show(id)
    assert.deepEqual([shown.state, shown.content_removed, shown.text], ['deleted', true, undefined])
    const sent = await sides.send(user)
    assertError(
      await sides.act(sent, 'delete'),
      actionNotPossible({
        action: 'delete',
        reason: 'the business sent it',
      }),
    )
    assertError(await sides.act(id, 'read'), actionNotPossible({ action: 'read', reason: 'the user sent it' }))
  })

  test('a press hands in the answer with its context, and implies read', async () => {
    const user = sides.newUser()
    await write(user)
    const context = (id: string) => ({ from: '16315551001', id })
    const ask = (interactive: object) => sides.send(user, { type: 'interactive', interactive })
    const body = { text: 'Which?' }

    const buttons = [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }]
    const button = await ask({ type: 'button', body, action: { buttons } })
    const { message_id } = (await sides.act(button, 'press', { choice: 'yes' })).body
    assert.equal(await sides.namesOf(button), 'sent, delivered, read')
    const answer = (await sides.readDelivered(user)).at(-1)
    assert.deepEqual(
      { ...answer, timestamp: '' },
      {
        from: user,
        id: message_id,
        timestamp: '',
        type: 'interactive',
        interactive: { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes' } },
        context: context(button),
      },
    )
    assertError(await sides.act(button, 'press', { choice: 'no' }), choiceUnknown({ choices: ['yes'] }))
    assertError(await sides.act(await sides.send(user), 'press', { choice: 'yes' }), nothingToAnswer)

    const rows = [
      { id: 'a', title: 'Fern' },
      { id: '7', title: 'Moss' },
    ]
    const list = await ask({ type: 'list', body, action: { button: 'Choose', sections: [{ rows }] } })
    assert.equal((await sides.act(list, 'press', { choice: 7 })).status, 200, 'a choice may be a number')
    await sides.act(list, 'press', { choice: 'a' })
    const list_reply = { id: 'a', title: 'Fern', description: '' }
    assert.deepEqual((await sides.readDelivered(user)).at(-1).interactive, { type: 'list_reply', list_reply })

    const place = await ask({ type: 'location_request_message', body, action: { name: 'send_location' } })
    await sides.act(place, 'press', { data: { latitude: 40.7, longitude: -74 } })
    assert.deepEqual((await sides.readDelivered(user)).at(-1).location, {
      address: '',
      name: '',
      latitude: 40.7,
      longitude: -74,
    })
    assert.equal((await sides.act(place, 'press', { data: { latitude: 'north' } })).status, 400)

    const parameters = { flow_message_version: '3', flow_id: '1', flow_cta: 'Book' }
    const flow = await ask({ type: 'flow', body, action: { name: 'flow', parameters } })
    await sides.act(flow, 'press', { data: { day: 'Monday' } })
    const nfm_reply = { name: 'flow', body: 'Sent', response_json: '{"day":"Monday"}' }
    assert.deepEqual((await sides.readDelivered(user)).at(-1).interactive, { type: 'nfm_reply', nfm_reply })
  })

  test('a call permission request: pending, again 422; after reject again 429; accept grants', async () => {
    const user = sides.newUser()
    await write(user)
    const interactive = { type: 'call_permission_request', action: { name: 'call_permission_request' } }
    const ask = () => sides.post({ to: user, type: 'interactive', interactive })
    const calls = callSides(server)
    const status = async () => (await calls.readPermission(user)).body.permission.status
    const first = (await ask()).body.messages[0].id
    assert.equal(await status(), 'pending')
    const again = await ask()
    assert.deepEqual([again.status, again.body.error.code], [422, 100])
    await sides.act(first, 'press', { choice: 'reject' })
    assert.equal(await status(), 'denied')
    const soon = await ask()
    assert.deepEqual([soon.status, soon.body.error.code], [429, 138009])
    assert.equal(soon.headers.get('retry-after'), '86400')
    server.clock.advance(day)
    await write(user)
    const later = (await ask()).body.messages[0].id
    await sides.act(later, 'press', { choice: 'accept' })
    assert.equal(await status(), 'granted')
    const { call_permission_reply } = (await sides.readDelivered(user)).at(-1).interactive
    assert.deepEqual([call_permission_reply.response, call_permission_reply.response_source], ['accept', 'user_action'])
  })

  test('a token that is limited to accounts sees their users and messages alone', async () => {
    const token = 'gateway-token-of-the-shared-account'
    await server.database.transaction((tx) =>
      insertToken(tx, server.clock, systemRandom, {
        secret: token,
        app_id: ids.application,
        scopes: ['gateway'],
        accounts: [accounts.shared],
        expires_time: null,
      }),
    )
    const user = sides.newUser()
    const { message_id } = (await write(user)).body
    for (const path of [`users/${user}`, `users/${user}/chats`, `messages/${message_id}`]) {
      assert.equal((await server.client.get(`/gateway/${path}`, { token })).status, 404, path)
    }
  })
})
