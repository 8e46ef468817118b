import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitMoments } from './moments-in-text.ts'

const cases = [
  ['', []],
  ['Read by the user.', [{ text: 'Read by the user.' }]],
  [
    'Next attempt in 5 s, at 2026-11-18 04:14:37 UTC.',
    [{ text: 'Next attempt in 5 s, at ' }, { at: '2026-11-18T04:14:37Z' }, { text: '.' }],
  ],
  [
    '2026-11-18 04:14:37 UTC to 2026-11-19 00:00:00 UTC',
    [{ at: '2026-11-18T04:14:37Z' }, { text: ' to ' }, { at: '2026-11-19T00:00:00Z' }],
  ],
  ['At 2026-11-18 04:14:37.', [{ text: 'At 2026-11-18 04:14:37.' }]],
  ['At 2026-99-18 04:14:37 UTC.', [{ text: 'At 2026-99-18 04:14:37 UTC.' }]],
] as const

for (const [sentence, pieces] of cases) {
  test(`the times in “${sentence}”`, () => assert.deepEqual(splitMoments(sentence), pieces))
}
