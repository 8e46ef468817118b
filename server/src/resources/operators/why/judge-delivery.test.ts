import assert from 'node:assert/strict'
import { test } from 'node:test'
import { day, minute, second } from '../../../base/time/duration.ts'
import type { DeliveryDetails, DeliveryFacts } from './facts.ts'
import { findVerdict, judgeDelivery } from './judge-delivery.ts'

const now = Date.parse('2026-06-01T12:00:00Z')

const waiting: DeliveryFacts = {
  id: 4711,
  event_id: 1,
  account_id: '1000000000000001',
  conversation: '4000000000000001/16505551234',
  lane_id: 'lane',
  app_id: '3000000000000001',
  app_name: 'Shrub CRM',
  callback_url: 'http://127.0.0.1:9000/hook',
  failures: 0,
  paused_until: 0,
  stopped_until: 0,
  leased_until: 0,
  isCurrent: true,
  state: 'waiting',
  attempts: 0,
  isReplayed: false,
  due_time: now,
  started_time: now,
  finished_time: null,
  isEmptied: false,
}
const refused = { status: 503, problem: 'it answered 503' }
const silent = { status: null, problem: null }
const ahead = { id: 4710, attempts: 3, due_time: now + 24 * second, problem: 'it answered 503' }
const withAny = 'with any one of its webhooks: the others follow when it takes one.'
const inSeconds = (seconds: number) => `in ${seconds} s, at 2026-06-01 12:00:${seconds} UTC`

const cases: readonly [
  name: string,
  facts: Partial<DeliveryFacts>,
  details: DeliveryDetails,
  verdict: string,
  sentence: string,
][] = [
  [
    'delivered at once',
    { state: 'delivered', attempts: 1, finished_time: now + 12 },
    {},
    'delivered',
    'Delivered at the first attempt, 12 ms after the event.',
  ],
  [
    'delivered after failures',
    { state: 'delivered', attempts: 3, finished_time: now + 35 * second },
    {},
    'delivered',
    'Delivered at attempt 3, 35 s after the event.',
  ],
  [
    'delivered by a replay',
    { state: 'delivered', attempts: 1, isReplayed: true, finished_time: now + 5 },
    {},
    'delivered',
    'Delivered at the first attempt since it was replayed, 5 ms after that.',
  ],
  [
    'delivered to a former callback by a subscriber that is paused and down now',
    { state: 'delivered', attempts: 1, finished_time: now, isCurrent: false, stopped_until: now + day, failures: 9 },
    {},
    'delivered',
    'Delivered at the first attempt, 0 ms after the event.',
  ],
  [
    'failing',
    { attempts: 2, due_time: now + 26 * second },
    { last: refused },
    'failing',
    `Failing: attempt 2 failed (it answered 503). The next attempt is ${inSeconds(26)}.`,
  ],
  [
    'failing without a response, and due',
    { attempts: 1 },
    { last: silent },
    'failing',
    'Failing: attempt 1 failed (no response). The next attempt is due now.',
  ],
  [
    'failing at a subscriber that is down',
    { attempts: 1, failures: 3, paused_until: now + 40 * second },
    { last: refused, lastSuccess: now - minute },
    'failing',
    `Failing: attempt 1 failed (it answered 503). The subscriber is down: it took no webhook since 2026-06-01 11:59:00 UTC. Its next attempt is ${inSeconds(40)}, ${withAny}`,
  ],
  [
    'failing at a callback that the app has no more',
    { attempts: 1, isCurrent: false },
    { last: refused },
    'failing',
    'Failing: attempt 1 failed (it answered 503). The next attempt is due now. The app has another callback by now: replay the webhook to send it there.',
  ],
  [
    'behind one that is refused',
    {},
    { ahead },
    'waiting',
    `Waiting for its first attempt: an earlier webhook of its conversation is being refused. Webhook 4710 comes first: its attempt 3 failed (it answered 503). The next attempt of that one is ${inSeconds(24)}.`,
  ],
  [
    'behind one that was not attempted',
    {},
    { ahead: { ...ahead, attempts: 0, problem: null } },
    'waiting',
    'Waiting for its turn: webhook 4710 of its conversation is sent first.',
  ],
  [
    'waiting for a subscriber that is down',
    { failures: 4, paused_until: now + 40 * second },
    {},
    'down',
    `Waiting: the subscriber is down. Its next attempt is ${inSeconds(40)}, ${withAny}`,
  ],
  [
    'behind one that is refused by a subscriber that is down',
    { failures: 4 },
    { ahead, lastSuccess: now - day },
    'down',
    `Waiting: the subscriber is down: it took no webhook since 2026-05-31 12:00:00 UTC. Webhook 4710 comes first: its attempt 3 failed (it answered 503). Its next attempt is due now, ${withAny}`,
  ],
  [
    'waiting because of Retry-After',
    { failures: 1, paused_until: now + 30 * second },
    {},
    'waiting',
    `Waiting for its first attempt, which is ${inSeconds(30)}: the subscriber asked to wait.`,
  ],
  ['due', {}, {}, 'waiting', 'Waiting for its first attempt, which is due now.'],
  [
    'due later',
    { due_time: now + 30 * second },
    {},
    'waiting',
    `Waiting for its first attempt, which is ${inSeconds(30)}.`,
  ],
  [
    'at a slow subscriber',
    { leased_until: now + second },
    {},
    'waiting',
    'Being sent, or next in turn: no response has come yet.',
  ],
  [
    'paused for a time',
    { stopped_until: now + 30 * second },
    { ahead },
    'paused',
    'Waiting: an operator paused this subscriber until 2026-06-01 12:00:30 UTC.',
  ],
  [
    'paused without an end, after a failure',
    { stopped_until: Date.parse('9999-12-31T23:59:59Z'), attempts: 2 },
    { last: refused },
    'paused',
    'Waiting: an operator paused this subscriber until it is resumed. Attempt 2 failed before that (it answered 503).',
  ],
  ['paused earlier', { stopped_until: now }, {}, 'waiting', 'Waiting for its first attempt, which is due now.'],
  [
    'refused for good',
    { state: 'failed', attempts: 1 },
    { last: { status: 410, problem: 'it answered 410' } },
    'failed',
    'Failed: it answered 410, which refuses a webhook for good. Replay it to send it again.',
  ],
  [
    'failed once and out of time',
    { state: 'failed', attempts: 1 },
    { last: refused },
    'failed',
    'Failed after 1 attempt, and no more are made: it answered 503. Replay it to send it again.',
  ],
  [
    'failed',
    { state: 'failed', attempts: 14 },
    { last: refused },
    'failed',
    'Failed after 14 attempts, and no more are made: it answered 503. Replay it to send it again.',
  ],
  [
    'expired',
    { state: 'failed' },
    {},
    'failed',
    'Expired: never attempted while the subscriber was down. Replay it to send it again.',
  ],
  [
    'withdrawn with the access',
    { state: 'withdrawn' },
    {},
    'withdrawn',
    "Withdrawn: the app's business lost its access to the account, the app was unlinked from it, or an operator gave up what waited after a restore.",
  ],
  [
    'held by an operator',
    { attempts: 2 },
    { heldSince: now - second, last: refused },
    'failing',
    'Waiting: nothing is sent since 2026-06-01 11:59:59 UTC, until an operator runs ./switchboard restored --release. Attempt 2 failed before that (it answered 503).',
  ],
  [
    'withdrawn with its content',
    { state: 'withdrawn', isEmptied: true },
    {},
    'withdrawn',
    'Withdrawn: its content was removed before it was delivered.',
  ],
]

for (const [name, facts, details, verdict, sentence] of cases) {
  test(`a webhook that is ${name}`, () => {
    const delivery = { ...waiting, ...facts }
    assert.equal(findVerdict(delivery, now), verdict)
    assert.equal(judgeDelivery(delivery, details, now), sentence)
  })
}
