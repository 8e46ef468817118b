import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WriteLog } from './write-log.ts'

function logOf(...attempts: [began: number, ended: number, isDone: boolean][]): WriteLog {
  const log = new WriteLog()
  for (const [began, ended, isDone] of attempts) log.note({ began, ended, isDone })
  return log
}

test('the longest time without a write is found, whoever wrote before and behind it', () => {
  const log = logOf([0, 900, true], [950, 1400, true], [1300, 6400, false], [6450, 6500, true], [6510, 6600, true])
  assert.deepEqual(log.measure(1000, 7000), { withoutWrites: 5.1, untilAllSucceed: 5.4 })
})

test('a write that took long counts as trouble, and one before the disturbance does not', () => {
  const log = logOf([0, 500, false], [600, 3600, true], [3650, 3700, true])
  assert.deepEqual(log.measure(1000, 4000), { withoutWrites: 2.6, untilAllSucceed: 2.6 })
  assert.deepEqual(log.measure(3650, 4000), { withoutWrites: 0.05, untilAllSucceed: 0 })
})

test('a write that began before a moment does not show that writes succeed since', () => {
  const log = logOf([900, 1100, true])
  assert.equal(log.hasSucceededSince(1000), false)
  assert.equal(log.hasSucceededSince(899), true)
})
