import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Engine, onBothDatabases, useTestDatabase } from '../../test/harness/databases.ts'
import { until } from '../../test/harness/until.ts'
import { systemRandom } from '../base/keys/random.ts'
import { silentLog } from '../base/log/log.ts'
import { type Clock, ManualClock, systemClock } from '../base/time/clock.ts'
import { hour, minute, second } from '../base/time/duration.ts'
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
  const owner = systemRandom.trace()
  const worker = new TimerWorker({ database, owner, clock, log: silentLog, handlers, lease })
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

  test('settling waits for a timer that was set and claimed while an earlier one was worked on', async (t) => {
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
    const worker = new TimerWorker({
      database,
      owner: 'one',
      clock: systemClock,
      log: silentLog,
      handlers,
      lease: 10 * second,
    })
    t.after(() => worker.stop())
    t.after(database.onDue(() => worker.wake()))
    await worker.settle()
    assert.equal(isDone, true)
    assert.equal(await count(), 0)
  })
})

onBothDatabases('a timer that a process holds', (engine: Engine) => {
  const held = useTestDatabase(engine)

  test('a timer that a process holds goes off by another process when its lease is over: after seconds, not a minute', async (t) => {
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

  test('a timer that a process holds goes off when the clock was set back by more than the length of its lease', async (t) => {
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

  test('a timer that a process holds stays with it for as long as it works on it, however short the lease', async (t) => {
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
    // A test that failed would wait at its end for what never ends.
    t.after(() => end())
    // A clock that is moved: a machine that stops for a moment must not end the lease.
    const clock = new ManualClock(Date.parse('2026-06-01T12:00:00Z'))
    const id = await setRing(database, clock)
    startWorker(t, database, clock, ringAs('first'), lease)
    await until(() => started.length === 1, 'the first process is at it')
    const second = startWorker(t, database, clock, ringAs('second'), lease)
    for (let halves = 0; halves < 10; halves++) {
      clock.advance(lease / 2)
      second.wake()
      await until(async () => {
        const rows = await database.read.query
          .selectFrom('timers')
          .select('leased_until')
          .where('id', '=', id)
          .execute()
        return rows[0]?.leased_until === clock.now() + lease
      }, 'the lease is renewed')
    }
    assert.deepEqual(started, ['first'])
    end()
    await until(
      async () =>
        (await database.read.query.selectFrom('timers').select('id').where('id', '=', id).execute()).length === 0,
      'it is done',
    )
    assert.deepEqual(started, ['first'])
  })

  test('a timer that a process holds holds up no other timer', async (t) => {
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

  test('a timer that is committed together with a write that fails does its work in the store once', async (t) => {
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
        failed ??= assert.rejects(database.transaction(fail), /no/)
      },
    })
    await worker.settle()
    await failed
    const left = await database.read.query.selectFrom('timers').select('kind').execute()
    assert.deepEqual(left, [{ kind: 'later' }])
    assert.equal(finished, 1)
  })
})

/** A process with a lease clock of its own, whose acts end when the test says so. */
class PausableProcess {
  readonly leaseClock: ManualClock
  readonly worker: TimerWorker
  /** Whether its clock can be relied on. */
  mayWork = true
  begun = 0
  finished = 0
  noted = 0
  transactions = 0
  #pause: PromiseWithResolvers<void> | undefined
  readonly #act = Promise.withResolvers<void>()

  constructor(t: TestContext, database: Database, owner: string, time: number, lease: number) {
    this.leaseClock = new ManualClock(time)
    const ring: TimerHandler = {
      act: () => {
        this.begun += 1
        return this.#act.promise
      },
      finish: async () => {
        this.finished += 1
      },
      noteFailure: async () => {
        this.noted += 1
      },
      retryDelay: () => minute,
    }
    const transaction: Database['transaction'] = async (work, options) => {
      const result = await database.transaction(work, options)
      this.transactions += 1
      await this.#pause?.promise
      return result
    }
    this.worker = new TimerWorker({
      ...{ owner, lease, leaseClock: this.leaseClock, clock: systemClock, log: silentLog },
      database: Object.assign(Object.create(database), { transaction }),
      handlers: { ring },
      trust: { mayWork: () => this.mayWork, mayDelete: () => this.mayWork },
    })
    t.after(() => {
      this.endAct()
      this.goOn()
      return this.worker.stop()
    })
    this.worker.start()
  }

  /** After its next transaction it does nothing more. */
  standStill(): void {
    this.#pause = Promise.withResolvers()
  }

  goOn(): void {
    this.#pause?.resolve()
    this.#pause = undefined
  }

  endAct(): void {
    this.#act.resolve()
  }

  failAct(): void {
    this.#act.reject(new Error('no'))
  }
}

onBothDatabases(
  'a process that was paused for longer than its lease, and whose timer another one took over',
  (engine) => {
    const held = useTestDatabase(engine)
    const start = Date.parse('2026-06-01T12:00:00Z')

    async function readTimer(id: string) {
      const { query } = held.database.read
      const columns = ['leased_until', 'lease_owner', 'attempts'] as const
      return query.selectFrom('timers').select(columns).where('id', '=', id).executeTakeFirst()
    }

    /** Both processes are at it: the first was paused meanwhile. */
    async function takeOver(t: TestContext, lease: number, later: number) {
      const id = await setRing(held.database, systemClock)
      const paused = new PausableProcess(t, held.database, 'paused', start, lease)
      await until(() => paused.begun === 1, 'the first has begun')
      const heir = new PausableProcess(t, held.database, 'heir', start + later, lease)
      await until(() => heir.begun === 1, 'the second has taken it over')
      const leased_until = start + later + lease
      assert.deepEqual(await readTimer(id), { leased_until, lease_owner: 'heir', attempts: 0 })
      return { id, paused, heir, leased_until }
    }

    test('a process that was paused for longer than its lease, and whose timer another one took over: does not finish it', async (t) => {
      const { id, paused, heir } = await takeOver(t, hour, hour)
      const before = paused.transactions
      paused.endAct()
      await until(() => paused.transactions > before, 'the first has tried to')
      assert.equal((await readTimer(id))?.lease_owner, 'heir')
      heir.endAct()
      await until(() => heir.finished === 1, 'the second has')
      await until(async () => (await readTimer(id)) === undefined, 'the timer is gone')
      assert.equal(paused.finished, 0)
    })

    test('a process that was paused for longer than its lease, and whose timer another one took over: does not postpone it', async (t) => {
      const { id, paused, heir, leased_until } = await takeOver(t, hour, hour)
      const before = paused.transactions
      paused.failAct()
      await until(() => paused.transactions > before, 'the first has tried to')
      assert.deepEqual(await readTimer(id), { leased_until, lease_owner: 'heir', attempts: 0 })
      assert.equal(paused.noted, 0)
      heir.failAct()
      await until(async () => (await readTimer(id))?.attempts === 1, 'the second does')
      assert.deepEqual(await readTimer(id), { leased_until: 0, lease_owner: null, attempts: 1 })
      assert.equal(heir.noted, 1)
    })

    test('a process that was paused for longer than its lease, and whose timer another one took over: does not renew its lease', async (t) => {
      const { id, paused, heir, leased_until } = await takeOver(t, second, second)
      const renewals = heir.transactions
      heir.standStill()
      await until(() => heir.transactions > renewals, 'the second renews no more either')
      const before = paused.transactions
      await until(() => paused.transactions > before + 1, 'the first has renewed what is its own')
      assert.deepEqual(await readTimer(id), { leased_until, lease_owner: 'heir', attempts: 0 })
    })

    test('a process that was paused for longer than its lease, and whose timer another one took over: does not begin it, when it had only claimed it', async (t) => {
      const id = await setRing(held.database, systemClock)
      const paused = new PausableProcess(t, held.database, 'paused', start, hour)
      paused.standStill()
      await until(async () => (await readTimer(id))?.lease_owner === 'paused', 'the first has claimed it')
      const heir = new PausableProcess(t, held.database, 'heir', start + hour, hour)
      await until(() => heir.begun === 1, 'the second has taken it over')
      paused.leaseClock.advance(hour)
      const before = paused.transactions
      paused.goOn()
      await until(() => paused.transactions > before, 'the first has looked whether it still holds it')
      await paused.worker.settle()
      assert.equal(paused.begun, 0)
      heir.endAct()
      await until(() => heir.finished === 1, 'the second has done it')
    })

    test('a process that was paused for longer than its lease, and whose timer another one took over: does not begin it, when its machine was suspended meanwhile and its clock of leases stood still', async (t) => {
      const id = await setRing(held.database, systemClock)
      const suspended = new PausableProcess(t, held.database, 'suspended', start, hour)
      suspended.standStill()
      await until(async () => (await readTimer(id))?.lease_owner === 'suspended', 'the first has claimed it')
      const heir = new PausableProcess(t, held.database, 'heir', start + hour, hour)
      await until(() => heir.begun === 1, 'the second has taken it over')
      suspended.mayWork = false
      suspended.endAct()
      suspended.goOn()
      await suspended.worker.settle()
      assert.equal(suspended.begun, 0)
      heir.endAct()
      await until(() => heir.finished === 1, 'the second has done it')
    })
  },
)
