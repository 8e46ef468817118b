import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from './clock.ts'
import { minute, second } from './duration.ts'
import { ClockWatch, isLeaseOver } from './lease.ts'

const now = Date.parse('2026-06-01T12:00:00Z')
const length = 10 * second

test('a lease is over when its time has come', () => {
  assert.equal(isLeaseOver(now + 1, now, length), false)
  assert.equal(isLeaseOver(now, now, length), true)
  assert.equal(isLeaseOver(0, now, length), true)
})

test('a lease is over when the clock was set back by more than its length since it was taken', () => {
  const until = now + length
  assert.equal(isLeaseOver(until, now - 10 * minute, length), true)
  assert.equal(isLeaseOver(until, now - length - 1, length), true)
})

test('a lease of a machine whose clock is ahead by less than its length holds', () => {
  assert.equal(isLeaseOver(now + length + 500, now, length), false)
  assert.equal(isLeaseOver(now + 2 * length, now, length), false)
})

test('a clock that was set back is noticed once', () => {
  const clock = new ManualClock(now)
  const watch = new ClockWatch(clock)
  clock.advance(second)
  assert.equal(watch.stepBack(), 0)
  clock.advance(-10 * minute)
  assert.equal(watch.stepBack(), 10 * minute)
  assert.equal(watch.stepBack(), 0)
})

test('a clock that was ahead for a while was set back by all that it was ahead, and one that was behind not at all', () => {
  const clock = new ManualClock(now)
  const watch = new ClockWatch(clock)
  clock.advance(10 * minute)
  watch.keepHighest()
  clock.advance(-3 * minute)
  watch.keepHighest()
  clock.advance(-7 * minute)
  assert.equal(watch.stepBack(), 10 * minute)
  clock.advance(-5 * minute)
  watch.keepHighest()
  clock.advance(5 * minute)
  assert.equal(watch.stepBack(), 0)
})
