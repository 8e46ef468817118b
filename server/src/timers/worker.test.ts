import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Engine, onBothDatabases, useTestDatabase } from '../../test/harness/databases.ts'
import { until } from '../../test/harness/until.ts'
import { type Clock, ManualClock, systemClock } from '../base/clock.ts'
import { minute, second } from '../base/duration.ts'
import { silentLog } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import type { Database } from '../db/database.ts'
import { setTimer } from './set.ts'
import { type TimerHandler, TimerWorker } from './worker.ts'

function startWorker(
  t: TestContext,
  database: Database,
  clock: Clock,
  ring: Omit<TimerHandler, 'retryDelay'>,
  lease = 10 * second,
): TimerWorker {
  const handlers = { ring: { ...ring, retryDelay: () => minute } }
  const worker = new TimerWorker({ database, clock, log: silentLog, handlers, lease })
  t.after(() => worker.stop())
  worker.start()
  return worker
}

function setRing(database: Database, clock: Clock, due_time = clock.now()): Promise<string> {
  const tools = { clock, random: systemRandom }
  return database.transaction((tx) => setTimer(tx, tools, { kind: 'ring', due_time, payload: {} }))
}

async function leaseUntil(database: Database, id: string, leased_until: number): Promise<void> {
  await database.transaction(({ query }) =>
    query.updateTable('timers').set({ leased_until }).where('id', '=', id).execute(),
  )
}

onBothDatabases('settling', (engine: Engine) => {
  const held = useTestDatabase(engine)

  test('waits for a timer that was set and claimed while an earlier one was worked on', async (t) => {
    const { database } = held
    const tools = { clock: systemClock, random: systemRandom }
    const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>()
    const set = (kind: string) =>
      database.transaction((tx) => setTimer(tx, tools, { kind, due_time: systemClock.now(), payload: {} }))
    const count = async () => (await database.read.query.selectFrom('timers').select('id').execute()).length
    let isDone = false
    const retryDelay = () => minute
    const handlers = {
      cause: { finish: async (tx) => void (await setTimer(tx, tools, next())), retryDelay },
      slow: { act: () => hasBegun, retryDelay },
      consequence: {
        act: async () => {
          begin()
          await until(async () => (await count()) === 1, 'only this one is left')
          // Far more turns than it takes to find nothing else to do.
          for (let turn = 0; turn < 50; turn++) await count()
          isDone = true
        },
        retryDelay,
      },
    } satisfies Record<string, TimerHandler>
    const next = () => ({ kind: 'consequence', due_time: systemClock.now(), payload: {} })
    await set('cause')
    await set('slow')
    const worker = new TimerWorker({ database, clock: systemClock, log: silentLog, handlers, lease: 10 * second })
    t.after(() => worker.stop())
    t.after(database.onDue(() => worker.wake()))
    await worker.settle()
    assert.equal(isDone, true)
    assert.equal(await count(), 0)
  })
})

onBothDatabases('a timer that a process holds', (engine: Engine) => {
  const held = useTestDatabase(engine)

  test('goes off by another process when its lease is over: after seconds, not a minute', async (t) => {
    const { database } = held
    const clock = new ManualClock(Date.parse('2026-06-01T12:00:00Z'))
    await leaseUntil(database, await setRing(database, clock), clock.now() + 10 * second)
    let rung = 0
    const worker = startWorker(t, database, clock, {
      finish: async () => {
        rung++
      },
    })
    await worker.settle()
    clock.advance(10 * second - 1)
    await worker.settle()
    assert.equal(rung, 0)
    clock.advance(1)
    await worker.settle()
    assert.equal(rung, 1)
  })

  test('goes off when the clock was set back by more than the length of its lease', async (t) => {
    const { database } = held
    const clock = new ManualClock(Date.parse('2026-06-01T12:00:00Z'))
    await leaseUntil(database, await setRing(database, clock, clock.now() - 10 * minute), clock.now() + 10 * second)
    clock.advance(-10 * minute)
    let rung = 0
    const worker = startWorker(t, database, clock, {
      finish: async () => {
        rung++
      },
    })
    await worker.settle()
    assert.equal(rung, 1)
  })

  test('stays with it for as long as it works on it, however short the lease', async (t) => {
    const { database } = held
    const lease = 200
    const started: string[] = []
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
    const ringAs = (name: string) => ({
      act: () => {
        started.push(name)
        return mayEnd
      },
    })
    const id = await setRing(database, systemClock)
    startWorker(t, database, systemClock, ringAs('first'), lease)
    await until(() => started.length === 1, 'the first process is at it')
    const begun = systemClock.now()
    const second = startWorker(t, database, systemClock, ringAs('second'), lease)
    await until(() => {
      second.wake()
      return systemClock.now() > begun + 5 * lease
    }, 'several leases have passed')
    assert.deepEqual(started, ['first'])
    end()
    await until(
      async () =>
        (await database.read.query.selectFrom('timers').select('id').where('id', '=', id).execute()).length === 0,
      'it is done',
    )
    assert.deepEqual(started, ['first'])
  })

  test('holds up no other timer', async (t) => {
    const { database } = held
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
    let begun = 0
    startWorker(t, database, systemClock, {
      act: () => {
        begun++
        return begun === 1 ? mayEnd : Promise.resolve()
      },
    })
    t.after(() => end())
    await setRing(database, systemClock)
    await until(() => begun === 1, 'the slow one is at work')
    await setRing(database, systemClock)
    await until(() => begun === 2, 'the next one goes off meanwhile')
    end()
  })
})

onBothDatabases('a timer that is committed together with a write that fails', (engine: Engine) => {
  const held = useTestDatabase(engine)

  test('does its work in the store once, on SQLite without a savepoint: the group runs again', async (t) => {
    const { database } = held
    const tools = { clock: systemClock, random: systemRandom }
    const later = { kind: 'later', due_time: systemClock.now() + minute, payload: {} }
    let failed: Promise<unknown> | undefined
    let finished = 0
    await setRing(database, systemClock)
    const worker = startWorker(t, database, systemClock, {
      finish: async (tx) => {
        finished += 1
        await setTimer(tx, tools, later)
        const fail = () => Promise.reject(new Error('no'))
        failed ??= assert.rejects(database.transaction(fail, { mayRepeat: true }), /no/)
      },
    })
    await worker.settle()
    await failed
    const left = await database.read.query.selectFrom('timers').select('kind').execute()
    assert.deepEqual(left, [{ kind: 'later' }])
    assert.equal(finished, engine === 'sqlite' ? 2 : 1)
  })
})
