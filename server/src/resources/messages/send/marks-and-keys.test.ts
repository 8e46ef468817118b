import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callSides, offer } from '../../../../test/harness/calls.ts'
import { onBothDatabases } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { messageSides } from '../../../../test/harness/messages.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { ids, numbers, tokens } from '../../../../test/harness/world.ts'
import { day, second } from '../../../base/time/duration.ts'
import { callerBlocked } from '../../calls/errors.ts'
import {
  groupEmpty,
  incomingUnknown,
  keyUsedDifferently,
  kindNotForGroups,
  recipientBlocked,
  senderNotRegistered,
} from '../errors.ts'

onBothDatabases('marking as read, blocks, keys and groups', (engine) => {
  const server = useTestServer({ engine, env: { MAX_BLOCKED_USERS: '2' } })
  const sides = messageSides(server)

  test('mark as read: earlier ones of the chat too, later ones not; again: 200', async () => {
    const user = sides.newUser()
    const [first, middle, third] = [await sides.write(user), await sides.write(user), await sides.write(user)]
    const mark = (message_id: string) => sides.post({ status: 'read', message_id })
    for (let times = 0; times < 2; times++) assert.deepEqual((await mark(middle)).body, { success: true })
    const states = []
    for (const id of [first, middle, third]) states.push((await sides.show(id)).state)
    assert.deepEqual(states, ['read', 'read', 'sent'])
    assertError(await mark('wamid.unknown'), incomingUnknown)
    assertError(await mark(await sides.send(user)), incomingUnknown)
    assertError(
      await messageSides(server, numbers.fresh).post({ status: 'read', message_id: first }),
      senderNotRegistered,
    )
  })

  test('the typing indicator lasts for 25 seconds, or until the next message', async () => {
    const user = sides.newUser()
    const message_id = await sides.write(user)
    const typing = async () => (await sides.read(`users/${user}/chats`)).body.data[0].typing_until
    const show = () => sides.post({ status: 'read', message_id, typing_indicator: { type: 'text' } })
    await show()
    assert.equal(await typing(), String(server.clock.now() / 1000 + 25))
    server.clock.advance(25 * second)
    assert.equal(await typing(), undefined)
    await show()
    await sides.send(user)
    assert.equal(await typing(), undefined)
  })

  test('a reply shows what it quotes; an unknown id is dropped', async () => {
    const user = sides.newUser()
    const text = { text: { body: 'Hello' } }
    const quoted = await sides.write(user)
    const elsewhere = await sides.write(sides.newUser())
    const reply = await sides.send(user, { ...text, context: { message_id: quoted } })
    assert.deepEqual((await sides.show(reply)).context, { id: quoted })
    for (const message_id of ['wamid.unknown', elsewhere]) {
      const id = await sides.send(user, { ...text, context: { message_id } })
      assert.equal((await sides.show(id)).context, undefined)
    }
  })

  test('an Idempotency-Key gives the first response again and sends nothing; another body: 422', async () => {
    const to = sides.newUser()
    const post = (body: object, key = 'key-1') =>
      server.client.post(`/v23.0/${numbers.main}/messages`, {
        token: tokens.owner,
        headers: { 'idempotency-key': key },
        json: { messaging_product: 'msgapp', ...body },
      })
    const message = { to, text: { body: 'Hello' } }
    const first = await post(message)
    assert.equal(first.headers.get('idempotency-replayed'), null)
    const again = await post({ text: { body: 'Hello' }, to })
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.deepEqual(again.body, first.body)
    const other = await post({ to, text: { body: 'Bye' } })
    assertError(other, keyUsedDifferently)
    assert.equal(other.body.error.error_data.details, other.body.error.message)
    assert.notDeepEqual((await post(message, 'key-2')).body, first.body)
    assert.equal((await post({ to: 'nobody' }, 'key-3')).status, 400)
    assert.equal((await post(message, 'key-3')).status, 200, 'errors are not kept')
    for (const key of ['x'.repeat(129), 'with blank']) assert.equal((await post(message, key)).status, 400)
    assert.equal((await post(message, 'x'.repeat(128))).status, 200)
    server.clock.advance(day)
    assert.notDeepEqual((await post(message)).body, first.body, 'the key is over')
  })

  test('for an Idempotency-Key the same body is the same JSON value, with every member that came; the key comes in the header alone', async () => {
    const to = sides.newUser()
    const path = `/v23.0/${numbers.main}/messages`
    const message = { messaging_product: 'msgapp', to, text: { body: 'Hello' } }
    const headers = { 'idempotency-key': `value-${to}` }
    const post = (json: object) => server.client.post(path, { token: tokens.owner, headers, json })
    const noted = { ...message, note: { a: 1, b: [2] } }
    const first = await post(noted)
    assert.deepEqual((await post({ note: { b: [2], a: 1 }, ...message })).body, first.body)
    for (const other of [
      message,
      { ...noted, note: { a: 1, b: [3] } },
      { ...noted, text: { body: 'Hello', more: 1 } },
      { ...noted, to: `+${to}` },
      { ...noted, 'idempotency-key': 'x' },
    ]) {
      assertError(await post(other), keyUsedDifferently)
    }
    const form = { messaging_product: 'msgapp', to, text: JSON.stringify(message.text) }
    const formHeaders = { 'idempotency-key': `form-${to}` }
    const postForm = (note: string) =>
      server.client.post(path, { token: tokens.owner, headers: formHeaders, form: { ...form, note } })
    const formed = await postForm('one')
    assert.deepEqual((await postForm('one')).body, formed.body)
    assertError(await postForm('two'), keyUsedDifferently)
    const inQuery = { token: tokens.owner, query: { 'idempotency-key': 'in the query' }, json: message }
    const inBody = { token: tokens.owner, json: { ...message, 'idempotency-key': 'in-the-body' } }
    for (const options of [inQuery, inBody]) {
      const [one, other] = [await server.client.post(path, options), await server.client.post(path, options)]
      assert.deepEqual([one.status, other.status], [200, 200])
      assert.notDeepEqual(one.body, other.body)
    }
  })

  test('two requests of one key at the same moment send one message', async () => {
    const to = sides.newUser()
    const post = () =>
      server.client.post(`/v23.0/${numbers.main}/messages`, {
        token: tokens.owner,
        headers: { 'idempotency-key': `twin-${to}` },
        json: { messaging_product: 'msgapp', to, text: { body: 'Hello' } },
      })
    const answers = await Promise.all(Array.from({ length: 8 }, post))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    const sent = await server.database.read.query
      .selectFrom('messages')
      .select('id')
      .where('user_wa_id', '=', to)
      .execute()
    assert.equal(sent.length, 1)
  })

  test('blocked: only who wrote lately; sending is 422; what the user writes is unheard; a call is 422', async () => {
    const [user, silent] = [sides.newUser(), sides.newUser()]
    const path = `/v23.0/${numbers.main}/block_users`
    const call = (method: 'POST' | 'DELETE', users: string[]) =>
      server.client.callRow(
        server.client.row(method === 'POST' ? 'messages.block_users' : 'messages.unblock_users'),
        path,
        {
          token: tokens.owner,
          json: { messaging_product: 'msgapp', block_users: users.map((one) => ({ user: one })) },
        },
      )
    await sides.write(user)
    const { block_users } = (await call('POST', [`+${user}`, user, silent, '16315551002', 'nobody'])).body
    assert.deepEqual(block_users.added_users, [{ input: `+${user}`, wa_id: user }])
    assert.deepEqual(
      block_users.failed_users.map(({ input, errors }: { input: string; errors: { code: number }[] }) => [
        input,
        errors[0]?.code,
      ]),
      [
        [silent, 131047],
        ['16315551002', 131021],
        ['nobody', 100],
      ],
    )
    assert.deepEqual((await call('POST', [user])).body.block_users.added_users, [{ input: user, wa_id: user }])
    assertError(await sides.post({ to: user, text: { body: 'Hello' } }), recipientBlocked)
    const heard = (await sides.readDelivered(user)).length
    const unheard = await sides.write(user)
    assert.equal((await sides.readDelivered(user)).length, heard)
    assert.equal((await sides.show(unheard)).state, 'sent', 'it is seen in the chat of the user')
    const incoming = { phone_number_id: numbers.main, from: user, session: offer }
    assertError(await callSides(server).gateway('calls', incoming), callerBlocked)

    const more = [sides.newUser(), sides.newUser()]
    for (const one of more) await sides.write(one)
    const full = (await call('POST', more)).body.block_users
    assert.deepEqual([full.added_users.length, full.failed_users[0].errors[0].code], [1, 139101])

    const list = (query: Record<string, string> = {}) =>
      server.client.callRow(server.client.row('messages.list_blocked_users'), path, { token: tokens.owner, query })
    const page = (await list({ limit: '1' })).body
    const rest = (await list({ limit: '1', after: page.paging.cursors.after })).body
    const listed = [...page.data, ...rest.data].map(({ wa_id }: { wa_id: string }) => wa_id)
    assert.deepEqual(listed.toSorted(), [user, more[0]].toSorted())

    assert.equal((await call('DELETE', [user, silent])).body.block_users.removed_users.length, 2)
    assert.equal((await sides.post({ to: user, text: { body: 'Hello' } })).status, 200)
    const crowd = Array.from({ length: 1001 }, (_, index) => String(16_505_580_000 + index))
    assert.equal((await call('POST', crowd)).status, 400)
    assert.equal((await call('POST', crowd.slice(1))).status, 200)
  })

  test('a group: one sent for all, then each participant on its own way', async () => {
    const { invite_link } = (await server.client.get(`/v23.0/${ids.group}/invite_link`, { token: tokens.owner })).body
    const group = { recipient_type: 'group', to: ids.group, text: { body: 'Hello all' } }
    assertError(await sides.post(group), groupEmpty)
    const [one, other, gone] = [sides.newUser(), sides.newUser(), sides.newUser()]
    const otherNumber = '16315551002'
    for (const user_wa_id of [one, other, gone, otherNumber]) {
      await sides.gateway('groups/join', { invite_link, user_wa_id })
    }
    await sides.gateway(`users/${other}`, { presence: 'offline' })
    await sides.gateway(`users/${gone}`, { reachable: false })
    const buttons = [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }]
    const kinds = {
      location: { latitude: 1, longitude: 1 },
      contacts: [{ name: { formatted_name: 'Ada L.', first_name: 'Ada' } }],
      reaction: { message_id: 'x', emoji: '👍' },
      interactive: { type: 'button', body: { text: 'Which?' }, action: { buttons } },
    }
    for (const [type, value] of Object.entries(kinds)) {
      const refused = await sides.post({ ...group, type, [type]: value })
      assert.deepEqual([refused.status, refused.body.error.code], [kindNotForGroups.status, 131051], type)
    }

    const closed = (await sides.post(group)).body
    assert.equal(await sides.namesOf(closed.messages[0].id), 'failed 131047')
    const written = await sides.gateway('messages', {
      group_id: ids.group,
      from: one,
      type: 'text',
      text: { body: 'Hi' },
    })
    assert.equal(written.status, 200, written.text)
    assert.equal((await sides.readDelivered(one)).at(-1).group_id, ids.group)
    const stranger = { group_id: ids.group, from: sides.newUser(), type: 'text', text: { body: 'Hi' } }
    assert.equal((await sides.gateway('messages', stranger)).status, 422)
    assert.equal(await sides.namesOf(await sides.send(one)), 'failed 131047', 'it opens no window of its own chat')

    const answer = (await sides.post(group)).body
    const [{ id }] = answer.messages
    assert.deepEqual(answer.contacts, [{ input: ids.group, wa_id: ids.group }])
    assert.deepEqual(answer.messages, [{ id, group_id: ids.group }])
    const name = async () =>
      (await sides.statusesOf(id)).map(({ status, recipient_participant_id }) => [status, recipient_participant_id])
    assert.deepEqual(await name(), [
      ['sent', undefined],
      ['failed', otherNumber],
      ['delivered', one],
      ['failed', gone],
    ])
    const [sent] = await sides.statusesOf(id)
    assert.deepEqual(
      [sent.recipient_id, sent.recipient_type, sent.group_id, sent.pricing.category, sent.pricing.type],
      [ids.group, 'group', ids.group, 'group_service', 'free_group_customer_service'],
    )
    assert.equal((await sides.act(id, 'read')).status, 400)
    await sides.act(id, 'read', { user_wa_id: one })
    await sides.gateway(`users/${other}`, { presence: 'online' })
    assert.deepEqual((await name()).slice(4), [
      ['read', one],
      ['delivered', other],
    ])
    const shown = await sides.show(id)
    assert.equal(shown.state, 'read')
    assert.deepEqual(
      shown.states.map(({ status, user_wa_id }: { status: string; user_wa_id?: string }) => [status, user_wa_id]),
      [
        ['sent', undefined],
        ['failed', otherNumber],
        ['delivered', one],
        ['read', one],
        ['delivered', other],
        ['failed', gone],
      ],
    )
    assertError(await sides.post({ status: 'read', message_id: written.body.message_id }), incomingUnknown)
  })
})
