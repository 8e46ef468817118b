import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FeedItem, readFeedItem } from '../../data/feed-items.ts'
import { type Grouping, layRows } from './waterfall.ts'

const t0 = Date.parse('2026-11-18T12:00:00.000Z')
const at = (ms: number) => new Date(t0 + ms).toISOString()
const owner = { business_id: null, account_id: null, phone_number_id: null, trace: 't' }
const names: Readonly<Record<string, string>> = { a: 'Good', b: 'Broken' }

function event(id: string, ms: number, subject: string): FeedItem {
  const data = { event_id: id, field: 'messages', value: null, subject }
  return readFeedItem({ ...owner, id: `event-${id}`, type: 'event', time: at(ms), data })
}

function webhookOf(id: string, event_id: string, app_id: string, subject: string) {
  return { delivery_id: id, event_id, app_id, field: 'messages', callback_url: `http://${app_id}/`, subject }
}

function delivery(id: string, event_id: string, app_id: string, state: string, ms: number): FeedItem {
  const data = { ...webhookOf(id, event_id, app_id, 's'), state, attempts: 1 }
  return readFeedItem({ ...owner, id: `delivery-${id}-${state}-1`, type: 'delivery', time: at(ms), data })
}

function attempt(
  id: string,
  event_id: string,
  app_id: string,
  number: number,
  ms: number,
  problem: string | null,
): FeedItem {
  const data = {
    ...webhookOf(id, event_id, app_id, 's'),
    number,
    status: problem ? 503 : 200,
    problem,
    milliseconds: 6,
  }
  return readFeedItem({ ...owner, id: `try-${id}-${number}`, type: 'try', time: at(ms), data })
}

const request = readFeedItem({
  ...owner,
  id: 'r',
  type: 'request',
  time: at(20),
  data: {
    door: 'business',
    operation: 'messages.send',
    method: 'POST',
    target: '/m',
    status: 200,
    error: null,
    milliseconds: 20,
  },
})

/** As a service may list it: attempts after what they ended, the request when it was answered. */
const items = [
  delivery('1', '10', 'a', 'delivered', 31),
  request,
  event('10', 15, 'sent'),
  event('11', 40, 'delivered'),
  delivery('2', '10', 'b', 'waiting', 15),
  delivery('3', '11', 'a', 'delivered', 52),
  attempt('2', '10', 'b', 2, 5020, 'it answered 503'),
  attempt('1', '10', 'a', 1, 25, null),
  attempt('2', '10', 'b', 1, 20, 'it answered 503'),
  { ...event('10', 15, 'sent'), id: 'message-10', type: 'message' } as FeedItem,
]

function write(by: Grouping): string[] {
  return layRows(items, by, (id) => names[id ?? ''] ?? '').map(
    ({ depth, name, text, result, start, end }) =>
      `${'  '.repeat(depth)}${name}: ${text} (${result}) ${start - t0}-${end === undefined ? '' : end - t0}`,
  )
}

test('a trace by events: causes above their effects, attempts below their own webhook', () => {
  assert.deepEqual(write('event'), [
    'Request: POST /m (200) 0-20',
    'Event: Sent (raised) 15-15',
    '  Webhook: Good (delivered) 15-31',
    '    Attempt 1: Accepted (200) 25-31',
    '  Webhook: Broken (failing) 15-',
    '    Attempt 1: It answered 503 (503) 20-26',
    '    Attempt 2: It answered 503 (503) 5020-5026',
    'Event: Delivered (raised) 40-40',
    '  Webhook: Good (delivered) 40-52',
  ])
})

test('a trace by subscribers: what each got, and of whom something is missing', () => {
  assert.deepEqual(write('subscriber'), [
    'Request: POST /m (200) 0-20',
    'Event: Sent (raised) 15-15',
    'Event: Delivered (raised) 40-40',
    'Subscriber: Good · http://a/ (2 of 2 delivered) 15-52',
    '  Webhook: S (delivered) 15-31',
    '    Attempt 1: Accepted (200) 25-31',
    '  Webhook: S (delivered) 40-52',
    'Subscriber: Broken · http://b/ (0 of 1 delivered) 15-',
    '  Webhook: S (failing) 15-',
    '    Attempt 1: It answered 503 (503) 20-26',
    '    Attempt 2: It answered 503 (503) 5020-5026',
  ])
})

test('a webhook whose event is not kept stands by itself', () => {
  const [only] = layRows([delivery('9', '99', 'a', 'failed', 8)], 'event', () => 'Good')
  assert.deepEqual([only?.name, only?.depth, only?.tone], ['Webhook', 0, 'bad'])
})
