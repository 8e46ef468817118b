import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Random, systemRandom } from '../../base/keys/random.ts'
import { day, hour, minute, second } from '../../base/time/duration.ts'
import { type FailedAttempt, planRetry, readRetryAfter } from './schedule.ts'

const delays = [5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 3 * hour, 6 * hour, 12 * hour, day]
const rules = { delays, giveUpAfter: 7 * day }
const raisedTime = Date.parse('2026-06-01T12:00:00Z')

/** Chance at its lowest, and at its highest. */
const least: Random = { ...systemRandom, integer: (min) => min }
const most: Random = { ...systemRandom, integer: (_, max) => max - 1 }

function waitAfter(attempt: Partial<FailedAttempt>, random: Random = least): number | string {
  const whole = { failures: 1, raisedTime, now: raisedTime, ...attempt }
  const next = planRetry(whole, rules, random)
  return next.kind === 'retry' ? next.time - whole.now : next.because
}

describe('a failed delivery', () => {
  for (const [failures, least_, most_] of [
    [1, 5 * second, 6 * second],
    [2, 30 * second, 36 * second],
    [3, 2 * minute, 144 * second],
    [4, 10 * minute, 12 * minute],
    [5, 30 * minute, 36 * minute],
    [6, hour, 72 * minute],
    [7, 3 * hour, 216 * minute],
    [8, 6 * hour, 432 * minute],
    [9, 12 * hour, 864 * minute],
    [10, day, 1728 * minute],
    [11, day, 1728 * minute],
    [500, day, 1728 * minute],
  ] as const) {
    test(`a failed delivery is tried again ${least_} to ${most_} ms after failure ${failures}`, () => {
      assert.equal(waitAfter({ failures }, least), least_)
      assert.equal(waitAfter({ failures }, most), most_)
    })
  }

  test('a failed delivery is tried again at different times, by chance', () => {
    const waits = Array.from({ length: 50 }, () => waitAfter({ failures: 5 }, systemRandom) as number)
    assert.ok(waits.every((wait) => wait >= 30 * minute && wait <= 36 * minute))
    assert.ok(new Set(waits).size > 40)
  })

  test('a failed delivery is tried again after the one delay there is', () => {
    const short = { delays: [200], giveUpAfter: day }
    for (const failures of [1, 2, 9]) {
      const next = planRetry({ failures, raisedTime, now: raisedTime }, short, least)
      assert.deepEqual(next, { kind: 'retry', time: raisedTime + 200 })
    }
  })

  for (const [retryAfter, wait] of [
    ['120', 120 * second],
    [' 120 ', 120 * second],
    ['0', 5 * second],
    ['4', 5 * second],
    ['86400', day],
    ['86401', day],
    ['9'.repeat(400), day],
    ['Mon, 01 Jun 2026 12:10:00 GMT', 10 * minute],
    ['Monday, 01-Jun-26 12:10:00 GMT', 10 * minute],
    ['Mon Jun  1 12:10:00 2026', 10 * minute],
    ['Wed, 01 Jul 2026 12:00:00 GMT', day],
    ['Mon, 01 Jun 2026 11:00:00 GMT', 5 * second],
    ['-5', 5 * second],
    ['1.5', 5 * second],
    ['soon', 5 * second],
    ['', 5 * second],
    ['2026-06-01T12:10:00Z', 5 * second],
    ['Mon, 99 Jun 2026 12:10:00 GMT', 5 * second],
  ] as const) {
    test(`a failed delivery is tried again after ${wait} ms when Retry-After is "${retryAfter.slice(0, 40)}"`, () => {
      assert.equal(waitAfter({ status: 503, retryAfter }), wait)
    })
  }

  test('a failed delivery is not tried sooner than the schedule says, whatever Retry-After says', () => {
    assert.equal(waitAfter({ failures: 6, status: 429, retryAfter: '1' }), hour)
  })

  test('a failed delivery ends with 410, at the first failure and at a later one', () => {
    assert.equal(waitAfter({ status: 410 }), 'gone')
    assert.equal(waitAfter({ failures: 7, status: 410, retryAfter: '5' }), 'gone')
  })

  for (const status of [undefined, 301, 400, 404, 409, 411, 429, 500, 503]) {
    test(`a failed delivery does not end with ${status ?? 'no answer'}`, () => {
      assert.equal(waitAfter(status === undefined ? {} : { status }), 5 * second)
    })
  }

  for (const [age, next] of [
    [6 * day, day],
    [6 * day + 1, day - 1],
    [7 * day - 1, 1],
    [7 * day, 'expired'],
    [30 * day, 'expired'],
  ] as const) {
    test(`${next === 'expired' ? 'ends' : `goes on after ${next} ms`} when it fails at an age of ${age} ms`, () => {
      assert.equal(waitAfter({ failures: 10, now: raisedTime + age }), next)
    })
  }

  test('a failed delivery ends when Retry-After would lead past the end', () => {
    const now = raisedTime + 7 * day - hour
    assert.equal(waitAfter({ failures: 1, now }), 5 * second)
    assert.equal(waitAfter({ failures: 1, now, retryAfter: '3601' }), 'expired')
  })
})

test('Retry-After that says nothing is undefined', () => {
  assert.equal(readRetryAfter(undefined, raisedTime), undefined)
  assert.equal(readRetryAfter('soon', raisedTime), undefined)
})
