import assert from 'node:assert/strict'
import { test } from 'node:test'
import { day, second } from '../../../base/time/duration.ts'
import { failureCodes } from '../../messages/public.ts'
import type { MessageFacts } from './facts.ts'
import { judgeMessage } from './judge-message.ts'

const now = Date.parse('2026-06-01T12:00:00Z')

const sent: MessageFacts = {
  id: 'wamid.1',
  phone_number_id: '4000000000000001',
  direction: 'to_user',
  type: 'text',
  state: 'sent',
  error_code: null,
  group_id: null,
  created_time: now,
  sent_time: now,
  delivered_time: null,
  read_time: null,
  played_time: null,
  ended_time: null,
  expires_time: now + day,
  isFetching: false,
  isNumberBlocked: false,
  isUserBlocked: false,
  isOnline: true,
  hasReadReceipts: true,
  recipients: [],
}
const incoming = { direction: 'to_business', expires_time: null } as const
const toGroup = { group_id: '7000000000000001' }

const cases: readonly [name: string, facts: Partial<MessageFacts>, sentence: string][] = [
  [
    'outside the window',
    { state: 'failed', error_code: 131047, ended_time: now },
    'Failed: 131047, the user has not written within the service window; send a template instead.',
  ],
  ['failed without a code', { state: 'failed', ended_time: now }, 'Failed.'],
  ['accepted', { state: 'accepted', sent_time: null }, 'Accepted, not sent yet.'],
  [
    'behind a link',
    { state: 'accepted', sent_time: null, isFetching: true },
    'Accepted, not sent yet: it waits for the file behind its link, which is being fetched.',
  ],
  ['under way', {}, "Sent. It is on its way to the user's phone."],
  [
    'for a phone that is offline',
    { isOnline: false },
    "Sent, not delivered yet: it waits for the user's phone, which is offline. It is dropped at 2026-06-02 12:00:00 UTC unless the phone comes online.",
  ],
  [
    'for a phone that is offline, without an end',
    { isOnline: false, expires_time: null },
    "Sent, not delivered yet: it waits for the user's phone, which is offline.",
  ],
  [
    'dropped',
    { isOnline: false, expires_time: now },
    "Dropped: the user's phone did not take it before 2026-06-01 12:00:00 UTC. Send it again.",
  ],
  [
    'dropped before it was sent',
    { state: 'accepted', expires_time: now },
    "Dropped: the user's phone did not take it before 2026-06-01 12:00:00 UTC. Send it again.",
  ],
  ['of a blocked number', { isNumberBlocked: true }, 'Sent, but not delivered: the user has blocked the number.'],
  ['of a number that was blocked', { ended_time: now }, 'Sent, but never delivered: the user had blocked the number.'],
  ['a reaction', { type: 'reaction' }, 'Sent. A reaction has no further status.'],
  [
    'delivered',
    { state: 'delivered', delivered_time: now + 12 },
    "Delivered to the user's phone, 12 ms after it was sent. The user has not read it yet.",
  ],
  ['read', { state: 'read', read_time: now + 61 * second }, 'Read by the user, 1 min 1 s after it was sent.'],
  [
    'read without receipts',
    { state: 'read', read_time: now + 2 * day, hasReadReceipts: false },
    "Read by the user, 2 d after it was sent. The user's phone sends no read receipts, so no webhook reports that.",
  ],
  ['played', { state: 'played', played_time: now + 5 * second }, 'Played by the user, 5 s after it was sent.'],
  [
    'to a group',
    {
      ...toGroup,
      state: 'read',
      recipients: [
        { state: 'delivered', error_code: null, count: 2 },
        { state: 'failed', error_code: 131026, count: 1 },
        { state: 'sent', error_code: null, count: 3 },
      ],
    },
    'Sent to a group of 6 participants: 2 delivered; 1 failed: 131026, the recipient cannot get messages: the number is not reachable, or belongs to a business; 3 not delivered yet.',
  ],
  [
    'to a group, too late',
    { ...toGroup, expires_time: now, recipients: [{ state: 'sent', error_code: null, count: 1 }] },
    'Sent to a group of 1 participant: 1 dropped.',
  ],
  [
    'to a group, accepted',
    { ...toGroup, state: 'accepted', recipients: [{ state: 'accepted', error_code: null, count: 1 }] },
    'Accepted, not sent yet.',
  ],
  [
    'to a group, failed',
    {
      ...toGroup,
      state: 'failed',
      error_code: 131047,
      recipients: [{ state: 'accepted', error_code: null, count: 1 }],
    },
    'Failed: 131047, the user has not written within the service window; send a template instead.',
  ],
  ['from a user', incoming, 'Received from the user. The business has not marked it as read.'],
  ['from a user, read', { ...incoming, state: 'read' }, 'Received from the user, and marked as read by the business.'],
  ['from a user, deleted', { ...incoming, state: 'deleted' }, 'Received from the user, who deleted it afterwards.'],
  [
    'from a blocked user',
    { ...incoming, isUserBlocked: true },
    'Received from the user. The business has not marked it as read. The number has blocked this user, so no webhook reports the message.',
  ],
]

for (const [name, facts, sentence] of cases) {
  test(`a message ${name}`, () => assert.equal(judgeMessage({ ...sent, ...facts }, now), sentence))
}

for (const error_code of failureCodes) {
  test(`a message that failed with ${error_code} says so in words`, () => {
    const sentence = judgeMessage({ ...sent, state: 'failed', error_code }, now)
    assert.match(sentence, new RegExp(`^Failed: ${error_code}, [a-z].+\\.$`))
  })
}
