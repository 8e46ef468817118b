import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRange, writeLocal } from './time-ranges.ts'

const now = Date.parse('2026-11-18T12:00:30.500Z')

const ranges = [
  { since: null, until: null, range: {} },
  { since: '', until: '', range: {} },
  { since: '15m', until: null, range: { since: '2026-11-18T11:45:00.000Z' } },
  { since: '24h', until: null, range: { since: '2026-11-17T12:00:00.000Z' } },
  { since: '7d', until: null, range: { since: '2026-11-11T12:00:00.000Z' } },
  {
    since: '2026-11-18T10:00:00.000Z',
    until: '2026-11-18T11:00:00Z',
    range: { since: '2026-11-18T10:00:00.000Z', until: '2026-11-18T11:00:00.000Z' },
  },
  { since: 'yesterday', until: '99999d', range: {} },
]

for (const { since, until, range } of ranges) {
  test(`a range of time from ${JSON.stringify(since)} to ${JSON.stringify(until)}`, () => {
    assert.deepEqual(readRange(since, until, now), range)
  })
}

test('a time in a field of the browser names the same moment when it is read back', () => {
  const at = '2026-03-29T01:30:05.000Z'
  assert.equal(new Date(writeLocal(at)).toISOString(), at)
  assert.equal(writeLocal('no time'), '')
})
