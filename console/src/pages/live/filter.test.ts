import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFeedItem } from '../../data/feed-items.ts'
import { isOwn, makeFits, readLiveFilter, typesToRead } from './filter.ts'
import { writeSearchText } from './search-text.ts'

const facts = { business_id: null, account_id: null, phone_number_id: '4', trace: 'f285b4d3' }

const event = readFeedItem({
  ...{ ...facts, id: 'event-6', type: 'event', time: '2026-11-18T12:00:00.000Z' },
  data: {
    ...{ event_id: '6', field: 'messages', subject: 'text from +16505551234' },
    value: {
      messages: [{ id: 'wamid.ABC', from: '16505551234', type: 'text', text: { body: 'Where are my Ferns?' } }],
    },
  },
})
const sent = readFeedItem({
  ...{ ...facts, id: 'r1', type: 'request', time: '2026-11-18T12:00:01.000Z' },
  data: {
    ...{ door: 'business', operation: 'messages.send', method: 'POST', status: 400, milliseconds: 3 },
    ...{ error: { code: 131047, message: 'Re-engagement message' }, request_headers: { authorization: 'secret' } },
    ...{ request_body: '{"to":"16505550123","type":"text","text":{"body":"Soon"}}', response_body: null },
  },
})
const own = readFeedItem({
  ...{ ...facts, id: 'r2', type: 'request', time: '2026-11-18T12:00:02.000Z' },
  data: { door: 'operator', operation: 'operator.list_feed', method: 'GET', status: 200, milliseconds: 3 },
})

const read = {
  textOf: (item: typeof event) => writeSearchText(item, (id) => (id === '4' ? '+1 631-555-1001' : '')),
  isError: (item: typeof event) => item.type === 'request' && item.data.status >= 400,
}

const filters = [
  ['', ['event-6', 'r1']],
  ['own=1', ['event-6', 'r1', 'r2']],
  ['type=event', ['event-6']],
  ['number=5', []],
  ['errors=1', ['r1']],
  ['q=ferns', ['event-6']],
  ['q=WAMID.abc', ['event-6']],
  ['q=soon', ['r1']],
  ['q=%2B16505550123', ['r1']],
  ['q=f285b4', ['event-6', 'r1']],
  ['q=631-555', ['event-6', 'r1']],
  ['q=ferns+text', ['event-6']],
  ['q=ferns+soon', []],
  ['q=re-engagement', ['r1']],
  ['q=secret', []],
] as const

for (const [address, ids] of filters) {
  test(`Live at ?${address} shows ${ids.join(', ') || 'nothing'}`, () => {
    const fits = makeFits(readLiveFilter(new URLSearchParams(address), {}), read)
    assert.deepEqual(
      [event, sent, own].filter(fits).map(({ id }) => id),
      ids,
    )
  })
}

const requests: readonly [string, string, boolean, boolean][] = [
  ['business', 'GET', true, true],
  ['business', 'POST', true, false],
  ['business', 'GET', false, false],
  ['gateway', 'GET', false, true],
  ['gateway', 'POST', true, true],
  ['gateway', 'POST', false, false],
  ['edge_link', 'POST', true, true],
  ['operator', 'POST', false, true],
  ['open', 'GET', false, true],
  ['receiver', 'GET', false, false],
]

for (const [door, method, by_console, expected] of requests) {
  const by = by_console ? 'the console' : 'somebody else'
  test(`a ${method} of ${by} at the door ${door} is ${expected ? '' : 'not '}one of the console's own`, () => {
    const data = { door, method, by_console, operation: 'any', status: 200, milliseconds: 3 }
    const item = readFeedItem({ ...facts, id: 'r3', type: 'request', time: '2026-11-18T12:00:03.000Z', data })
    assert.equal(isOwn(item), expected)
  })
}

test("the requests of a sign-up are not the console's own, though their door is open", () => {
  const data = { door: 'open', method: 'GET', by_console: true, operation: 'sign_up.open_dialog', status: 200 }
  const item = readFeedItem({ ...facts, id: 'r4', type: 'request', time: '2026-11-18T12:00:04.000Z', data })
  assert.equal(isOwn(item), false)
})

test('a range of time holds for what arrives too', () => {
  const range = { since: '2026-11-18T12:00:00.500Z', until: '2026-11-18T12:00:01.500Z' }
  const fits = makeFits(readLiveFilter(new URLSearchParams('own=1'), range), read)
  assert.deepEqual(
    [event, sent, own].filter(fits).map(({ id }) => id),
    ['r1'],
  )
})

test('only what the service records is asked for', () => {
  assert.deepEqual(['', 'try', 'phone', 'timer', 'audit'].map(typesToRead), [
    'request,event,delivery,try,replay',
    'try',
    undefined,
    undefined,
    'audit',
  ])
})
