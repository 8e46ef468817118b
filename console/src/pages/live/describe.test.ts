import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFeedItem } from '../../data/feed-items.ts'
import { describe } from './describe.ts'

const about = {
  id: '1',
  time: '2026-11-18T12:00:00.000Z',
  business_id: null,
  account_id: null,
  phone_number_id: null,
  trace: null,
}
const webhook = {
  delivery_id: '7',
  event_id: '3',
  app_id: 'a',
  field: 'messages',
  callback_url: 'http://127.0.0.1/',
  subject: 'status read to +1650',
}
const request = {
  door: 'business',
  operation: 'messages.send',
  method: 'POST',
  target: '/v23.0/4000000000000001/messages',
  status: 200,
  error: null,
  milliseconds: 4,
}
const event = { event_id: '3', field: 'messages' }

const lines: readonly (readonly [
  { readonly type: string; readonly data: Readonly<Record<string, unknown>> },
  string,
])[] = [
  [
    {
      type: 'request',
      data: { ...request, request_headers: {}, request_body: '{"to":"1650","type":"text","text":{"body":"Hello"}}' },
    },
    'POST …/messages to +1650 | “Hello” | 200 good',
  ],
  [
    { type: 'request', data: { ...request, status: 400, error: { code: 100, message: 'Invalid parameter' } } },
    'POST …/messages | Invalid parameter | 400 bad',
  ],
  [
    { type: 'request', data: { ...request, request_body: 'no json', target: undefined } },
    'POST messages.send | undefined | 200 good',
  ],
  [
    {
      type: 'event',
      data: {
        ...event,
        subject: 'status failed (131047) to +1650',
        value: { statuses: [{ status: 'failed', errors: [{ code: 131047, title: 'Re-engagement message' }] }] },
      },
    },
    'Status failed (131047) to +1650 | 131047 Re-engagement message | failed bad',
  ],
  [
    {
      type: 'event',
      data: { ...event, subject: 'text from +1650', value: { messages: [{ type: 'text', text: { body: '<b>' } }] } },
    },
    'Text from +1650 | “<b>” | text good',
  ],
  [
    {
      type: 'event',
      data: {
        ...event,
        subject: 'list reply from +1650',
        value: { messages: [{ type: 'interactive', interactive: { list_reply: { title: 'Morning' } } }] },
      },
    },
    'List reply from +1650 | “Morning” | interactive good',
  ],
  [
    { type: 'event', data: { ...event, value: null, content_removed: true, subject: null } },
    'messages | undefined | removed plain',
  ],
  [
    { type: 'delivery', data: { ...webhook, state: 'waiting', attempts: 0 } },
    'Status read to +1650 → Shop | undefined | waiting warn',
  ],
  [
    { type: 'delivery', data: { ...webhook, state: 'waiting', attempts: 2 } },
    'Status read to +1650 → Shop | undefined | failing bad',
  ],
  [
    { type: 'try', data: { ...webhook, number: 2, status: 503, problem: 'it answered 503', milliseconds: 3 } },
    'Attempt 2: status read to +1650 → Shop | it answered 503 | 503 bad',
  ],
  [
    { type: 'try', data: { ...webhook, number: 1, status: null, problem: 'refused', milliseconds: 3 } },
    'Status read to +1650 → Shop | refused | no response bad',
  ],
  [{ type: 'news', data: {} }, 'news, without details | undefined |  plain'],
  [{ type: 'timer', data: { kind: 'message_expiry' } }, 'Message expiry | undefined | fired plain'],
]

for (const [item, line] of lines) {
  test(`a line of Live: ${line}`, () => {
    const { text, detail, result, tone } = describe(readFeedItem({ ...about, ...item }), (id) =>
      id === 'a' ? 'Shop' : '',
    )
    assert.equal(`${text} | ${detail} | ${result} ${tone}`, line)
  })
}
