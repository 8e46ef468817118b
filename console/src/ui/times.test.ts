import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeSpan } from './times.ts'

const spans = [
  [0, '0 ms'],
  [999, '999 ms'],
  [1000, '1 s'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [-86_400_000, '1 d'],
  [7 * 86_400_000 + 3_600_000 + 5, '7 d 1 h'],
] as const

for (const [milliseconds, text] of spans) {
  test(`a duration of ${milliseconds} ms is ${text}`, () => assert.equal(writeSpan(milliseconds), text))
}
