import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemRandom } from './random.ts'

describe('what is drawn', () => {
  const traces = Array.from({ length: 1000 }, () => systemRandom.trace())
  const ids = Array.from({ length: 1000 }, () => systemRandom.id(18))

  test('what is drawn has its form', () => {
    for (const trace of traces) assert.match(trace, /^[\da-f]{32}$/)
    for (const id of ids) assert.equal(Buffer.from(id, 'base64url').length, 18)
  })

  test('what is drawn comes once, and so do the parts of traces that are ids', () => {
    assert.equal(new Set(traces).size, traces.length)
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(new Set(traces.map((trace) => trace.slice(0, 16))).size, traces.length)
  })

  test('what is drawn begins alike where it is drawn together, so that it changes few pages of an index', () => {
    assert.ok(new Set(traces.map((trace) => trace.slice(0, 4))).size <= 9)
    assert.ok(new Set(ids.map((id) => id.slice(0, 4))).size <= 9)
    assert.ok(new Set(ids.map((id) => id.slice(0, 4))).size > 5)
  })
})
