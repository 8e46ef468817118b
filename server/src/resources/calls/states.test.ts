import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GraphError } from '../../graph/graph-error.ts'
import { callActions, callDirections, callSides, callStates, isUnanswered, moveCall } from './states.ts'

/** Everything that can happen, written out; whatever is not here must be refused. */
const possible: Readonly<Record<string, { state: string; ending: string | null }>> = {
  'BUSINESS_INITIATED initiated: user ringing': { state: 'ringing', ending: null },
  'BUSINESS_INITIATED initiated: user accept': { state: 'accepted', ending: null },
  'BUSINESS_INITIATED initiated: user reject': { state: 'ended', ending: 'rejected' },
  'BUSINESS_INITIATED initiated: user terminate': { state: 'ended', ending: 'failed' },
  'BUSINESS_INITIATED initiated: business terminate': { state: 'ended', ending: 'failed' },
  'BUSINESS_INITIATED initiated: clock time_out': { state: 'ended', ending: 'timed_out' },
  'BUSINESS_INITIATED ringing: user accept': { state: 'accepted', ending: null },
  'BUSINESS_INITIATED ringing: user reject': { state: 'ended', ending: 'rejected' },
  'BUSINESS_INITIATED ringing: user terminate': { state: 'ended', ending: 'failed' },
  'BUSINESS_INITIATED ringing: business terminate': { state: 'ended', ending: 'failed' },
  'BUSINESS_INITIATED ringing: clock time_out': { state: 'ended', ending: 'timed_out' },
  'BUSINESS_INITIATED accepted: user terminate': { state: 'ended', ending: 'completed' },
  'BUSINESS_INITIATED accepted: business terminate': { state: 'ended', ending: 'completed' },
  'USER_INITIATED initiated: business pre_accept': { state: 'ringing', ending: null },
  'USER_INITIATED initiated: business accept': { state: 'accepted', ending: null },
  'USER_INITIATED initiated: business reject': { state: 'ended', ending: 'rejected' },
  'USER_INITIATED initiated: business terminate': { state: 'ended', ending: 'failed' },
  'USER_INITIATED initiated: user terminate': { state: 'ended', ending: 'failed' },
  'USER_INITIATED initiated: clock time_out': { state: 'ended', ending: 'timed_out' },
  'USER_INITIATED ringing: business accept': { state: 'accepted', ending: null },
  'USER_INITIATED ringing: business reject': { state: 'ended', ending: 'rejected' },
  'USER_INITIATED ringing: business terminate': { state: 'ended', ending: 'failed' },
  'USER_INITIATED ringing: user terminate': { state: 'ended', ending: 'failed' },
  'USER_INITIATED ringing: clock time_out': { state: 'ended', ending: 'timed_out' },
  'USER_INITIATED accepted: business terminate': { state: 'ended', ending: 'completed' },
  'USER_INITIATED accepted: user terminate': { state: 'ended', ending: 'completed' },
}

describe('every action in every state', () => {
  const met = new Set<string>()
  for (const direction of callDirections) {
    for (const state of callStates) {
      for (const side of callSides) {
        for (const action of callActions) {
          const name = `${direction} ${state}: ${side} ${action}`
          const expected = possible[name]
          met.add(name)
          test(`${name} → ${expected ? `${expected.state} ${expected.ending ?? ''}`.trim() : '422'}`, () => {
            if (expected) {
              assert.deepEqual(moveCall({ direction, state }, side, action), expected)
              return
            }
            assert.throws(
              () => moveCall({ direction, state }, side, action),
              (error) => error instanceof GraphError && error.status === 422 && error.message.includes(action),
            )
          })
        }
      }
    }
  }

  test('the table above names no case that does not exist', () => {
    assert.deepEqual(
      Object.keys(possible).filter((name) => !met.has(name)),
      [],
    )
  })
})

test('a refusal says what would be possible', () => {
  assert.throws(() => moveCall({ direction: 'BUSINESS_INITIATED', state: 'ringing' }, 'business', 'accept'), {
    message:
      'The business started the call and it is ringing, so accept by the business is not possible; possible: terminate.',
  })
  assert.throws(() => moveCall({ direction: 'USER_INITIATED', state: 'ended' }, 'user', 'terminate'), {
    message: 'The call has ended, so terminate is not possible any more; only an open call can be changed.',
  })
})

test('a call waits for an answer until it is accepted or has ended', () => {
  const direction = 'USER_INITIATED'
  assert.deepEqual(
    callStates.filter((state) => isUnanswered({ direction, state })),
    ['initiated', 'ringing'],
  )
})
