import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FeedItem, readFeedItem } from '../../data/feed-items.ts'
import { mergeItems } from './merge.ts'
import { addDays, groupByTrace, type LiveRow, summarizeGroup } from './rows.ts'
import { toneOfState } from './tones.ts'

const webhook = { delivery_id: '7', event_id: '6', app_id: '3', field: 'messages', callback_url: 'http://a/' }

/** An item at noon of a day of November in the zone of this machine, so many seconds later. */
function item(
  id: string,
  date: number,
  second: number,
  trace: string | null = null,
  type = 'timer',
  data: object = {},
): FeedItem {
  const time = new Date(2026, 10, date, 12, 0, second).toISOString()
  const owner = { business_id: null, account_id: null, phone_number_id: null, trace }
  return readFeedItem({ id, type, time, ...owner, data: { kind: 'k', ...data } })
}

function write(rows: readonly LiveRow[]): string[] {
  return rows.map((row) => (row.type === 'day' ? `day ${new Date(row.time).getDate()}` : row.id))
}

test('a line stands before each day', () => {
  const items = [item('e', 18, 2), item('d', 18, 1), item('c', 17, 5), item('b', 15, 3), item('a', 15, 1)]
  assert.deepEqual(write(addDays(items)), ['day 18', 'e', 'd', 'day 17', 'c', 'day 15', 'b', 'a'])
  assert.deepEqual(addDays([]), [])
  const many = Array.from({ length: 5000 }, (_, index) => item(String(index), 18 - Math.floor(index / 1000), 5))
  assert.equal(addDays(many).length, 5005)
})

test('what belongs to one trace is one line at the time when it began, and opens', () => {
  const request = { door: 'business', operation: 'messages.send', method: 'POST', status: 200 }
  const items = [
    item('delivery-7-delivered-2', 18, 9, 't1', 'delivery', { ...webhook, state: 'delivered', attempts: 2 }),
    item('alone', 18, 8),
    item('r1', 18, 6, 't1', 'request', request),
    item('only', 18, 5, 't2'),
    item('event-6', 17, 59, 't1', 'event', { event_id: '6', field: 'messages' }),
  ]
  assert.deepEqual(write(groupByTrace(items, new Set())), ['day 18', 'alone', 'only', 'day 17', 'group-t1'])
  const open = groupByTrace(items, new Set(['group-t1']))
  assert.deepEqual(write(open).slice(4), ['group-t1', 'in-event-6', 'in-r1', 'in-delivery-7-delivered-2'])
  assert.equal(open[4]?.type === 'group' && open[4].lead.id, 'r1')
})

test('a trace is as well as the last states of its webhooks', () => {
  const toneOf = (one: FeedItem) => (one.type === 'delivery' ? toneOfState(one.data.state) : 'good')
  const state = (id: string, state: string) =>
    item(`${id}-${state}`, 18, 1, 't', 'delivery', { ...webhook, delivery_id: id, state, attempts: 1 })
  for (const [items, result, tone] of [
    [[state('1', 'waiting'), state('1', 'delivered')], '1/1 webhooks', 'good'],
    [[state('1', 'delivered'), state('2', 'waiting')], '1/2 webhooks', 'warn'],
    [[state('1', 'delivered'), state('2', 'failed')], '1/2 webhooks', 'bad'],
    [[item('x', 18, 1, 't'), item('y', 18, 1, 't')], '2 lines', 'plain'],
  ] as const) {
    assert.deepEqual(summarizeGroup(items, toneOf), { result, tone })
  }
})

test('live and history are one list, each item once, the newest first', () => {
  const fits = ({ id }: FeedItem) => id !== 'hidden'
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((id, index) => item(id, 18, index))
  assert.ok(a && b && c && d && e)
  const first = mergeItems({ live: [c, d], history: [c, b, a], key: '' }, fits, undefined)
  assert.deepEqual(write(first.items), ['d', 'c', 'b', 'a'])
  // Only what was added is looked at.
  const looked: string[] = []
  const noting = (one: FeedItem) => looked.push(one.id) > 0 && fits(one)
  const live = [c, d, e, item('hidden', 18, 9)]
  const grown = mergeItems({ ...first, live }, noting, first)
  assert.deepEqual(
    [write(grown.items), looked],
    [
      ['e', 'd', 'c', 'b', 'a'],
      ['e', 'hidden'],
    ],
  )
  // What came late stands where it belongs.
  const late = mergeItems({ ...first, live: [b, c, d], history: [a] }, fits, first)
  assert.deepEqual(write(late.items), ['d', 'c', 'b', 'a'])
  const older = mergeItems({ live: [e], history: [d, a], key: '' }, fits, undefined)
  assert.deepEqual(write(mergeItems({ ...older, history: [d, c, b, a] }, fits, older).items), ['e', 'd', 'c', 'b', 'a'])
})
