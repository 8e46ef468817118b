import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ItemOf, readFeedItem } from '../../data/feed-items.ts'
import { findAddress, fitsFilter, readFilter, userOf } from './filter.ts'

const addresses = [
  ['', {}],
  ['state=failing&app=3', { state: 'failing', app_id: '3' }],
  ['state=lost&app=', {}],
  ['number=4&field=messages&trace=abc', { phone_number_id: '4', field: 'messages', trace: 'abc' }],
  ['user=%2B1+650-555+1234', { user_wa_id: '16505551234' }],
  ['user=Ada', {}],
] as const

for (const [address, filter] of addresses) {
  test(`the address ?${address} filters webhooks`, () => {
    assert.deepEqual(readFilter(new URLSearchParams(address), {}), filter)
  })
}

test('the range of time is a part of the filter', () => {
  const range = { since: '2026-11-18T11:00:00.000Z', until: '2026-11-18T12:00:00.000Z' }
  assert.deepEqual(readFilter(new URLSearchParams('state=failed'), range), { state: 'failed', ...range })
})

const item = readFeedItem({
  ...{ id: 'delivery-7-waiting-0', type: 'delivery', time: '2026-11-18T12:00:00.000Z' },
  ...{ business_id: null, account_id: '1', phone_number_id: '4', trace: 't' },
  data: {
    ...{ delivery_id: '7', event_id: '6', app_id: '3', field: 'messages', callback_url: 'http://127.0.0.1/' },
    ...{ subject: 'text from +16505551234', state: 'waiting', attempts: 0 },
  },
}) as ItemOf<'delivery'>

const fits = [
  [{}, true],
  [{ state: 'waiting', app_id: '3', phone_number_id: '4', field: 'messages', trace: 't' }, true],
  [{ state: 'failing' }, true],
  [{ state: 'delivered' }, false],
  [{ app_id: '9' }, false],
  [{ phone_number_id: '9' }, false],
  [{ field: 'calls' }, false],
  [{ trace: 'other' }, false],
  [{ user_wa_id: '16505551234' }, true],
  [{ user_wa_id: '16505550000' }, false],
  [{ until: '2026-11-18T12:00:00.000Z' }, false],
] as const

for (const [filter, isFitting] of fits) {
  test(`a new webhook ${isFitting ? 'belongs' : 'does not belong'} to the list of ${JSON.stringify(filter)}`, () => {
    assert.equal(fitsFilter(item, filter), isFitting)
  })
}

test('an id of a webhook leads to its page, anything else to the search', () => {
  const found = ['4711', ' 4711 ', 'wamid.A/B=', '', 'f285b4d33e55944e526896a57b7d0d70'].map(findAddress)
  const searches = ['wamid.A%2FB%3D', 'f285b4d33e55944e526896a57b7d0d70'].map((text) => `/search?q=${text}`)
  assert.deepEqual(found, ['/deliveries/4711', '/deliveries/4711', searches[0], undefined, searches[1]])
})

test('a conversation names its user, that of a call or an account none', () => {
  const conversations = ['4000000000000001/16505551234', 'call/wacid.1', '1000000000000001']
  assert.deepEqual(conversations.map(userOf), ['16505551234', undefined, undefined])
})
