import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LaneWatch } from './lane-watch.ts'

/** Reads a lane every 20 ms, and finds `found` deliveries each time; returns how many notices the other processes get. */
function read(watch: LaneWatch, from: number, to: number, found: number, own = 0): number {
  let notices = 0
  for (let now = from; now < to; now += 20) {
    watch.noteOwn(own)
    if (watch.noteRead(found, now)) notices += 1
  }
  return notices
}

test('a lane that gets much from other processes is read at intervals, and they get a notice twice a second', () => {
  const watch = new LaneWatch()
  assert.equal(watch.isOn(0), false)
  assert.equal(read(watch, 0, 3000, 3), 5)
  assert.equal(watch.isOn(3000), true)
  // They rely on it for a second after the last notice.
  assert.equal(watch.isOn(3600), true)
  assert.equal(watch.isOn(4100), false)
})

test('a lane that gets little, or much from its own process alone, is not', () => {
  const watch = new LaneWatch()
  assert.equal(read(watch, 0, 3000, 1), 0)
  assert.equal(read(watch, 3000, 6000, 5, 4), 0)
  assert.equal(watch.isOn(6000), false)
})

test('what came before a pause does not count', () => {
  const watch = new LaneWatch()
  watch.noteRead(500, 0)
  watch.noteRead(500, 100)
  assert.equal(watch.noteRead(1, 5000), false)
  assert.equal(read(watch, 5000, 8000, 1), 0)
})
