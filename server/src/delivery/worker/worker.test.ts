import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { usualLease as lease, makeDeliveryWorker } from '../../../test/harness/delivery-worker.ts'
import { type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { type Subscriber, subscribe } from '../../../test/harness/subscriber.ts'
import { until } from '../../../test/harness/until.ts'
import { handInText, userOf } from '../../../test/harness/webhooks.ts'
import { strangerIds } from '../../../test/harness/world.ts'
import type { Database } from '../../db/database.ts'
import { Egress } from '../../egress/egress.ts'
import { resolveBySystem } from '../../egress/resolve.ts'
import { type AnnouncedLane, silentWaker, type Waker } from './waker.ts'
import type { DeliveryWorker, WorkerDeps } from './worker.ts'

const noStop = async () => undefined

const timeout = 600_000

/** The worker of a process of its own on the store of a server that has none. */
function makeWorker(t: TestContext, server: TestServer, given: Partial<WorkerDeps> = {}): DeliveryWorker {
  const { worker, egress } = makeDeliveryWorker(server, { timeout, ...given })
  t.after(() => worker.stop(0, () => egress.close()))
  return worker
}

/** A store whose statements and transactions a test sees first. */
function around(database: Database, seen: Partial<Pick<Database, 'execute' | 'transaction'>>): Database {
  return Object.assign(Object.create(database), seen)
}

describe('a worker of deliveries', () => {
  const server = useTestServer({ engine: 'postgres', env: { ROLE: 'api' } })

  async function raise(...names: string[]): Promise<void> {
    for (const name of names) assert.equal((await handInText(server, name)).status, 200)
  }

  function findLane({ url }: Subscriber) {
    return server.database.read.query
      .selectFrom('lanes')
      .select(['id', 'app_id', 'callback_url', 'leased_until'])
      .where('callback_url', '=', url)
      .executeTakeFirstOrThrow()
  }

  async function countWaiting(): Promise<number> {
    const waiting = server.database.read.query.selectFrom('deliveries').select('id').where('state', '=', 'waiting')
    return (await waiting.execute()).length
  }

  test('a worker of deliveries sends what did not leave because the clock was set, and what is behind it, when the clock is right again', async (t) => {
    const subscriber = await subscribe(t, server)
    let [isRight, mayLeave] = [true, false]
    const { clock } = server
    const egress = new Egress({ allowInternal: true, timeout, resolve: resolveBySystem, clock, userAgent: 'worker' })
    t.after(() => egress.close())
    // The clock is set while the first post waits for its connection: it may not leave then.
    const send: Egress['send'] = (post) => {
      if (mayLeave) return egress.send(post)
      isRight = false
      return egress.send({ ...post, mayLeave: () => false })
    }
    const worker = makeWorker(t, server, {
      trust: { mayWork: () => isRight, mayDelete: () => isRight },
      egress: { send, originOf: (url) => egress.originOf(url), userAgent: egress.userAgent },
    })
    await raise('set.1', 'set.2')
    worker.wake()
    await until(() => !isRight, 'a post has begun')
    await worker.settle()
    assert.deepEqual(subscriber.messageIds(), [])
    isRight = true
    mayLeave = true
    await raise('set.3')
    await until(async () => {
      worker.wake()
      return subscriber.posts.length === 3
    }, 'all are sent')
    assert.deepEqual(subscriber.messageIds(), ['set.1', 'set.2', 'set.3'])
    await worker.settle()
    assert.equal(await countWaiting(), 0)
  })

  test('a worker of deliveries stores what came of posts, and releases its lanes, though a stop meets a lock', async (t) => {
    const subscriber = await subscribe(t, server)
    let [locks, refusals] = [3, 3]
    const { database } = server
    await raise('stop.1')
    const lane = await findLane(subscriber)
    const execute: Database['execute'] = (statement, parameters) => {
      const isRecord = typeof parameters === 'object' && parameters !== null && 'deliveries' in parameters
      if (!isRecord || locks === 0) return database.execute(statement, parameters)
      locks -= 1
      return Promise.resolve([{ id: lane.id, what: 'lane_locked', delivery: null }] as never)
    }
    // An event is being raised for the lane.
    const transaction: Database['transaction'] = (work, options) => {
      if (refusals === 0) return database.transaction(work, options)
      refusals -= 1
      return Promise.resolve([] as never)
    }
    const worker = makeWorker(t, server, { database: around(database, { execute, transaction }) })
    worker.wake()
    await subscriber.whenPosted(1)
    await worker.stop(60_000, noStop)
    assert.deepEqual([locks, refusals, await countWaiting()], [0, 0, 0])
    assert.equal((await findLane(subscriber)).leased_until, 0)
  })

  test('a worker of deliveries sends nothing for a claim that took the store longer than its lease, when another process has claimed the lane since', async (t) => {
    const subscriber = await subscribe(t, server)
    await raise('slow.1')
    const { database } = server
    const lane = await findLane(subscriber)
    const setHolder = (lease_owner: string | null, leased_until: number) =>
      database.transaction(({ query }) =>
        query.updateTable('lanes').set({ lease_owner, leased_until }).where('id', '=', lane.id).execute(),
      )
    let isSlow = true
    const execute: Database['execute'] = async (statement, parameters) => {
      const isClaim = 'beyond' in parameters
      const rows = await database.execute(statement, parameters)
      if (isClaim && isSlow && rows.length > 0) {
        isSlow = false
        server.clock.advance(2 * lease)
        await setHolder('another', server.clock.now() + lease)
      }
      return rows
    }
    const worker = makeWorker(t, server, { database: around(database, { execute }) })
    worker.wake()
    await until(() => !isSlow, 'it was claimed')
    await worker.settle()
    assert.deepEqual(subscriber.messageIds(), [])
    await setHolder(null, 0)
    await worker.settle()
    assert.deepEqual(subscriber.messageIds(), ['slow.1'])
  })

  test('a worker of deliveries announces a lane that it cannot claim once, however many workers hear of it', async (t) => {
    const subscriber = await subscribe(t, server)
    const listeners: ((lanes: readonly AnnouncedLane[] | undefined) => void)[] = []
    let announced = 0
    const makeWaker = (index: number): Waker => ({
      ...silentWaker,
      announceLanes(lanes) {
        announced += 1
        for (const [other, listener] of listeners.entries()) if (other !== index) listener(lanes)
      },
      onLanes(listener) {
        listeners[index] = listener
      },
    })
    const workers = [0, 1, 2].map((index) => makeWorker(t, server, { waker: makeWaker(index) }))
    for (const worker of workers) worker.start()
    await raise('elsewhere.1')
    await Promise.all(workers.map((worker) => worker.settle()))
    // A subscriber that an operator has stopped: nobody can claim its lane.
    const stopped = { stopped_until: Number.MAX_SAFE_INTEGER }
    await server.database.transaction(({ query }) => query.updateTable('lanes').set(stopped).execute())
    await raise('elsewhere.2')
    const lane = await findLane(subscriber)
    workers[0]?.wakeLanes([{ ...lane, holder: null }])
    for (let round = 0; round < 5; round++) for (const worker of workers) await worker.settle()
    assert.deepEqual([announced, subscriber.messageIds()], [1, ['elsewhere.1']])
    await server.database.transaction(({ query }) => query.updateTable('lanes').set({ stopped_until: 0 }).execute())
    await Promise.all(workers.map((worker) => worker.settle()))
    assert.deepEqual(subscriber.messageIds(), ['elsewhere.1', 'elsewhere.2'])
  })

  test('a worker of deliveries sends an event at once that was raised while its lane was being released', async (t) => {
    const subscriber = await subscribe(t, server)
    const { database } = server
    let hasRaised = false
    const transaction: Database['transaction'] = (work, options) =>
      database.transaction(async (tx) => {
        const released = await work(tx)
        if (!hasRaised) {
          hasRaised = true
          await raise('release.2')
        }
        return released
      }, options)
    const worker = makeWorker(t, server, { database: around(database, { transaction }) })
    t.after(database.onDue(({ lanes }) => worker.wakeLanes(lanes)))
    // No poll helps it.
    await raise('release.1')
    await subscriber.whenPosted(2)
    assert.deepEqual(subscriber.messageIds(), ['release.1', 'release.2'])
    await worker.settle()
    assert.equal(await countWaiting(), 0)
  })

  test('a worker of deliveries reads past deliveries that it may not send any more and that somebody has locked', async (t) => {
    const subscriber = await subscribe(t, server)
    // More than one read finds.
    for (let index = 0; index < 40; index++) {
      assert.equal((await handInText(server, `past.${index}`, userOf(index))).status, 200)
    }
    const holder = new pg.Client({ connectionString: server.databaseUrl as string })
    await holder.connect()
    t.after(() => holder.end())
    await holder.query(`UPDATE deliveries SET account_id = '${strangerIds.account}' WHERE state = 'waiting'`)
    await holder.query(`BEGIN; SELECT id FROM deliveries WHERE state = 'waiting' FOR UPDATE`)
    await raise('past.last')
    const worker = makeWorker(t, server)
    worker.wake()
    await subscriber.whenPosted(1)
    await worker.settle()
    assert.deepEqual([subscriber.messageIds(), await countWaiting()], [['past.last'], 40])
    await holder.query('ROLLBACK')
    await worker.settle()
    assert.deepEqual([subscriber.messageIds(), await countWaiting()], [['past.last'], 0])
  })
})
