import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { makeMigratedStore } from '../../../test/harness/databases.ts'
import { testLong } from '../../../test/harness/form.ts'
import { until } from '../../../test/harness/until.ts'
import { systemClock } from '../../base/time/clock.ts'
import { minute } from '../../base/time/duration.ts'
import type { Database } from '../../db/database.ts'
import type { WaitingDelivery } from '../rules/waiting-delivery.ts'
import { HeldLane } from './held-lane.ts'
import type { WorkerEvent } from './lane-events.ts'
import { Recorder } from './recorder.ts'

const owner = 'this process'
const address = { id: 'a lane', app_id: '3000000000000001', callback_url: 'https://example.com/' }
const claim = { ...address, origin: 'https://example.com', isFailing: false }

interface Tools {
  readonly lane: HeldLane
  readonly recorder: Recorder
  /** What the recorder has reported. */
  readonly events: WorkerEvent['kind'][]
  /** Something to store: a delivery that has to wait. */
  addOne(): void
}

/** A recorder of one lane, whose statements `execute` sees first. */
async function makeTools(t: TestContext, around: (database: Database) => Database['execute']): Promise<Tools> {
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
  const leasedUntil = systemClock.now() + minute
  const lane = new HeldLane({ ...address, failures: 0 }, { claim, leasedUntil, concurrency: 4 })
  const events: WorkerEvent['kind'][] = []
  const recorder = new Recorder({
    database: { ...database, execute: around(database) },
    clock: systemClock,
    lease: { owner, milliseconds: minute, clock: systemClock },
    held: () => [lane],
    holdsIdle: () => true,
    emit: ({ kind }) => events.push(kind),
  })
  let added = 0
  return {
    lane,
    recorder,
    events,
    addOne() {
      added += 1
      const delivery = { id: added, lane_id: lane.id, conversation: `${added}`, previous_id: null }
      const counts = { attempts: 0, earlier_attempts: 0 }
      lane.queueFound([{ ...delivery, ...counts } as unknown as WaitingDelivery], 0, performance.now())
      lane.holdPost(lane.beginPost(1), 1)
      recorder.note(lane)
    },
  }
}

suite('the recorder', () => {
  test('the recorder of outcomes stores everything before it has settled', async (t) => {
    const { lane, recorder, events, addOne } = await makeTools(t, ({ execute }) => execute)
    addOne()
    addOne()
    await recorder.settle()
    assert.deepEqual([lane.unrecorded, recorder.isQuiet, events], [0, true, ['confirmed']])
  })

  test('the recorder of outcomes leaves a lane whose row is locked for later, and settles without it', async (t) => {
    let isLocked = true
    const { lane, recorder, events, addOne } = await makeTools(t, ({ execute }) => {
      const lockedRow = { id: address.id, what: 'lane_locked', delivery: null }
      return ((statement, parameters) =>
        isLocked ? Promise.resolve([lockedRow]) : execute(statement, parameters)) as Database['execute']
    })
    addOne()
    await recorder.settle()
    assert.deepEqual([lane.phase, lane.unrecorded, recorder.isQuiet], ['stuck', 1, true])
    recorder.tick()
    await recorder.settle()
    assert.equal(lane.phase, 'stuck', 'it is still locked')
    isLocked = false
    recorder.tick()
    await recorder.settle()
    assert.deepEqual([lane.phase, lane.unrecorded], ['working', 0])
    assert.deepEqual(new Set(events), new Set(['confirmed']))
  })

  test('the recorder of outcomes tries a lane whose row was locked for a moment again by itself', async (t) => {
    let locks = 2
    const { lane, addOne } = await makeTools(t, ({ execute }) => {
      const lockedRow = { id: address.id, what: 'lane_locked', delivery: null }
      return ((statement, parameters) =>
        locks-- > 0 ? Promise.resolve([lockedRow]) : execute(statement, parameters)) as Database['execute']
    })
    addOne()
    await until(() => lane.unrecorded === 0, 'it is stored')
    assert.deepEqual([lane.phase, locks], ['working', -1])
  })

  test('the recorder of outcomes drops a lane that is not ours any more, and keeps one while the store fails', async (t) => {
    const answers: (() => Promise<object[]>)[] = [
      () => Promise.reject(Object.assign(new Error('disk full'), { errcode: 13 })),
      () => Promise.resolve([]),
    ]
    const { lane, recorder, events, addOne } = await makeTools(
      t,
      () => (() => (answers.shift() as () => Promise<object[]>)()) as Database['execute'],
    )
    addOne()
    await until(() => events.includes('failed'), 'the failure is reported')
    assert.deepEqual([lane.unrecorded, lane.phase], [1, 'working'])
    recorder.tick()
    await until(() => events.includes('taken_over'), 'the loss is reported')
  })

  // It measures times: on a busy machine the first record comes late, and the second soon after it.
  testLong(
    'the recorder of outcomes lets outcomes that come in while others are stored wait for the next time',
    async (t) => {
      const times: number[] = []
      // As under load: there is always another one.
      const { recorder, addOne } = await makeTools(t, ({ execute }) => (statement, parameters) => {
        times.push(performance.now())
        if (times.length < 5) addOne()
        return execute(statement, parameters)
      })
      addOne()
      await until(() => times.length === 5 && recorder.isQuiet, 'five records')
      const distances = times.slice(1).map((time, index) => time - (times[index] as number))
      // Timers go by whole milliseconds.
      assert.ok(Math.min(...distances) >= 20, `${distances}`)
    },
  )
})
