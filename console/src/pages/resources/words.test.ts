import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listKindOptions, nameKind, nameKinds } from './kinds.ts'
import { listFacts, nameMember, nameValue, writeSize } from './words.ts'

test('kinds of objects have the names that people use', () => {
  assert.deepEqual(['application', 'phone_number', 'business', 'media'].map(nameKind), [
    'app',
    'phone number',
    'business',
    'media file',
  ])
  assert.deepEqual(['application', 'phone_number', 'business', 'media'].map(nameKinds), [
    'Apps',
    'Phone numbers',
    'Businesses',
    'Media files',
  ])
})

test('kinds to choose from have a number only when it is known', () => {
  const write = (counts: Record<string, number> | undefined, chosen: string) =>
    listKindOptions(counts, chosen).map(({ text }) => text)
  assert.deepEqual(write(undefined, ''), [])
  assert.deepEqual(write(undefined, 'template'), ['Templates'])
  assert.deepEqual(write({ media: 0, account: 2, thing: 1 }, 'template'), [
    'Accounts (2)',
    'Templates (0)',
    'Things (1)',
  ])
})

test('members and values of objects in words', () => {
  const members = ['account_review_status', 'messaging_limit_tier', 'id', 'msgapp_business_account_id']
  assert.deepEqual(members.map(nameMember), ['Account review status', 'Messaging limit', 'ID', 'Account ID'])
  const values = ['TIER_1K', 'NAME_PENDING_REVIEW', 'GREEN', 'US', '+1 631-555-1001', 'hello_world', 'en_US']
  assert.deepEqual(values.map(nameValue), [
    '1,000 users in 24 hours',
    'Name pending review',
    'High',
    'US',
    '+1 631-555-1001',
    'hello_world',
    'en_US',
  ])
})

test('the facts of an object: what people wrote stays, what is empty or nested is left out', () => {
  const object = {
    id: '4000000000000001',
    name: 'SPRING SALE',
    status: 'CONNECTED',
    is_official_business_account: true,
    description: '',
    websites: ['https://a.example', 'https://b.example'],
    quality_score: { score: 'GREEN' },
    commands: [
      { command_name: 'hours', command_description: 'When we are open' },
      { command_name: 'order', command_description: '' },
    ],
    message_send_ttl_seconds: 2_592_000,
    created_time: '2026-11-18T03:16:37.367Z',
    file_size: 12_345,
    nothing: null,
  }
  assert.deepEqual(listFacts(object, ['id']), [
    { name: 'Name', value: 'SPRING SALE' },
    { name: 'Status', value: 'Connected' },
    { name: 'Official business account', value: 'Yes' },
    { name: 'Websites', value: 'https://a.example, https://b.example' },
    { name: 'Commands', value: 'hours – When we are open\norder' },
    { name: 'Delivered within', value: '30 days' },
    { name: 'Created', value: '2026-11-18T03:16:37.367Z', isTime: true },
    { name: 'Size', value: '12.3 kB' },
  ])
})

test('durations are written in the largest unit that divides them', () => {
  const seconds = [86_400, 2_592_000, 3600, 600, 60, 90, 1]
  const written = seconds.map((expires_in_seconds) => listFacts({ expires_in_seconds })[0]?.value)
  assert.deepEqual(written, ['1 day', '30 days', '1 hour', '10 minutes', '1 minute', '90 seconds', '1 second'])
})

test('sizes are written in the largest unit', () => {
  assert.deepEqual([0, 999, 1000, 2_500_000].map(writeSize), ['0 bytes', '999 bytes', '1.0 kB', '2.5 MB'])
})
