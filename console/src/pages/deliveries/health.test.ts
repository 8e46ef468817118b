import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lane } from '../../data/types.ts'
import { hasFailed, judgeHealth, sortLanes, writeWaiting } from './health.ts'

const lane: Lane = {
  ...{ id: 'l', app_id: '3', app_name: 'Shrub CRM', callback_url: 'http://127.0.0.1/', conversations: 0, waiting: 0 },
  ...{ oldest_age: null, failures: 0, down: false, paused_until: null, paused_by_operator: false },
  ...{ subscribed: true, listener: false },
}

const healths = [
  [{}, 'Healthy', /^$/],
  [{ waiting: 3, oldest_age: 30 }, 'Healthy', /^$/],
  [{ waiting: 466, oldest_age: 31 }, 'Catching up', /did not fail, but older webhooks still wait/],
  [{ waiting: 466, oldest_age: 31, failures: 1 }, 'Failing', /^The last attempt failed\. /],
  [{ failures: 1 }, 'Failing', /^The last attempt failed\. /],
  [{ failures: 3 }, 'Failing', /^3 attempts failed in a row\. .*exponential backoff/],
  [{ failures: 12, down: true }, 'Down', /^12 attempts failed in a row\. Only one webhook at a time/],
  [{ failures: 12, down: true, paused_by_operator: true }, 'Paused', /until it is resumed/],
  [{ failures: 12, down: true, subscribed: false }, 'Not subscribed any more', /^No event goes there/],
  [{ failures: 12, down: true, subscribed: false, waiting: 2 }, 'Down', /^12 attempts failed in a row/],
] as const

for (const [state, word, meaning] of healths) {
  test(`a subscriber with ${JSON.stringify(state)} is ${word}, and that is explained`, () => {
    const health = judgeHealth({ ...lane, ...state })
    assert.equal(health.word, word)
    assert.match(health.meaning, meaning)
  })
}

test('what waits is counted, with the age of the oldest', () => {
  assert.equal(writeWaiting(lane), 'No webhook waits.')
  const write = (waiting: number, oldest_age: number, subscribed = true) =>
    writeWaiting({ waiting, oldest_age, subscribed })
  assert.equal(write(1, 65), '1 webhook waits, the oldest for 1 min 5 s.')
  assert.match(write(12, 7200), /^12 webhooks wait, .* for 2 h\.$/)
  assert.match(
    write(12, 7200, false),
    /^12 webhooks wait at an address that is not the app's callback now, .* for 2 h\.$/,
  )
})

test('unhealthy subscribers come first, and former subscribers last', () => {
  const lanes = [
    { ...lane, id: 'good' },
    { ...lane, id: 'former', failures: 9, down: true, subscribed: false },
    { ...lane, id: 'paused', paused_by_operator: true },
    { ...lane, id: 'few', failures: 2, waiting: 1 },
    { ...lane, id: 'many', failures: 2, waiting: 9, subscribed: false },
    { ...lane, id: 'late', waiting: 4, oldest_age: 600 },
    { ...lane, id: 'down', failures: 9, down: true },
  ]
  assert.deepEqual(
    sortLanes(lanes).map(({ id }) => id),
    ['down', 'many', 'few', 'paused', 'late', 'good', 'former'],
  )
})

test('a subscriber that is paused while it fails has still failed', () => {
  assert.equal(hasFailed(lane), false)
  assert.equal(hasFailed({ ...lane, failures: 1 }), true)
  assert.equal(hasFailed({ ...lane, down: true }), true)
})
