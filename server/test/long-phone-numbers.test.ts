import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleOffer } from '../src/resources/calls/examples.ts'
import { readWorld } from '../src/world/read.ts'
import { onOneDatabase } from './harness/databases.ts'
import { assertArgument } from './harness/errors.ts'
import { useTestServer } from './harness/server.ts'
import { ids, numbers, tokens } from './harness/world.ts'

const business = (path: string) => ({ path: `/v23.0/${path}`, token: tokens.owner })
const gateway = (path: string) => ({ path: `/gateway/${path}`, token: tokens.gateway })
const product = { messaging_product: 'msgapp' }
const contact = (member: string, phone_number: string) => ({
  ...product,
  entity_name: 'Lucky Shrub',
  entity_type: 'PARTNERSHIP',
  grievance_officer_details: { name: 'Chandra P.', email: 'officer@luckyshrub.example' },
  customer_care_details: { email: 'care@luckyshrub.example', [member]: phone_number },
})

/** Every place of the API that takes a phone number: what is sent there, and the argument that its refusal names. */
const places: Record<string, { at: { path: string; token: string }; json: (number: string) => object; names: string }> =
  {
    'a new number': {
      at: business(`${ids.account}/phone_numbers`),
      json: (phone_number) => ({ phone_number, verified_name: 'Shrub' }),
      names: 'phone_number',
    },
    'the recipient of a message': {
      at: business(`${numbers.main}/messages`),
      json: (to) => ({ ...product, to, text: { body: 'Hello' } }),
      names: 'to',
    },
    'the user of a call': {
      at: business(`${numbers.main}/calls`),
      json: (to) => ({ ...product, to, action: 'connect' }),
      names: 'to',
    },
    'a mobile number': {
      at: business(`${numbers.main}/business_compliance_info`),
      json: (number) => contact('mobile_number', number),
      names: 'customer_care_details.mobile_number',
    },
    'a landline number': {
      at: business(`${numbers.main}/business_compliance_info`),
      json: (number) => contact('landline_number', number),
      names: 'customer_care_details.landline_number',
    },
    'the button of a template': {
      at: business(`${ids.account}/message_templates`),
      json: (phone_number) => ({
        name: 'call_us',
        language: 'en_US',
        category: 'UTILITY',
        components: [
          { type: 'BODY', text: 'Hello' },
          { type: 'BUTTONS', buttons: [{ type: 'PHONE_NUMBER', text: 'Call', phone_number }] },
        ],
      }),
      names: 'components[1].buttons[0].phone_number',
    },
    'the sender of a message': {
      at: gateway('messages'),
      json: (from) => ({ phone_number_id: numbers.main, from, type: 'text', text: { body: 'Hello' } }),
      names: 'from',
    },
    'a user to block': {
      at: business(`${numbers.main}/block_users`),
      json: (user) => ({ ...product, block_users: [{ user }] }),
      names: 'block_users[0].user',
    },
    'the user who calls': {
      at: gateway('calls'),
      json: (from) => ({ phone_number_id: numbers.main, from, session: { sdp_type: 'offer', sdp: exampleOffer } }),
      names: 'from',
    },
  }

/** Beyond the limit of every place. Without its blanks the first is a right number, so only its length can be wrong. */
const tooLong = [`+1 631-555-${' '.repeat(1000)}2001`, '1'.repeat(100_000), `+${'1 '.repeat(50_000)}`]

onOneDatabase('a phone number without end', 'sqlite', (engine) => {
  const server = useTestServer({ engine })

  for (const [place, { at, json, names }] of Object.entries(places)) {
    test(`a phone number without end is refused as ${place}, with the name of its argument`, async () => {
      for (const number of tooLong) {
        const answer = await server.client.post(at.path, { token: at.token, json: json(number) })
        assertArgument(answer, names)
      }
    })
  }
})

test('a phone number without end is refused in a world file, with its place', () => {
  for (const display_phone_number of tooLong) {
    const phone_numbers = [{ id: '4000000000000050', display_phone_number }]
    const accounts = [{ id: '1000000000000050', business_id: ids.business, name: 'Shrub', phone_numbers }]
    assert.throws(
      () => readWorld(JSON.stringify({ accounts }), 'w'),
      /^Error: w: accounts\[0\]\.phone_numbers\[0\]\.display_phone_number: it must be a phone number in international format/,
    )
  }
})
