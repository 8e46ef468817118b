import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFeedItem, readListedRequest, readPhoneItem, readStreamedItem } from './feed-items.ts'

const facts = {
  id: 'item-1',
  time: '2026-06-01T12:00:00.000Z',
  business_id: '2',
  account_id: '1',
  phone_number_id: '4',
  trace: '4bf9',
}
const request = {
  door: 'business' as const,
  operation: 'messages.send',
  method: 'POST',
  status: 400,
  milliseconds: 1.5,
}
const webhook = {
  delivery_id: '7',
  event_id: '6',
  app_id: '3',
  field: 'messages',
  callback_url: 'http://127.0.0.1:3000',
  subject: 'text from +16505551234',
}
const event = { event_id: '6', field: 'messages' }
const empty = { subject: null, isRemoved: false, messages: [], statuses: [], calls: [] }

const cases: readonly (readonly [name: string, type: string, data: Record<string, unknown>, expected: object])[] = [
  [
    'a request, with nothing that is not known',
    'request',
    { ...request, target: '/v23.0/4/messages', error: { code: 100, message: 'Wrong' }, app_id: '3', fancy: true },
    {
      type: 'request',
      data: {
        ...request,
        target: '/v23.0/4/messages',
        error: { code: 100, message: 'Wrong' },
        app_id: '3',
        message: undefined,
        isByConsole: false,
        exchange: undefined,
      },
    },
  ],
  [
    'a request of the console, with what was sent',
    'request',
    {
      ...{ ...request, error: null, by_console: true, request_headers: { 'x-console-app': '3' } },
      request_body: '{"to":"1650","type":"text","text":{"body":"Hi"}}',
      response_body: '{"messages":[{"id":"wamid.1"}]}',
    },
    {
      type: 'request',
      data: {
        ...request,
        target: undefined,
        error: undefined,
        app_id: null,
        isByConsole: true,
        message: { to: '1650', excerpt: 'Hi', id: 'wamid.1' },
        exchange: {
          request_headers: { 'x-console-app': '3' },
          request_body: '{"to":"1650","type":"text","text":{"body":"Hi"}}',
          response_body: '{"messages":[{"id":"wamid.1"}]}',
        },
      },
    },
  ],
  [
    'an event of a message',
    'event',
    {
      ...{ ...event, subject: 'text from +16505551234' },
      value: { messages: [{ id: 'wamid.1', from: '16505551234', type: 'text', text: { body: 'Hi' } }] },
    },
    {
      type: 'event',
      data: {
        ...event,
        ...empty,
        subject: 'text from +16505551234',
        value: { messages: [{ id: 'wamid.1', from: '16505551234', type: 'text', text: { body: 'Hi' } }] },
        messages: [{ id: 'wamid.1', from: '16505551234', type: 'text', excerpt: 'Hi' }],
      },
    },
  ],
  [
    'an event of a status that failed',
    'event',
    {
      ...event,
      value: { statuses: [{ id: 'wamid.1', recipient_id: '1', status: 'failed', errors: [{ code: 131047 }] }] },
    },
    {
      type: 'event',
      data: {
        ...event,
        ...empty,
        value: { statuses: [{ id: 'wamid.1', recipient_id: '1', status: 'failed', errors: [{ code: 131047 }] }] },
        statuses: [{ id: 'wamid.1', recipient_id: '1', status: 'failed', error: { code: 131047, title: '' } }],
      },
    },
  ],
  [
    'an event without its value',
    'event',
    { ...event, value: null, content_removed: true },
    { type: 'event', data: { ...event, ...empty, isRemoved: true, value: undefined } },
  ],
  [
    'the state of a webhook',
    'delivery',
    { ...webhook, state: 'waiting', attempts: 0 },
    { type: 'delivery', data: { ...webhook, state: 'waiting', attempts: 0 } },
  ],
  [
    'an attempt without a response',
    'try',
    { ...webhook, number: 2, status: null, problem: 'no response', milliseconds: 10 },
    { type: 'try', data: { ...webhook, number: 2, status: null, problem: 'no response', milliseconds: 10 } },
  ],
  ['a timer', 'timer', { kind: 'expire' }, { type: 'timer', data: { kind: 'expire' } }],
  [
    'a replay',
    'replay',
    { replay_id: '9', state: 'running', replayed: 1, left_out: 0, total: 5 },
    { type: 'replay', data: { replay_id: '9', state: 'running', replayed: 1, left_out: 0, total: 5 } },
  ],
  [
    'a record of the audit log',
    'audit',
    { operation: 'account.update', node_kind: 'account', node_id: '1', actor_name: 'Ada', actor_app_id: '3' },
    {
      type: 'audit',
      data: { operation: 'account.update', node_kind: 'account', node_id: '1', actor_name: 'Ada', actor_app_id: '3' },
    },
  ],
  [
    'a request that was too long to be sent',
    'request',
    { is_shortened: true },
    { type: 'other', data: { kind: 'request' } },
  ],
  ['a type of a newer service', 'dream', { colour: 'blue' }, { type: 'other', data: { kind: 'dream' } }],
]

for (const [name, type, data, expected] of cases) {
  test(`${name} is read by its type`, () => {
    assert.deepEqual(readFeedItem({ ...facts, type, data }), { ...facts, ...expected })
  })
}

test('an item of the stream keeps no bodies, and still says that the console sent it', () => {
  const data = { ...request, by_console: true, request_headers: {}, request_body: 'x'.repeat(10_000) }
  const item = readStreamedItem({ ...facts, type: 'request', data })
  assert.equal(item.type, 'request')
  assert.deepEqual(item.type === 'request' && [item.data.exchange, item.data.isByConsole], [undefined, true])
})

test('a request of a list, which has neither headers nor bodies, is read like one of the stream', () => {
  const listed = {
    ...request,
    ...facts,
    ...{ id: 'request-1', error: null, app_id: null, node_id: null, remote_address: null, by_console: false },
  }
  const streamed = { ...facts, id: 'request-1', type: 'request', data: { ...request, error: null, app_id: null } }
  assert.deepEqual(readListedRequest(listed), readStreamedItem(streamed))
})

test('what happens on a phone is an item too, and a reset is none', () => {
  const typing = { phone_number_id: '4', user_wa_id: '16505551234', until: '1' }
  const item = readPhoneItem({ id: '5', event: 'typing', data: typing }, facts.time)
  assert.deepEqual(
    [item?.id, item?.phone_number_id, item?.data],
    ['phone-5', '4', { what: 'typing', user_wa_id: '16505551234' }],
  )
  assert.equal(readPhoneItem({ id: '6', event: 'reset', data: {} }, facts.time), undefined)
})
