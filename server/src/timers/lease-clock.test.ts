import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../base/time/clock.ts'
import { minute, second } from '../base/time/duration.ts'
import { LeaseClock } from './lease-clock.ts'

const start = Date.parse('2026-06-01T12:00:00Z')

/** A clock of leases in a process whose own clock is a minute ahead of the database's. */
function makeLeaseClock() {
  const process = new ManualClock(start + minute)
  const monotonic = new ManualClock(0)
  const leaseClock = new LeaseClock(process, () => monotonic.now())
  const pass = (milliseconds: number) => {
    process.advance(milliseconds)
    monotonic.advance(milliseconds)
  }
  /** The database says `time` at once, or after `roundTrip`. */
  const compare = (time: number, roundTrip = 0) => {
    pass(roundTrip)
    leaseClock.compare({ time, monotonic: monotonic.now(), roundTrip })
  }
  return { process, leaseClock, pass, compare }
}

test("the clock of leases is that of the process until the clocks were compared, and then the database's", () => {
  const { leaseClock, pass, compare } = makeLeaseClock()
  assert.equal(leaseClock.now(), start + minute)
  compare(start)
  assert.equal(leaseClock.now(), start)
  pass(7 * second)
  assert.equal(leaseClock.now(), start + 7 * second)
})

test('the clock of leases does not move when somebody sets the clock of the process', () => {
  const { leaseClock, process, pass, compare } = makeLeaseClock()
  compare(start)
  process.advance(-10 * minute)
  pass(second)
  assert.equal(leaseClock.now(), start + second)
  process.advance(20 * minute)
  assert.equal(leaseClock.now(), start + second)
})

test('the clock of leases has whole milliseconds, as the store has', () => {
  const { leaseClock, pass, compare } = makeLeaseClock()
  compare(start, 5)
  pass(0.25)
  assert.equal(leaseClock.now(), start + 2)
})

test('the clock of leases follows the database, but no answer that was too slow to say more than is known', () => {
  const { leaseClock, compare } = makeLeaseClock()
  compare(start)
  // Eight seconds later the database answers with a time of four and a half seconds ago, which is some moment of the round trip.
  compare(start + 3500, 8 * second)
  assert.equal(leaseClock.now(), start + 8 * second)
  // Here no moment of the round trip would do: the database's clock was set, or the machine was suspended.
  compare(start + 30 * second, 2 * second)
  assert.equal(leaseClock.now(), start + 31 * second)
  compare(start + 31 * second + 40)
  assert.equal(leaseClock.now(), start + 31 * second + 40)
})
