import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callSides, offer } from '../../../test/harness/calls.ts'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { png } from '../../../test/harness/media-files.ts'
import { carousel, publicSides, quickReplies, shopButton, shortBody } from '../../../test/harness/public-messages.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { numbers } from '../../../test/harness/world.ts'
import { minute } from '../../base/time/duration.ts'
import { argumentMissing, argumentWrong, keyUnknown, notFound } from '../../graph/errors.ts'
import { callButtonExpired, noCallButton } from '../calls/errors.ts'
import { callInstead, choiceUnknown, nothingToAnswer } from './errors.ts'

onOneDatabase('answers to interactive messages of the public platform', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })
  const sides = publicSides(server)
  const calls = callSides(server)

  /** What the webhook of the answer says. */
  async function answerOf(user: string, message: string, press: object) {
    const pressed = await sides.act(message, 'press', press)
    assert.equal(pressed.status, 200, pressed.text)
    const {
      id,
      from,
      from_user_id: _user,
      timestamp: _timestamp,
      context,
      ...answer
    } = (await sides.readDelivered(user)).at(-1)
    assert.equal(id, pressed.body.message_id)
    assert.deepEqual([from, context.id], [user, message])
    return answer
  }

  const request = (parameters: object) => ({
    type: 'address_message',
    body: shortBody,
    action: { name: 'address_message', parameters },
  })

  test('a quick reply of a card comes back as a button reply, and a page of a shop as nothing', async () => {
    const user = await sides.meetUser()
    const header = { type: 'image', image: { id: await sides.upload(png, 'image/png') } }
    const actions = [quickReplies(['learn-aloe', 'Learn more']), quickReplies(['learn-fern', 'Learn more'])]
    const message = await sides.send(user, carousel(actions.map((action) => ({ header, action }))))
    assert.deepEqual(await answerOf(user, message, { choice: 'learn-fern' }), {
      type: 'interactive',
      interactive: { type: 'button_reply', button_reply: { id: 'learn-fern', title: 'Learn more' } },
    })
    const unknown = await sides.act(message, 'press', { choice: 'learn-more' })
    assertError(unknown, choiceUnknown({ choices: ['learn-aloe', 'learn-fern'] }))
    const shop = await sides.send(user, carousel([0, 1].map(() => ({ header, action: shopButton }))))
    assertError(await sides.act(shop, 'press', { choice: 'Buy now' }), nothingToAnswer())
  })

  test('an address that a user fills in comes back as the reply of a form', async () => {
    const user = await sides.meetUser()
    const message = await sides.send(user, request({ country: 'IN' }))
    const values = {
      name: 'Ada',
      phone_number: '+91 98765 43210',
      in_pin_code: '411001',
      house_number: '12',
      address: 'MG Road',
      city: 'Pune',
    }
    assert.deepEqual(await answerOf(user, message, { data: { values } }), {
      type: 'interactive',
      interactive: {
        type: 'nfm_reply',
        nfm_reply: {
          name: 'address_message',
          body: '411001\n12\nMG Road\nPune',
          response_json: JSON.stringify({ values }),
        },
      },
    })
    for (const [data, problem] of [
      [{}, argumentMissing('data.values', { expected: 'the fields of an address' })],
      [{ values: {} }, argumentWrong('data.values', { expected: 'an address with at least one field' })],
      [{ values: { sg_post_code: '123456' } }, like(keyUnknown, { argument: 'data.values.sg_post_code' })],
      [{ values: { in_pin_code: '41100' } }, argumentWrong('data.values.in_pin_code', { expected: '6 digits' })],
      [{ values: { in_pin_code: '4110011' } }, argumentWrong('data.values.in_pin_code', { expected: '6 digits' })],
      [{ values: { phone_number: 'mine' } }, like(argumentWrong, { argument: 'data.values.phone_number' })],
      [{ values: { city: 'x'.repeat(257) } }, like(argumentWrong, { argument: 'data.values.city' })],
      [{ saved_address_id: 'home' }, choiceUnknown({ choices: 'none' })],
    ] as const) {
      assertError(await sides.act(message, 'press', { data }), problem)
    }
  })

  test('an address that the business knows is answered by its id, as long as the content is kept', async () => {
    const user = await sides.meetUser()
    const home = { name: 'Ada', sg_post_code: '238801', address: '1 Orchard Road' }
    const message = await sides.send(user, request({ country: 'SG', saved_addresses: [{ id: 'home', value: home }] }))
    const { interactive } = await answerOf(user, message, { data: { saved_address_id: 'home' } })
    assert.equal(interactive.nfm_reply.body, '238801\n1 Orchard Road')
    assert.deepEqual(JSON.parse(interactive.nfm_reply.response_json), { saved_address_id: 'home', values: home })
    const unknown = await sides.act(message, 'press', { data: { saved_address_id: 'work' } })
    assertError(unknown, choiceUnknown({ choices: ['home'] }))
    const { query } = server.database.read
    const row = await query.selectFrom('messages').select('choices').where('id', '=', message).executeTakeFirstOrThrow()
    assert.ok(!JSON.stringify(row.choices).includes('Orchard'), 'what outlives the content has no address')
    await server.database.transaction((tx) =>
      tx.query.deleteFrom('message_contents').where('message_id', '=', message).execute(),
    )
    const late = await sides.act(message, 'press', { data: { saved_address_id: 'home' } })
    assertError(late, like(argumentMissing, { argument: 'data.values' }))
  })

  test("a user's contact comes back as contacts that reply to the request", async () => {
    const user = await sides.meetUser()
    const action = { name: 'request_contact_info' }
    const message = await sides.send(user, { type: 'request_contact_info', body: shortBody, action })
    assert.deepEqual(await answerOf(user, message, {}), {
      type: 'contacts',
      contacts: [
        {
          name: { formatted_name: 'Ada', first_name: 'Ada' },
          phones: [{ phone: `+${user}`, wa_id: user, type: 'CELL' }],
        },
      ],
    })
    const other = { name: { formatted_name: 'Ada Lovelace' }, phones: [{ phone: '+1 650 555 0100' }] }
    assert.deepEqual((await answerOf(user, message, { data: other })).contacts, [other])
    const wrong = await sides.act(message, 'press', { data: { name: 'Ada' } })
    assertError(wrong, like(argumentWrong, { argument: 'contacts[0].name' }))
  })

  test('a button that calls hands its payload on to the call, until it expires', async () => {
    const user = await sides.meetUser()
    const parameters = { display_text: 'Call us', ttl_minutes: 5, payload: 'support' }
    const invitation = { type: 'voice_call', body: shortBody, action: { name: 'voice_call', parameters } }
    const message_id = await sides.send(user, invitation)
    const start = (rest: object = {}) =>
      sides.gateway('calls', { phone_number_id: numbers.main, from: user, session: offer, message_id, ...rest })
    assertError(await sides.act(message_id, 'press'), callInstead())
    const made = await start()
    assert.equal(made.status, 200, made.text)
    await calls.user(made.body.call_id, 'terminate')
    const events = (await calls.eventsOf(made.body.call_id)).flatMap((event) => event.calls)
    assert.deepEqual(
      events.map(({ event, cta_payload, session }) => [event, cta_payload, session]),
      [
        ['connect', 'support', offer],
        ['terminate', 'support', undefined],
      ],
    )
    const text = await sides.gateway('messages', {
      phone_number_id: numbers.main,
      from: user,
      type: 'text',
      text: { body: 'x' },
    })
    assertError(await start({ message_id: text.body.message_id }), noCallButton())
    assertError(await start({ message_id: 'wamid.unknown' }), notFound())
    assertError(await start({ from: await sides.meetUser() }), notFound())
    server.clock.advance(5 * minute - 1)
    await calls.user((await start()).body.call_id, 'terminate')
    server.clock.advance(1)
    assertError(await start(), callButtonExpired())
    assert.equal((await start({ message_id: undefined })).status, 200)
  })

  test('a reply of a form that the phone writes itself reaches the business as it is', async () => {
    const user = await sides.meetUser()
    const message = await sides.send(user, request({ country: 'IN' }))
    const nfm_reply = { name: 'address_message', body: 'Pune', response_json: '{"values":{"city":"Pune"}}' }
    const interactive = { type: 'nfm_reply', nfm_reply }
    const written = {
      phone_number_id: numbers.main,
      from: user,
      type: 'interactive',
      interactive,
      context: { id: message },
    }
    assert.equal((await sides.gateway('messages', written)).status, 200)
    assert.deepEqual((await sides.readDelivered(user)).at(-1).interactive, interactive)
    const bare = { ...written, interactive: { type: 'nfm_reply', nfm_reply: { name: 'address_message' } } }
    assert.equal((await sides.gateway('messages', bare)).status, 400)
  })
})
