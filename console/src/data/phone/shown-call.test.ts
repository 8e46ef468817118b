import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replaces, type ShownCall } from './shown-call.ts'

function call(id: string | undefined, state: ShownCall['state'], more: Partial<ShownCall> = {}): ShownCall {
  return { id, state, direction: 'USER_INITIATED', phone_number_id: '1', sdp: {}, ...more }
}

test('a phone shows one call at a time, which never goes back', () => {
  const incoming = { direction: 'BUSINESS_INITIATED' } as const
  const draft = call(undefined, 'initiated')
  const cases: [string, ShownCall | undefined, ShownCall, boolean][] = [
    ['the first', undefined, call('a', 'initiated'), true],
    ['one that was over before', undefined, call('a', 'ended'), false],
    ['the same, further on', call('a', 'ringing'), call('a', 'accepted'), true],
    ['the same, read again with more', call('a', 'accepted'), call('a', 'accepted'), true],
    ['the same, read before', call('a', 'accepted'), call('a', 'ringing'), false],
    ['the same, read before its end', call('a', 'ended'), call('a', 'accepted'), false],
    ['its end', call('a', 'ringing'), call('a', 'ended'), true],
    ['another one meanwhile', call('a', 'accepted'), call('b', 'initiated', incoming), false],
    ['another one after it', call('a', 'ended'), call('b', 'initiated', incoming), true],
    ['the end of another one after it', call('a', 'ended'), call('b', 'ended'), false],
    ['a call of the business while one is made', draft, call('b', 'initiated', incoming), false],
    ['a call that another page of the same phone has made meanwhile', draft, call('b', 'initiated'), false],
    ['a call after one that was given up before it was made', call(undefined, 'ended'), call('b', 'initiated'), true],
  ]
  for (const [what, shown, read, expected] of cases) assert.equal(replaces(shown, read), expected, what)
})
