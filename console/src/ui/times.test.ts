import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeAgo, writeAhead, writeDue, writeSpan } from './times.ts'

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

const offsets = [
  [0, undefined],
  [-400, undefined],
  [3_599_981, '1 h ahead'],
  [3_600_000, '1 h ahead'],
  [86_400_012, '1 d ahead'],
  [-65_000, '1 min 5 s behind'],
] as const

for (const [milliseconds, text] of offsets) {
  test(`a clock with an offset of ${milliseconds} ms is ${text ?? 'right'}`, () =>
    assert.equal(writeAhead(milliseconds), text))
}

const now = Date.parse('2026-11-18T12:00:00.000Z')
const moments = [
  ['2026-11-18T11:00:00.000Z', 'due now', '1 h ago'],
  ['2026-11-18T12:00:00.400Z', 'due now', 'just now'],
  ['2026-11-18T12:00:26.000Z', 'in 26 s', 'just now'],
  ['2026-11-18T12:02:05.900Z', 'in 2 min 5 s', 'just now'],
  ['2026-11-18T11:59:12.000Z', 'due now', '48 s ago'],
] as const

for (const [at, due, ago] of moments) {
  test(`seen from noon, ${at} is ${due} or ${ago}`, () => {
    assert.deepEqual([writeDue(at, now), writeAgo(at, now)], [due, ago])
  })
}
