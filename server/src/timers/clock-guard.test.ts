import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onBothDatabases, useTestDatabase } from '../../test/harness/databases.ts'
import { silentLog } from '../base/log/log.ts'
import { ManualClock } from '../base/time/clock.ts'
import { day, minute, second } from '../base/time/duration.ts'
import type { Database } from '../db/database.ts'
import { ClockGuard } from './clock-guard.ts'

const start = Date.parse('2026-06-01T12:00:00Z')

/** A guard whose clocks the test sets: that of the process, the monotonic one, and the database's. */
async function startGuard(t: TestContext, database: Database) {
  const clock = new ManualClock(start)
  const monotonic = new ManualClock(0)
  const ofDatabase = new ManualClock(start)
  const guard = new ClockGuard({
    ...{ database, clock, log: silentLog, toRealTime: (time) => time },
    ...{ tolerance: minute, maxJump: 3 * day, lease: 10 * second },
    sources: {
      monotonic: () => monotonic.now(),
      ...(!database.isEmbedded && { ofDatabase: () => ofDatabase.now() }),
    },
  })
  t.after(() => guard.stop())
  await guard.check()
  return { guard, clock, monotonic, ofDatabase }
}

onBothDatabases('the guard of clocks', (engine) => {
  const held = useTestDatabase(engine)

  test('the guard of clocks lets nothing be done after a suspend of seconds until it has compared the clocks, and then at once', async (t) => {
    const { guard, clock, monotonic, ofDatabase } = await startGuard(t, held.database)
    for (const one of [clock, monotonic, ofDatabase]) one.advance(20 * second)
    assert.deepEqual([guard.mayWork(), guard.leaseClock.now()], [true, start + 20 * second])
    // Longer than a lease, and far less than the clocks may differ: the monotonic clock stood still.
    for (const one of [clock, ofDatabase]) one.advance(15 * second)
    const { promise: isReleased, resolve } = Promise.withResolvers<void>()
    guard.onReleased(resolve)
    assert.deepEqual([guard.mayWork(), guard.mayDelete()], [false, false])
    assert.equal(guard.leaseClock.now(), start + 20 * second, 'it cannot know')
    await isReleased
    assert.deepEqual([guard.mayWork(), guard.mayDelete()], [true, true])
    assert.equal(guard.leaseClock.now(), start + 35 * second)
  })

  test('the guard of clocks does not ask again for every small correction of the clock', async (t) => {
    const { guard, clock } = await startGuard(t, held.database)
    clock.advance(2 * second)
    assert.equal(guard.mayWork(), true)
    clock.advance(second)
    assert.equal(guard.mayWork(), false)
  })
})
