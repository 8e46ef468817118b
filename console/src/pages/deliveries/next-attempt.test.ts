import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNextAttempt } from './next-attempt.ts'

const [past, now, soon, later] = [0, 1, 2, 3].map((hour) => `2026-06-01T0${hour}:00:00.000Z`) as [
  string,
  string,
  string,
  string,
]
const well = { paused_until: null, paused_by_operator: false }

const cases = [
  ['its own time, at a subscriber that is well', soon, well, soon],
  ['its own time, at a subscriber that is not listed', soon, undefined, soon],
  ['the time of a subscriber that is down, when that is later', past, { ...well, paused_until: later }, later],
  ['its own time, when that is later', later, { ...well, paused_until: soon }, later],
  ['none that is past', past, well, undefined],
  ['none while an operator paused the subscriber', soon, { paused_until: later, paused_by_operator: true }, undefined],
  ['none when it is over', null, well, undefined],
] as const

for (const [name, next_time, lane, expected] of cases) {
  test(`the next attempt of a webhook: ${name}`, () => {
    assert.equal(findNextAttempt({ next_time }, lane, Date.parse(now)), expected)
  })
}
