import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extendDown, extendUp, followRange, type Range, rangeAround, rangeAtEnd } from './message-range.ts'

const range = (from: number, to: number): Range => ({ from, to })

test('a chat begins with its newest messages', () => {
  assert.deepEqual(rangeAtEnd(5000), range(4960, 5000))
  assert.deepEqual(rangeAtEnd(3), range(0, 3))
})

test('a range grows upwards and lets go of what is far below, and the other way round', () => {
  const steps = [rangeAtEnd(1000)]
  for (let count = 0; count < 4; count++) steps.push(extendUp(steps.at(-1) ?? range(0, 0)))
  assert.deepEqual(steps.at(-1), range(800, 920))
  assert.deepEqual(extendDown(range(800, 920), 1000), range(840, 960))
  assert.deepEqual(extendDown(range(840, 960), 980), range(860, 980))
  assert.deepEqual(extendUp(range(20, 100)), range(0, 100))
})

test('a range around a message holds it', () => {
  assert.deepEqual(rangeAround(500, 1000), range(460, 540))
  assert.deepEqual(rangeAround(10, 1000), range(0, 80))
  assert.deepEqual(rangeAround(999, 1000), range(959, 1000))
})

const follows: readonly (readonly [string, Range, first: number, before: number, count: number, Range])[] = [
  ['a message arrives at the end', range(950, 1000), 950, 1000, 1001, range(950, 1001)],
  ['a message arrives at the end of a full range', range(880, 1000), 880, 1000, 1001, range(881, 1001)],
  ['a message arrives below what is read', range(100, 250), 100, 1000, 1001, range(100, 250)],
  ['an older page comes', range(0, 120), 50, 1000, 1050, range(50, 170)],
  ['an older page comes to a short chat at its end', range(0, 50), 50, 50, 100, range(50, 100)],
  ['the list was read anew', range(0, 50), -1, 50, 200, range(160, 200)],
  ['the first message comes', range(0, 0), 0, 0, 1, range(0, 1)],
]
for (const [name, before, first, was, count, wanted] of follows) {
  test(`${name}: the range follows`, () => assert.deepEqual(followRange(before, first, was, count), wanted))
}
