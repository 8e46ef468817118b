import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Try } from '../../data/types.ts'
import { compareAttempts, writeHeaders } from './compare-attempts.ts'

function attempt(number: number, time: string, url: string): Try {
  const request = { method: 'POST' as const, url, headers: {}, body: null }
  return { number, time, duration: 3, problem: null, request, response: null }
}

test('each attempt is compared with the one before', () => {
  const compared = compareAttempts([
    attempt(1, '2026-11-18T12:00:00.000Z', 'http://a/'),
    attempt(2, '2026-11-18T12:00:05.250Z', 'http://a/'),
    attempt(3, '2026-11-18T12:01:00.000Z', 'http://b/'),
  ])
  assert.deepEqual(
    compared.map(({ number, after, isElsewhere }) => [number, after, isElsewhere]),
    [
      [1, undefined, false],
      [2, 5250, false],
      [3, 54_750, true],
    ],
  )
})

test('each header has its own line, a repeated header one for each value', () => {
  assert.equal(writeHeaders({ host: 'a', 'set-cookie': ['b', 'c'] }), 'host: a\nset-cookie: b\nset-cookie: c')
  assert.equal(writeHeaders(null), 'Not kept.')
})
