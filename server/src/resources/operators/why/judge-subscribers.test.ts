import assert from 'node:assert/strict'
import { test } from 'node:test'
import { second } from '../../../base/time/duration.ts'
import type { DeliveryFacts, LinkedApp } from './facts.ts'
import { groupBySubscriber, judgeConnected, judgeLinked, judgeSubscriber, noteNobody } from './judge-subscribers.ts'

const now = Date.parse('2026-06-01T12:00:00Z')

function webhook(id: number, facts: Partial<DeliveryFacts>, app = 'one'): DeliveryFacts {
  return {
    id,
    event_id: id,
    account_id: '1000000000000001',
    conversation: '4000000000000001/16505551234',
    lane_id: app,
    app_id: app,
    app_name: app,
    callback_url: `http://${app}.example`,
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
    ...facts,
  }
}
const delivered = (id: number, took = 10, attempts = 1) =>
  webhook(id, { state: 'delivered', attempts, finished_time: now + took })
const failing = (id: number) => webhook(id, { attempts: 1 })

const worst: readonly [name: string, webhooks: readonly DeliveryFacts[], id: number][] = [
  ['failing before waiting and delivered', [delivered(1), failing(2), webhook(3, {})], 2],
  ['the first that waits', [delivered(1), webhook(3, {}), webhook(2, {})], 2],
  ['what is lost before what fails', [failing(1), webhook(2, { state: 'failed', attempts: 4 })], 2],
  ['what was withdrawn before what fails', [failing(1), webhook(2, { state: 'withdrawn' })], 2],
  ['what failed before what was withdrawn', [webhook(1, { state: 'withdrawn' }), webhook(2, { state: 'failed' })], 2],
  ['the most attempts of those that arrived', [delivered(1, 900), delivered(2, 5, 2), delivered(3)], 2],
  ['the slowest of those that arrived at once', [delivered(1), delivered(2, 40), delivered(3)], 2],
]

for (const [name, webhooks, id] of worst) {
  test(`the worst of several webhooks is ${name}`, () => {
    assert.deepEqual(
      groupBySubscriber(webhooks, now).map((one) => one.worst.id),
      [id],
    )
  })
}

test('each subscriber is judged by its own webhooks alone', () => {
  const good = delivered(1)
  const bad = webhook(2, { attempts: 1 }, 'two')
  const paused = webhook(3, { stopped_until: now + second }, 'three')
  const [first, second_, third] = groupBySubscriber([bad, paused, good], now).map((one) =>
    judgeSubscriber(one, { last: { status: 503, problem: 'it answered 503' } }, now),
  )
  assert.deepEqual([first?.app_id, first?.state, first?.delivery_id], ['one', 'delivered', '1'])
  assert.equal(first?.sentence, 'Delivered at the first attempt, 10 ms after the event.')
  assert.deepEqual([second_?.app_id, second_?.state, second_?.delivery_id], ['two', 'failing', '2'])
  assert.deepEqual([third?.app_id, third?.state, third?.delivery_id], ['three', 'paused', '3'])
})

const lines: readonly [name: string, webhooks: readonly DeliveryFacts[], sentence: string][] = [
  [
    'all at the first attempt',
    [delivered(1), delivered(2, 40)],
    'All 2 webhooks were delivered at the first attempt, the slowest after 40 ms.',
  ],
  [
    'one after failures',
    [delivered(1), delivered(2, 6 * second, 2)],
    'All 2 webhooks were delivered; webhook 2 (status read to +1650) took 2 attempts and 6 s.',
  ],
  [
    'one failing',
    [delivered(1), failing(2), webhook(3, {})],
    'Failing: attempt 1 failed (it answered 503). The next attempt is due now. 1 of 3 webhooks delivered; this is status read to +1650.',
  ],
]

for (const [name, webhooks, sentence] of lines) {
  test(`several webhooks in one line: ${name}`, () => {
    const [judged] = groupBySubscriber(webhooks, now)
    assert.ok(judged)
    const details = { subject: 'status read to +1650', last: { status: 503, problem: 'it answered 503' } }
    assert.equal(judgeSubscriber(judged, details, now).sentence, sentence)
  })
}

const app: LinkedApp = {
  app_id: 'one',
  app_name: 'one',
  callback_url: 'http://one.example',
  fields: ['messages'],
  hasAccess: true,
}
const raised = { fields: ['messages'], hasEvents: true }

const linked: readonly [name: string, app: Partial<LinkedApp>, hasEvents: boolean, state: string, sentence: string][] =
  [
    [
      'without access',
      { hasAccess: false },
      true,
      'not_subscribed',
      "Gets no webhook: the app's business has no access to the account.",
    ],
    [
      'without a callback',
      { fields: null, callback_url: null },
      true,
      'not_subscribed',
      'Gets no webhook: the app is linked to the account, but has no callback. Subscribe it to messages.',
    ],
    [
      'subscribed to other fields',
      { fields: ['calls'] },
      false,
      'not_subscribed',
      'Gets no webhook: the app is linked to the account, but not subscribed to messages. Subscribe it to that field.',
    ],
    [
      'subscribed later',
      {},
      true,
      'not_subscribed',
      'Got no webhook: the app was not linked and subscribed to messages when this happened. It gets the next ones.',
    ],
    [
      'without any event',
      {},
      false,
      'none',
      'No webhook is recorded: none has been raised, or it was removed after WEBHOOK_KEEP.',
    ],
  ]

for (const [name, facts, hasEvents, state, sentence] of linked) {
  test(`an app that gets no webhook: ${name}`, () => {
    const verdict = judgeLinked({ ...app, ...facts }, { ...raised, hasEvents })
    assert.deepEqual([verdict.state, verdict.sentence, verdict.delivery_id], [state, sentence, null])
  })
}

for (const [name, fields, sentence] of [
  [
    'without a callback',
    null,
    'Gets no webhook: the event is for this app alone, which has no callback. Subscribe it to account_update.',
  ],
  [
    'without the field',
    ['messages'],
    'Gets no webhook: the event is for this app alone, which is not subscribed to account_update. Subscribe it to that field.',
  ],
  [
    'subscribed later',
    ['account_update'],
    'Got no webhook: the event is for this app alone, which was not subscribed to account_update when this happened. It gets the next ones.',
  ],
] as const) {
  test(`an app that gets no webhook about its connection: ${name}`, () => {
    const verdict = judgeConnected({ ...app, fields }, 'account_update')
    assert.deepEqual([verdict.state, verdict.sentence, verdict.delivery_id], ['not_subscribed', sentence, null])
  })
}

test('what is said where nobody gets a webhook', () => {
  const unserved = judgeLinked({ ...app, fields: ['calls'] }, raised)
  const [served] = groupBySubscriber([delivered(1)], now).map((one) => judgeSubscriber(one, {}, now))
  assert.ok(served)
  assert.equal(noteNobody([], raised), ' No app is linked to the account, so nobody gets its webhooks.')
  assert.equal(
    noteNobody([unserved], raised),
    ' No webhook was sent: no app was linked to the account and subscribed to messages.',
  )
  assert.equal(noteNobody([served, unserved], raised), '')
  assert.equal(noteNobody([], { ...raised, hasEvents: false }), '')
})
