import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findLevel } from './sound-level.ts'

function tone(amplitude: number, from = 0, to = 8192): Float32Array {
  return Float32Array.from({ length: 8192 }, (_, at) => (at >= from && at < to ? amplitude * Math.sin(at / 10) : 0))
}

test('a meter shows how loud the loudest part is, up to 1', () => {
  assert.equal(findLevel(tone(0)), 0)
  assert.equal(findLevel(tone(1)), 1)
  assert.ok(findLevel(tone(0.1)) > 0.2 && findLevel(tone(0.1)) < 0.25)
  assert.ok(findLevel(tone(0.1, 5000, 6000)) > 0.15, 'a beep of 20 ms')
  assert.ok(findLevel(tone(0.003)) < 0.02, 'the noise of a quiet room is silence')
})
