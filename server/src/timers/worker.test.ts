import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases, useTestDatabase } from '../../test/harness/databases.ts'
import { ManualClock } from '../base/clock.ts'
import { minute } from '../base/duration.ts'
import { silentLog } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import { setTimer } from './set.ts'
import { TimerWorker } from './worker.ts'

onBothDatabases('a timer that a process held when it died', (engine) => {
  const held = useTestDatabase(engine)

  test('goes off at the next start where one process owns the store, and otherwise when the lease is over', async () => {
    const { database } = held
    const clock = new ManualClock(Date.parse('2026-06-01T12:00:00Z'))
    await database.transaction(async (tx) => {
      const id = await setTimer(tx, systemRandom, { kind: 'ring', due_time: clock.now(), payload: {} })
      const lease = { leased_until: clock.now() + minute }
      await tx.query.updateTable('timers').set(lease).where('id', '=', id).execute()
    })
    let rung = 0
    const finish = async () => {
      rung++
    }
    const handlers = { ring: { finish, retryDelay: () => minute } }
    const worker = new TimerWorker(database, clock, silentLog, handlers, () => {})
    worker.start()
    await worker.settle()
    assert.equal(rung, engine === 'sqlite' ? 1 : 0)
    clock.advance(minute)
    await worker.settle()
    await worker.stop()
    assert.equal(rung, 1)
  })
})
