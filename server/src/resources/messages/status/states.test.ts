import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageStates, messageStatuses, moveMessage } from './states.ts'

/** By direction and state: what each status reports; what is not named reports nothing. */
const expected = {
  to_user: {
    accepted: { sent: 'sent', failed: 'failed' },
    sent: { delivered: 'delivered', read: 'delivered read', played: 'delivered read played', failed: 'failed' },
    delivered: { read: 'read', played: 'read played' },
    read: { played: 'played' },
    played: {},
    failed: {},
    deleted: {},
  },
  to_business: {
    accepted: {},
    sent: { read: 'read', deleted: 'deleted' },
    delivered: {},
    read: { deleted: 'deleted' },
    played: {},
    failed: {},
    deleted: {},
  },
} as const

const text = { type: 'text', expires_time: null, ended_time: null }

for (const direction of ['to_user', 'to_business'] as const) {
  for (const state of messageStates) {
    test(`a message ${direction} that is ${state} goes where the table says, and nowhere else`, () => {
      const found = messageStatuses.map((status) => [
        status,
        moveMessage({ ...text, direction, state }, status, 0).join(' '),
      ])
      assert.deepEqual(Object.fromEntries(found.filter(([, reports]) => reports !== '')), expected[direction][state])
    })
  }
}

test('a reaction is sent or fails, and nothing else', () => {
  const reaction = { ...text, type: 'reaction', direction: 'to_user', state: 'sent' } as const
  for (const status of ['delivered', 'read', 'played'] as const) {
    assert.deepEqual(moveMessage(reaction, status, 0), [])
  }
  assert.deepEqual(moveMessage(reaction, 'failed', 0), ['failed'])
})

test('nothing follows the end of a life, which only a message under way has', () => {
  const message = { ...text, expires_time: 1000, direction: 'to_user' } as const
  assert.deepEqual(moveMessage({ ...message, state: 'sent' }, 'delivered', 999), ['delivered'])
  assert.deepEqual(moveMessage({ ...message, state: 'sent' }, 'delivered', 1000), [])
  assert.deepEqual(moveMessage({ ...message, state: 'accepted' }, 'sent', 1000), [])
  assert.deepEqual(moveMessage({ ...message, state: 'delivered' }, 'read', 1000), ['read'])
  assert.deepEqual(moveMessage({ ...message, state: 'sent', ended_time: 5 }, 'delivered', 10), [])
})
