import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRequest } from '../../data/feed-data.ts'
import { writeCurl, writeSdkCall } from './curl.ts'

function requestOf(more: object) {
  const request = readRequest({
    door: 'business',
    operation: 'messages.send',
    method: 'POST',
    target: '/v23.0/4/messages',
    status: 200,
    request_headers: { 'content-type': 'application/json' },
    request_body: `{"text":{"body":"it's"}}`,
    ...more,
  })
  assert.ok(request)
  return request
}

test('a request for a shell holds its body as it was, and no token', () => {
  assert.equal(
    writeCurl(requestOf({}), 'http://127.0.0.1:1'),
    [
      'curl -X POST -H "Authorization: Bearer $TOKEN"',
      "-H 'Content-Type: application/json'",
      `-d '{"text":{"body":"it'\\''s"}}'`,
      "'http://127.0.0.1:1/v23.0/4/messages'",
    ].join(' \\\n  '),
  )
  assert.doesNotMatch(writeCurl(requestOf({ request_body: null }), ''), /-d |Content-Type/)
})

test('only requests of the business door have a method of the client', () => {
  assert.match(writeSdkCall(requestOf({}), 'http://127.0.0.1:1') ?? '', /client\.messages\.send\("4"/)
  assert.equal(writeSdkCall(requestOf({ door: 'operator' }), ''), undefined)
})
