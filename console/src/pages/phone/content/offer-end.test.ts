import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasEnded, writeEnd } from './offer-end.ts'

const now = Date.parse('2026-06-01T12:00:00Z')
const offer = (end: number | undefined) => ({ text: 'Spring sale', end })

test('an offer says how long it holds, to its last second, and then that it has ended', () => {
  assert.equal(writeEnd(offer(now + 2 * 86_400_000 + 3 * 3_600_000), now), 'Ends in 2 d 3 h')
  assert.equal(writeEnd(offer(now + 61_000), now), 'Ends in 1 min 1 s')
  assert.equal(writeEnd(offer(now + 1), now), 'Ends in 1 s')
  assert.equal(writeEnd(offer(now), now), 'This offer has ended')
  assert.deepEqual([hasEnded(offer(now + 1), now), hasEnded(offer(now), now)], [false, true])
})

test('an offer without an end does not end', () => {
  assert.equal(writeEnd(offer(undefined), now), undefined)
  assert.equal(hasEnded(offer(undefined), now), false)
})
