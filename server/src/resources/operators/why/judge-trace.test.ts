import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minute, second } from '../../../base/time/duration.ts'
import type { CallFacts, MessageFacts } from './facts.ts'
import { judgeCall } from './judge-call.ts'
import { judgeTrace, type TraceFacts } from './judge-trace.ts'
import { writeSpan } from './spans.ts'

const now = Date.parse('2026-06-01T12:00:00Z')

const read: MessageFacts = {
  id: 'wamid.1',
  phone_number_id: '4000000000000001',
  direction: 'to_user',
  type: 'text',
  state: 'read',
  error_code: null,
  group_id: null,
  created_time: now,
  sent_time: now,
  delivered_time: now,
  read_time: now,
  played_time: null,
  ended_time: null,
  expires_time: null,
  isFetching: false,
  isNumberBlocked: false,
  isUserBlocked: false,
  isOnline: true,
  hasReadReceipts: true,
  recipients: [],
}
const failed: MessageFacts = { ...read, id: 'wamid.2', state: 'failed', error_code: 131047 }

const call: CallFacts = {
  id: 'wacid.1',
  phone_number_id: '4000000000000001',
  direction: 'BUSINESS_INITIATED',
  state: 'ended',
  ending: 'completed',
  created_time: now - 2 * minute,
  accepted_time: now - minute,
  ended_time: now - 5 * second,
}
const empty: TraceFacts = { request: undefined, messages: [], calls: [], fields: [] }
const sending = { operation: 'messages.send', status: 200, error: null }

const traces: readonly [name: string, facts: Partial<TraceFacts>, sentence: string][] = [
  [
    'of a refused request',
    {
      request: { operation: 'messages.send', status: 400, error: { code: 100, message: '(#100) to: it is required.' } },
    },
    'The request (messages.send) was refused with 400: (#100) to: it is required.',
  ],
  [
    'of a message that failed, though the request succeeded',
    { request: sending, messages: [failed], fields: ['messages'] },
    'Failed: 131047, the user has not written within the service window; send a template instead.',
  ],
  [
    'of several messages',
    { messages: [read, failed], fields: ['messages', 'messages'] },
    'Of 2 messages the worst off is wamid.2: Failed: 131047, the user has not written within the service window; send a template instead.',
  ],
  ['of a call', { calls: [call], fields: ['calls'] }, 'Completed: it lasted 55 s.'],
  [
    'of another event',
    { request: { operation: 'templates.create' }, fields: ['message_template_status_update'] },
    'The request (templates.create) succeeded, and raised an event of message_template_status_update.',
  ],
  [
    'of several events',
    { fields: ['account_update', 'account_update'] },
    'The request succeeded, and raised 2 events of account_update.',
  ],
  [
    'of a sign-up that was agreed to',
    { request: { operation: 'sign_up.agree' }, fields: ['account_update'] },
    'The business agreed to the sign-up, and raised an event of account_update.',
  ],
  [
    'of a sign-up that was declined',
    { request: { operation: 'sign_up.decline' } },
    'The business declined the sign-up. It has raised no event, so there is no webhook.',
  ],
  [
    'of a sign-up that was left',
    { request: { operation: 'sign_up.choose_account' } },
    'The sign-up has neither been agreed to nor declined: its last step was: choose account. It has raised no event, so there is no webhook.',
  ],
  [
    'of the exchange of a code',
    { request: { operation: 'sign_up.exchange' } },
    'The request (sign_up.exchange) succeeded. It has raised no event, so there is no webhook.',
  ],
  [
    'without an event',
    { request: { operation: 'account.update' } },
    'The request (account.update) succeeded. It has raised no event, so there is no webhook.',
  ],
]

for (const [name, facts, sentence] of traces) {
  test(`a trace ${name}`, () => assert.equal(judgeTrace({ ...empty, ...facts }, now), sentence))
}

const toBusiness = { direction: 'USER_INITIATED' } as const
const open = { ending: null, accepted_time: null, ended_time: null }

const calls: readonly [name: string, facts: Partial<CallFacts>, sentence: string][] = [
  ['begun', { ...open, state: 'initiated' }, 'The business calls the user, whose phone does not ring yet.'],
  ['ringing', { ...open, state: 'ringing' }, "Ringing at the user's phone."],
  ['of a user', { ...open, ...toBusiness, state: 'initiated' }, 'The user calls. The business has not answered yet.'],
  [
    'of a user, prepared',
    { ...open, ...toBusiness, state: 'ringing' },
    'Ringing: the business has prepared its media, and has not accepted the call yet.',
  ],
  ['in progress', { ending: null, ended_time: null, state: 'accepted' }, 'In progress for 1 min.'],
  ['rejected', { ending: 'rejected' }, 'Rejected by the user.'],
  ['rejected by the business', { ...toBusiness, ending: 'rejected' }, 'Rejected by the business.'],
  ['not answered', { ending: 'timed_out' }, 'Not answered: the user did not pick up within 1 min 55 s.'],
  ['ended', { ending: 'failed' }, 'Ended before it was accepted: one side hung up.'],
]

for (const [name, facts, sentence] of calls) {
  test(`a call ${name}`, () => assert.equal(judgeCall({ ...call, ...facts }, now), sentence))
}

test('spans are written in two units at most', () => {
  const spans = [0, 999, 1000, 59_400, 60_000, 3_599_600, 3_660_000, 86_400_000, 90_000_000, -5]
  assert.deepEqual(spans.map(writeSpan), [
    '0 ms',
    '999 ms',
    '1 s',
    '59 s',
    '1 min',
    '60 min',
    '1 h 1 min',
    '1 d',
    '1 d 1 h',
    '0 ms',
  ])
})
