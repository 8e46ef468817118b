import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeMigratedStore } from '../../test/harness/databases.ts'
import { until } from '../../test/harness/until.ts'
import { systemClock } from '../base/clock.ts'
import { minute } from '../base/duration.ts'
import type { Database } from '../db/database.ts'
import type { WaitingDelivery } from './due.ts'
import { HeldLane } from './held-lane.ts'
import { Recorder } from './recorder.ts'

const owner = 'this process'
const address = { id: 'a lane', app_id: '3000000000000001', callback_url: 'https://example.com/' }

test('outcomes that come in while others are stored wait for the next time', async (t) => {
  const { database, place } = await makeMigratedStore('sqlite', systemClock)
  t.after(async () => {
    await database.close()
    await place.remove()
  })
  const unused = { leased_until: 0, paused_until: 0, failures: 0, next_due: null }
  await database.transaction(({ query }) =>
    query
      .insertInto('lanes')
      .values({ ...address, ...unused, lease_owner: owner })
      .execute(),
  )
  const claim = { ...address, origin: 'https://example.com', isFailing: false }
  const leasedUntil = systemClock.now() + minute
  const lane = new HeldLane({ ...address, failures: 0 }, { claim, leasedUntil, concurrency: 4 })
  const times: number[] = []
  // As under load: there is always another one.
  const execute: Database['execute'] = (statement, parameters) => {
    times.push(performance.now())
    if (times.length < 5) addOne()
    return database.execute(statement, parameters)
  }
  const recorder = new Recorder({
    database: { ...database, execute },
    clock: systemClock,
    lease: { owner, milliseconds: minute, clock: systemClock },
    held: () => [lane],
    holdsIdle: () => true,
    emit: ({ kind }) => assert.equal(kind, 'confirmed'),
  })
  const addOne = () => {
    const id = times.length + 1
    const delivery = {
      id,
      lane_id: lane.id,
      conversation: `${id}`,
      previous_id: null,
      attempts: 0,
      earlier_attempts: 0,
    }
    lane.queueFound([delivery as unknown as WaitingDelivery], 0, performance.now())
    lane.holdPost(lane.beginPost(1), 1)
    recorder.note(lane)
  }
  addOne()
  await until(() => times.length === 5 && recorder.isQuiet, 'five records')
  const distances = times.slice(1).map((time, index) => time - (times[index] as number))
  // Timers go by whole milliseconds.
  assert.ok(Math.min(...distances) >= 20, `${distances}`)

  addOne()
  await recorder.settle()
  assert.equal(lane.unrecorded, 0, 'settling stores it')
})
