import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/harness/properties.ts'
import { describeEvents } from './event-lines.ts'

const metadata = { display_phone_number: '16315551001', phone_number_id: '4' }
const inBody = (field: string, value: object) => ({ object: 'x', entry: [{ id: '1', changes: [{ field, value }] }] })

for (const [name, field, value, summary] of [
  [
    'a message with its sender and words',
    'messages',
    {
      metadata,
      contacts: [{ profile: { name: 'Ada' } }],
      messages: [{ type: 'text', from: '16505551234', id: 'wamid.1', text: { body: 'Hi' } }],
    },
    'text from 16505551234 (Ada) “Hi” wamid.1',
  ],
  [
    'a call with its id',
    'calls',
    { metadata, calls: [{ id: 'wacid.1', event: 'connect', from: '1650', to: '1631' }] },
    'connect from 1650 to 1631, call wacid.1',
  ],
  [
    'the state of a call',
    'calls',
    { metadata, statuses: [{ id: 'wacid.1', type: 'call', status: 'RINGING', recipient_id: '1650' }] },
    'call wacid.1 RINGING for 1650',
  ],
  [
    'who joined a group',
    'group_participants_update',
    { metadata, groups: [{ type: 'group_participants_add', group_id: '6', added_participants: [{ wa_id: '1650' }] }] },
    'group_participants_add 6 1650',
  ],
  [
    'an account that was connected',
    'account_update',
    { event: 'PARTNER_ADDED', waba_info: { waba_id: '1', owner_business_id: '2' } },
    'PARTNER_ADDED account 1 of business 2',
  ],
  ['what it does not know, by its members', 'account_update', { metadata, event: 'X' }, 'with metadata, event'],
] as const) {
  test(`a line of listen describes ${name}`, () => {
    const number = 'metadata' in value ? '4' : '-'
    assert.deepEqual(describeEvents(inBody(field, value)), [{ field, account: '1', number, summary }])
  })
}

test('a text cannot steer the terminal, and is cut', () => {
  const body = `\u001b[2J\u009b1m\r\n\u202e${'x'.repeat(200)}`
  const [line] = describeEvents(
    inBody('messages', { messages: [{ type: 'text', from: '1', id: 'a\u0007', text: { body } }] }),
  )
  assert.match(line?.summary ?? '', /^text from 1 “[^\p{Cc}\p{Cf}]{79}…” a $/u)
})

test('any JSON is reported, never thrown at', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const body of [value, { entry: value }, { entry: [value] }, { entry: [{ changes: [value] }] }]) {
        for (const { summary } of describeEvents(body)) assert.equal(typeof summary, 'string')
      }
    }),
  )
})
