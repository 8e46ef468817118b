import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MinInterval } from './min-interval.ts'

/** Longer than any run of the tests: what waits for it does not come. */
const never = 1e8

test('of calls at a minimum interval the first comes in the next turn, another one not before its time', async () => {
  const interval = new MinInterval(never)
  await interval.next()
  let came = false
  const second = interval.next().then(() => {
    came = true
  })
  for (let turn = 0; turn < 10; turn++) await nextTurn()
  assert.equal(came, false)
  interval.skipWait()
  await second
})

test('another call at a minimum interval comes when its time has passed', async () => {
  const interval = new MinInterval(50)
  const started = performance.now()
  await interval.next()
  await interval.next()
  // Timers count whole milliseconds on both sides, so one may end two early.
  assert.ok(performance.now() - started >= 48)
})

test('whoever skips the wait does not wait, neither now nor the next time', async () => {
  const interval = new MinInterval(never)
  await interval.next()
  interval.skipWait()
  await interval.next()
})
