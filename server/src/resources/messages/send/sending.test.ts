import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { messageSides } from '../../../../test/harness/messages.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { numbers, strangerIds, testWorld, tokens } from '../../../../test/harness/world.ts'
import { day, second } from '../../../base/time/duration.ts'
import { messageLimitReached, pairLimitReached } from '../../../limits/errors.ts'
import { templateNotSendable } from '../../templates/sending/sending-errors.ts'
import {
  accountRejected,
  groupUnknown,
  kindNotTaken,
  recipientIsSender,
  recipientNotPossible,
  senderNotRegistered,
  senderRestricted,
  statusNotTaken,
} from '../errors.ts'
import { sentKinds } from './request.ts'

const rejected = { account: '1000000000000005', number: '4000000000000005' }
const restricted = '4000000000000007'

/** The world of the tests with numbers that cannot send. */
function worldWithRefused() {
  const world = testWorld()
  return {
    ...world,
    accounts: [
      ...world.accounts,
      {
        id: rejected.account,
        business_id: '2000000000000001',
        name: 'Rejected Shrub',
        account_review_status: 'REJECTED',
        phone_numbers: [
          { id: rejected.number, display_phone_number: '+1 631-555-1005', registered: true },
          {
            id: restricted,
            display_phone_number: '+1 631-555-1007',
            registered: true,
            connection_status: 'RESTRICTED',
          },
        ],
      },
    ],
  }
}

onBothDatabases('sending', (engine) => {
  const server = useTestServer({ engine, world: worldWithRefused() })
  const sides = messageSides(server)

  test('a text in an open window: 200, then sent and delivered with the same conversation, in order', async () => {
    const user = sides.newUser()
    await sides.write(user)
    const input = `+${user.slice(0, 1)} (${user.slice(1, 4)}) ${user.slice(4, 7)}-${user.slice(7)}`
    const answer = await sides.post({ to: input, text: { body: 'Hello' }, biz_opaque_callback_data: 'order-1' })
    assert.equal(answer.status, 200, answer.text)
    const [{ id }] = answer.body.messages
    assert.match(id, /^wamid\.[\w-]{24}$/)
    assert.deepEqual(answer.body, {
      messaging_product: 'msgapp',
      contacts: [{ input, wa_id: user }],
      messages: [{ id }],
    })
    const [sent, delivered, ...others] = await sides.statusesOf(id)
    assert.deepEqual(others, [])
    const timestamp = String(server.clock.now() / 1000)
    const pricing = { billable: false, pricing_model: 'PMP', category: 'service', type: 'free_customer_service' }
    const common = { id, timestamp, recipient_id: user, pricing, biz_opaque_callback_data: 'order-1' }
    assert.deepEqual(sent, {
      ...common,
      status: 'sent',
      conversation: {
        id: sent.conversation.id,
        expiration_timestamp: String(server.clock.now() / 1000 + 86_400),
        origin: { type: 'service' },
      },
    })
    assert.deepEqual(delivered, {
      ...common,
      status: 'delivered',
      conversation: { id: sent.conversation.id, origin: { type: 'service' } },
    })
    const event = (await sides.readEvents()).find(({ statuses }) => statuses?.[0].id === id)
    assert.deepEqual(event.contacts, [{ profile: { name: 'Ada' }, wa_id: user }])
    assert.deepEqual(event.metadata, { display_phone_number: '16315551001', phone_number_id: numbers.main })
  })

  test('a conversation lasts for 24 hours from its first message, and then another begins', async () => {
    const user = sides.newUser()
    const conversationOf = async (id: string) => (await sides.statusesOf(id))[0].conversation.id
    await sides.write(user)
    const first = await conversationOf(await sides.send(user))
    server.clock.advance(day - second)
    await sides.write(user)
    assert.equal(await conversationOf(await sides.send(user)), first)
    server.clock.advance(second)
    assert.notEqual(await conversationOf(await sides.send(user)), first)
  })

  test('the window is open for 24 hours less a moment after what the user wrote, and then a text fails', async () => {
    const user = sides.newUser()
    assert.equal(await sides.namesOf(await sides.send(user)), 'failed 131047')
    await sides.write(user)
    server.clock.advance(day - second)
    assert.equal(await sides.namesOf(await sides.send(user)), 'sent, delivered')
    server.clock.advance(second)
    const id = await sides.send(user)
    const [failed, ...others] = await sides.statusesOf(id)
    assert.deepEqual(others, [])
    assert.deepEqual(
      [failed.status, failed.errors[0].code, failed.errors[0].href, failed.pricing],
      ['failed', 131047, `${server.url}/docs`, undefined],
    )
  })

  test('400 for a recipient who cannot exist', async () => {
    for (const to of ['', '12', 'abc', '+', '16505551234x', '1'.repeat(30)]) {
      const answer = await sides.post({ to, text: { body: 'Hello' } })
      assertError(answer, recipientNotPossible)
      assert.deepEqual(answer.body.error.error_data, {
        messaging_product: 'msgapp',
        details: answer.body.error.message,
      })
    }
  })

  test('400 for a kind that is unknown or out of scope, after what is malformed', async () => {
    const to = sides.newUser()
    for (const given of ['poem', 'pin', 'order', 'system', 'button']) {
      assertError(await sides.post({ to, type: given }), kindNotTaken({ known: sentKinds }))
    }
    assertError(await sides.post({ to: 'nobody', type: 'poem' }), recipientNotPossible)
  })

  test('400 for what is not offered, and for a status that is not read', async () => {
    const message = { to: sides.newUser(), text: { body: 'Hello' } }
    for (const name of ['recipient', 'recipient_identity_key_hash', 'category', 'ttl_seconds']) {
      const answer = await sides.post({ ...message, [name]: 'x' })
      assert.deepEqual([answer.status, answer.body.error.message], [400, `${name}: it is not offered; leave it out.`])
    }
    assertError(await sides.post({ status: 'delivered', message_id: 'x' }), statusNotTaken)
  })

  test('a message is refused at once for the state of the number, and nothing is stored', async () => {
    const to = sides.newUser()
    const text = { to, text: { body: 'Hello' } }
    assertError(await messageSides(server, numbers.fresh).post(text), senderNotRegistered)
    assertError(await messageSides(server, restricted).post(text), senderRestricted)
    assertError(await messageSides(server, rejected.number).post(text), accountRejected)
    assertError(await sides.post({ ...text, to: '+1 631-555-1001' }), recipientIsSender)
    const template = { name: 'no_such', language: { code: 'en_US' } }
    assertError(await sides.post({ to, type: 'template', template }), templateNotSendable)
    const chats = await server.database.read.query
      .selectFrom('chats')
      .selectAll()
      .where('user_wa_id', '=', to)
      .execute()
    assert.deepEqual(chats, [])
  })

  test('a message fails later for another number of the platform', async () => {
    assert.equal(await sides.namesOf(await sides.send('16315551002')), 'failed 131026')
  })

  test('sending: 404 on the number of another tenant, 422 for its group', async () => {
    const text = { text: { body: 'Hello' } }
    assert.equal(
      (await messageSides(server, strangerIds.phone_number).post({ to: '16505551234', ...text })).status,
      404,
    )
    const group = { recipient_type: 'group', to: strangerIds.group, ...text }
    assertError(await sides.post(group), groupUnknown)
  })

  test('sending: 403 without the permission for messaging', async () => {
    const answer = await sides.post(
      { to: sides.newUser(), text: { body: 'x' } },
      { token: tokens.managementOnly, json: {} },
    )
    assert.equal(answer.status, 403)
    assert.equal(answer.body.error.error_data.details, answer.body.error.message)
  })

  test('a reaction is sent and nothing else; to an unknown message or a reaction it fails', async () => {
    const user = sides.newUser()
    const message_id = await sides.write(user)
    const react = (id: string, emoji = '👍') =>
      sides.send(user, { type: 'reaction', reaction: { message_id: id, emoji } })
    const reaction = await react(message_id)
    assert.equal(await sides.namesOf(reaction), 'sent')
    assert.equal(await sides.namesOf(await react(message_id, '')), 'sent')
    assert.equal(await sides.namesOf(await react(reaction)), 'failed 131009')
    assert.equal(await sides.namesOf(await react('wamid.unknown')), 'failed 131009')
    const other = sides.newUser()
    assert.equal(await sides.namesOf(await react(await sides.write(other))), 'failed 131009', 'of another chat')
  })
})

onBothDatabases('limits of sending', (engine) => {
  const limited = useTestServer({
    engine,
    env: { RATE_LIMITS: 'on', RATE_LIMIT_MESSAGES: '80/1s', RATE_LIMIT_PLATFORM: '10/1h' },
  })

  test('the 46th message to one user: 429, 131056; another user goes on, and one more after 6 seconds', async () => {
    const sides = messageSides(limited)
    const user = sides.newUser()
    for (let sent = 0; sent < 45; sent++) await sides.send(user)
    const refused = await sides.post({ to: user, text: { body: 'Hello' } })
    assertError(refused, pairLimitReached({ count: 45, interval: 6, seconds: 6 }))
    assert.equal(refused.headers.get('retry-after'), '6')
    await sides.send(sides.newUser())
    limited.clock.advance(6 * second - 1)
    assert.equal((await sides.post({ to: user, text: { body: 'Hello' } })).status, 429)
    limited.clock.advance(1)
    await sides.send(user)
    assert.equal((await sides.post({ to: user, text: { body: 'Hello' } })).status, 429)
  })

  test('the 81st request in a second: 429, 130429, before anything is read; platform does not count them', async () => {
    limited.clock.advance(day)
    const sides = messageSides(limited)
    for (let sent = 0; sent < 80; sent++) await sides.send(sides.newUser())
    const refused = await sides.post({ to: 'nobody' })
    assert.equal(refused.status, 429)
    assert.equal(refused.body.error.code, messageLimitReached.code)
    assert.equal(refused.headers.get('retry-after'), '1')
    limited.clock.advance(second)
    await sides.send(sides.newUser())
  })
})
