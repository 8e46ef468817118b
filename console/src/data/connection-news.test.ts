import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNewsOfConnections, isSignUp } from './connection-news.ts'
import { readFeedItem } from './feed-items.ts'

const about = { id: '1', time: '2026-11-18T12:00:00.000Z', business_id: '2', phone_number_id: null, trace: null }
const item = (type: string, data: object, account_id: string | null = '1') =>
  readFeedItem({ ...about, account_id, type, data: { ...data } })
const event = (field: string, value: object | null) => item('event', { event_id: '3', field, value, subject: null })
const request = (door: string, method: string) =>
  item('request', { door, operation: 'tokens.take_back', method, status: 200, milliseconds: 1 }, null)

for (const [what, one, account, isNews] of [
  ['an account that was connected', event('account_update', { event: 'PARTNER_ADDED' }), undefined, true],
  ['a connection that has ended', event('account_update', { event: 'PARTNER_REMOVED' }), '1', true],
  ['a connection of another account', event('account_update', { event: 'PARTNER_ADDED' }), '9', false],
  ['another change of the account', event('account_update', { event: 'VERIFIED_ACCOUNT' }), '1', false],
  ['an event whose value is gone', event('account_update', null), '1', false],
  ['an event of another field', event('messages', { event: 'PARTNER_ADDED' }), '1', false],
  ['a permission that was taken back', request('token', 'DELETE'), '1', true],
  ['a token that asks who it is', request('token', 'GET'), '1', false],
  ['any other request', request('business', 'DELETE'), undefined, false],
] as const) {
  test(`${what} is ${isNews ? '' : 'not '}news of connections`, () =>
    assert.equal(isNewsOfConnections(one, account), isNews))
}

test('what a sign-up created is new, what a connection leaves behind is not', () => {
  const signUps = ['PARTNER_ADDED', 'PARTNER_REMOVED', 'VERIFIED_ACCOUNT'].map((name) =>
    isSignUp(event('account_update', { event: name })),
  )
  assert.deepEqual(signUps, [true, false, false])
})
