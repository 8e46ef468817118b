import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeEvent } from './describe-event.ts'

const events = [
  [{ value: { calls: [{ event: 'connect', direction: 'USER_INITIATED' }] } }, 'Connect: the user calls, with an offer'],
  [
    { value: { calls: [{ event: 'connect', direction: 'BUSINESS_INITIATED' }] } },
    'Connect: the phone accepted, with its answer',
  ],
  [{ value: { calls: [{ event: 'terminate', status: 'COMPLETED' }] } }, 'Terminate: the call ended, completed'],
  [{ value: { calls: [{ event: 'terminate', status: 'FAILED' }] } }, 'Terminate: the call ended, not connected'],
  [{ value: { calls: [{ event: 'terminate' }] } }, 'Terminate: the call ended'],
  [{ value: { statuses: [{ status: 'RINGING' }] } }, 'Status: ringing'],
  [{ value: { statuses: [{ status: 'HELD' }] }, subject: 'call held by +1' }, 'call held by +1'],
  [{ field: 'calls' }, 'calls'],
] as const

for (const [data, words] of events) {
  test(`an event of a call: ${words}`, () => assert.equal(describeEvent(data), words))
}
