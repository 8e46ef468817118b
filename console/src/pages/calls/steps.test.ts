import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainMissing, listSteps, nameCallState, secondsConnected, type TimedCall, toneOfCall } from './steps.ts'

const created_time = '2026-11-18T10:00:00.000Z'
const accepted_time = '2026-11-18T10:00:04.500Z'
const ended_time = '2026-11-18T10:01:04.500Z'
const fromUser = { direction: 'USER_INITIATED', created_time } as const

const cases: readonly [name: string, call: TimedCall, steps: string[], state: string, tone: string][] = [
  [
    'a user called and was answered',
    { ...fromUser, state: 'ended', ending: 'completed', accepted_time, ended_time },
    ['The user called', 'The business answered +4500', 'The call ended +60000'],
    'Ended',
    'good',
  ],
  [
    'a call that rings',
    { ...fromUser, direction: 'BUSINESS_INITIATED', state: 'ringing' },
    ['The business called', 'It rings at the user'],
    'Ringing',
    'warn',
  ],
  [
    'a call that is declined',
    { ...fromUser, direction: 'BUSINESS_INITIATED', state: 'ended', ending: 'rejected', ended_time },
    ['The business called', 'The user declined +64500'],
    'Declined',
    'bad',
  ],
  [
    'a call that nobody answered',
    { ...fromUser, state: 'ended', ending: 'timed_out', ended_time },
    ['The user called', 'The business did not answer in time +64500'],
    'Not answered',
    'bad',
  ],
  [
    'a call without its times',
    { direction: 'USER_INITIATED', state: 'accepted' },
    ['The user called', 'The business answered'],
    'Connected',
    'warn',
  ],
]

for (const [name, call, steps, state, tone] of cases) {
  test(`the steps of a call: ${name}`, () => {
    const written = listSteps(call).map((step) =>
      step.after === undefined ? step.name : `${step.name} +${step.after}`,
    )
    assert.deepEqual(written, steps)
    assert.equal(nameCallState(call), state)
    assert.equal(toneOfCall(call), tone)
  })
}

test('how long a call lasted: only when it was answered and has ended', () => {
  assert.equal(secondsConnected({ ...fromUser, state: 'ended', accepted_time, ended_time }), 60)
  assert.equal(secondsConnected({ ...fromUser, state: 'ended', ended_time }), undefined)
  assert.equal(secondsConnected({ ...fromUser, state: 'accepted', accepted_time }), undefined)
})

test('a description that is missing may still come, but not after the end', () => {
  assert.match(explainMissing({ state: 'ringing' }), /yet/)
  assert.match(explainMissing({ state: 'ended' }), /ended without/)
})
