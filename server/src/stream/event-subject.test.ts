import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptiedValue } from '../db/emptied-value.ts'
import { describeStoredSubject, describeSubject } from './event-subject.ts'

const user = '16505551234'
const template = { message_template_name: 'order_update', message_template_language: 'en_US' }

const table: [field: string, value: unknown, subject: string | null][] = [
  ['messages', { messages: [{ from: user, type: 'text', text: { body: 'My secret' } }] }, 'text from +16505551234'],
  ['messages', { messages: [{ from: user, type: 'image', group_id: 'g1' }] }, 'image from +16505551234 in a group'],
  [
    'messages',
    { messages: [{ from: user, type: 'interactive', interactive: { type: 'list_reply' } }] },
    'list reply from +16505551234',
  ],
  [
    'messages',
    {
      messages: [
        { from: user, type: 'text' },
        { from: user, type: 'text' },
        { from: user, type: 'image' },
      ],
    },
    'text from +16505551234 and 2 more',
  ],
  ['messages', { statuses: [{ status: 'delivered', recipient_id: user }] }, 'status delivered to +16505551234'],
  [
    'messages',
    {
      statuses: [{ status: 'failed', recipient_id: user, errors: [{ code: 131047, title: 'Re-engagement message' }] }],
    },
    'status failed (131047) to +16505551234',
  ],
  [
    'messages',
    { statuses: [{ status: 'read', recipient_type: 'group', recipient_id: 'g1' }] },
    'status read to a group',
  ],
  [
    'messages',
    { statuses: [{ status: 'read', recipient_type: 'group', recipient_id: 'g1', recipient_participant_id: user }] },
    'status read to +16505551234',
  ],
  [
    'calls',
    { calls: [{ event: 'connect', direction: 'USER_INITIATED', from: user, to: '1' }] },
    'call connect from +16505551234',
  ],
  [
    'calls',
    { calls: [{ event: 'terminate', status: 'COMPLETED', direction: 'BUSINESS_INITIATED', from: '1', to: user }] },
    'call terminate (completed) to +16505551234',
  ],
  ['calls', { statuses: [{ type: 'call', status: 'RINGING', recipient_id: user }] }, 'call ringing by +16505551234'],
  ['group_lifecycle_update', { groups: [{ type: 'group_create', subject: 'My secret' }] }, 'group create'],
  ['group_lifecycle_update', { groups: [{ type: 'group_create', errors: [{ code: 1 }] }] }, 'group create failed'],
  [
    'group_participants_update',
    { groups: [{ type: 'group_join_request_created', wa_id: user }] },
    'group join request created by +16505551234',
  ],
  ['message_template_status_update', { event: 'APPROVED', ...template }, 'template order_update (en_US) approved'],
  [
    'message_template_quality_update',
    { previous_quality_score: 'GREEN', new_quality_score: 'RED', ...template },
    'template order_update (en_US) quality score green to red',
  ],
  [
    'template_category_update',
    { previous_category: 'UTILITY', new_category: 'MARKETING', ...template },
    'template order_update (en_US) category utility to marketing',
  ],
  [
    'user_preferences',
    { user_preferences: [{ wa_id: user, category: 'marketing_messages', value: 'stop', detail: 'My secret' }] },
    'marketing messages: stop by +16505551234',
  ],
  ['account_update', { event: 'VERIFIED_ACCOUNT' }, 'account update: VERIFIED_ACCOUNT'],
  [
    'account_update',
    { event: 'PARTNER_ADDED', waba_info: { waba_id: '1000000000000001', owner_business_id: '2000000000000001' } },
    'account 1000000000000001 connected to the app',
  ],
  ['account_update', { event: 'PARTNER_REMOVED', waba_info: null }, 'account disconnected from the app'],
  ['other_update', { event: 'PARTNER_REMOVED' }, 'other update: PARTNER_REMOVED'],
  ['phone_number_name_update', { decision: 'APPROVED' }, 'phone number name update: APPROVED'],
  // Inbound events may hold anything: what has another form is not repeated.
  ['account_update', { event: 'My secret' }, null],
  ['messages', { messages: [{ from: 'My secret', type: 'My secret' }] }, 'message from a user'],
  ['messages', { statuses: 'x', messages: [null, 7] }, null],
  ['messages', null, null],
  ['unheard_of', {}, null],
]
for (const [field, value, subject] of table) {
  test(`the subject of ${field} ${JSON.stringify(value)?.slice(0, 120)} is ${subject}`, () => {
    assert.equal(describeSubject(field, value), subject)
    assert.equal(describeStoredSubject(field, JSON.stringify(value)), subject)
  })
}

test('an event whose content was removed, or is not read, has no subject', () => {
  assert.deepEqual(
    [describeStoredSubject('messages', emptiedValue), describeStoredSubject('messages', null)],
    [null, null],
  )
})
