import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../messages.ts'
import { hasArrived, isSeen, isUnread, listArrived, type View } from './arrival.ts'
import { makeMessage } from './make-message.ts'

const ada = '16505551234'
const bob = '16505550123'
type States = Message['states']
const state = (status: States[number]['status'], user_wa_id?: string): States[number] => ({
  status,
  timestamp: '1',
  ...(user_wa_id !== undefined && { user_wa_id }),
})

const arrivals: readonly (readonly [string, Partial<Message>, arrived: boolean, unread: boolean])[] = [
  ['was accepted', { states: [] }, false, false],
  ['was sent to a phone that is offline', { states: [state('sent')] }, false, false],
  ['was delivered', { states: [state('sent'), state('delivered', ada)] }, true, true],
  ['was delivered, as a list has it', { states: [state('sent'), state('delivered')] }, true, true],
  ['was read', { states: [state('delivered'), state('read')] }, true, false],
  ['was played', { states: [state('delivered'), state('played')] }, true, false],
  ['failed', { state: 'failed', states: [state('sent'), state('failed')] }, false, false],
  ['is a reaction that was delivered', { type: 'reaction', states: [state('delivered')] }, true, false],
  [
    'was sent to a group and delivered to another member',
    { group_id: '6', states: [state('delivered', bob)] },
    false,
    false,
  ],
  [
    'was sent to a group and delivered to this member',
    { group_id: '6', states: [state('delivered', ada)] },
    true,
    true,
  ],
  [
    'was sent to a group and read by another member alone',
    { group_id: '6', states: [state('delivered', ada), state('read', bob)] },
    true,
    true,
  ],
  [
    'failed in a group',
    { group_id: '6', state: 'failed', states: [state('sent'), state('failed', ada)] },
    false,
    false,
  ],
  ['was written by the user', { direction: 'to_business', states: [] }, true, false],
]
for (const [name, message, arrived, unread] of arrivals) {
  test(`a message that ${name} ${arrived ? 'is' : 'is not'} on the phone`, () => {
    assert.equal(hasArrived(makeMessage(message), ada), arrived)
    assert.equal(isUnread(makeMessage(message), ada), unread)
  })
}

test('a phone lists the chats in which something has arrived, the latest first, its groups, and what it has blocked', () => {
  const chat = (phone_number_id: string, time?: number, more: object = {}) => ({
    ...{ phone_number_id, display_phone_number: '', verified_name: '' },
    ...{ unread_count: 0, blocked: false, marketing: 'resume' as const },
    ...(time !== undefined && { last_message: makeMessage({ timestamp: time }) }),
    ...more,
  })
  const listed = listArrived([
    chat('old', 1),
    chat('nothing'),
    chat('group', undefined, { group_id: '6' }),
    chat('blocked', undefined, { blocked: true }),
    chat('new', 2),
  ])
  assert.deepEqual(
    listed.map(({ phone_number_id }) => phone_number_id),
    ['new', 'old', 'group', 'blocked'],
  )
})

test('a message is seen when nothing covers it: one thing is enough that it is not', () => {
  const view: View = { isPageOpen: true, isHidden: false, isOnScreen: true, hasCall: false, isOnline: true }
  assert.ok(isSeen(view))
  for (const name of Object.keys(view) as (keyof View)[]) assert.ok(!isSeen({ ...view, [name]: !view[name] }), name)
})
