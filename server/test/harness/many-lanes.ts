import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { systemRandom } from '../../src/base/keys/random.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { applyWorld } from '../../src/world/apply.ts'
import { readWorld } from '../../src/world/read.ts'
import { BadSinks } from './bad-sinks.ts'
import { type RunningServer, startCommand } from './command.ts'
import { startCrowded, writeAs } from './crowd.ts'
import { makeMigratedStore, onBothDatabases } from './databases.ts'
import { userOf } from './webhooks.ts'
import { ids, testWorld, tokens } from './world.ts'

/** Nobody listens there. */
const closed = 'http://127.0.0.1:9'
const second = 1000
const minute = 60 * second

/** The sizes of the tests of many lanes. */
export interface ManyLanes {
  /** Lanes of subscribers that are down beside an idle process, and for how many seconds it is measured. */
  readonly idle: number
  readonly watched: number
  /** The same beside writes. */
  readonly beside: number
  /** Subscribers of the events, of which half are dead. */
  readonly subscribers: number
}

interface LaneOptions {
  readonly count: number
  /** Milliseconds until the first of them is probed, and from then until all of them were. */
  readonly after?: number
  readonly within: number
}

/** The state of a subscriber that has been down for long. */
const failures = 50

/** A server on a store with lanes of subscribers that are down, each with a waiting delivery. */
async function startWithLanes(
  t: TestContext,
  engine: 'sqlite' | 'postgres',
  { count, after = 0, within }: LaneOptions,
): Promise<RunningServer> {
  const { place, database } = await makeMigratedStore(engine, systemClock)
  await applyWorld(database, systemClock, systemRandom, readWorld(JSON.stringify(testWorld()), 'test world'))
  const now = Date.now()
  await database.transaction(async (tx) => {
    const event = await tx.query
      .insertInto('events')
      .values({ account_id: ids.account, phone_number_id: null, field: 'messages', value: '{}', created_time: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    for (let first = 0; first < count; first += 500) {
      const lanes = Array.from({ length: Math.min(500, count - first) }, (_, index) => first + index)
      const dueOf = (index: number) => now + after + Math.floor((within * index) / count)
      await tx.query
        .insertInto('lanes')
        .values(
          lanes.map((index) => ({
            id: `lane.${index}`,
            app_id: ids.application,
            callback_url: `${closed}/${index}`,
            leased_until: 0,
            lease_owner: null,
            paused_until: dueOf(index),
            failures,
            next_due: dueOf(index),
          })),
        )
        .execute()
      await sql`
        INSERT INTO deliveries (event_id, lane_id, account_id, app_id, field, conversation, state, attempts, earlier_attempts,
          due_time, created_time, started_time)
        SELECT ${event.id}, lanes.id, '1', ${ids.application}, 'messages', lanes.id, 'waiting', 0, 0, CAST(${now} AS BIGINT),
          CAST(${now} AS BIGINT), CAST(${now} AS BIGINT)
        FROM lanes WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.lane_id = lanes.id)`.execute(tx.query)
    }
  })
  await database.close()
  const server = await startCommand(['serve', '--port', '0', '--data', place.dataDir], {
    cwd: place.dataDir,
    env: {
      ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }),
      LOG_LEVEL: 'silent',
      RATE_LIMITS: 'off',
    },
  })
  t.after(async () => {
    await server.stop('SIGKILL')
    await place.remove()
  })
  return server
}

/** Milliseconds of a processor that a process has used. */
async function processorTime({ pid }: RunningServer): Promise<number> {
  const [user, system] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ').slice(11, 13) ?? []
  return (Number(user) + Number(system)) * 10
}

export function testManyLanes({ idle, watched, beside, subscribers }: ManyLanes): void {
  onBothDatabases('lanes of subscribers that are down', (engine) => {
    test(`cost an idle process next to nothing: ${idle} of them`, async (t) => {
      const server = await startWithLanes(t, engine, { count: idle, within: (idle / 400) * minute })
      // The cost of the start, and of compiling at the first probes.
      await wait((watched / 2) * second)
      const [started, before] = [performance.now(), await processorTime(server)]
      await wait(watched * second)
      const share = ((await processorTime(server)) - before) / (performance.now() - started)
      t.diagnostic(`${(100 * share).toFixed(2)} % of a processor`)
      // A busy machine makes the same work cost more.
      assert.ok(share < 0.04, `${100 * share} % of a processor`)
    })

    test(`do not slow down writes: ${beside} of them`, async (t) => {
      const far = { after: 60 * minute, within: minute }
      const [many, none] = [
        await startWithLanes(t, engine, { ...far, count: beside }),
        await startWithLanes(t, engine, { ...far, count: 1 }),
      ]
      const write = async ({ url }: RunningServer) => {
        const response = await fetch(`${url}/v23.0/${ids.account}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${tokens.owner}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'Lucky Shrub' }),
        })
        await response.arrayBuffer()
        assert.equal(response.status, 200)
      }
      const measure = async (server: RunningServer) => {
        const before = await processorTime(server)
        for (let i = 0; i < 15; i++) await Promise.all(Array.from({ length: 8 }, () => write(server)))
        return (await processorTime(server)) - before
      }
      for (const server of [many, none]) await measure(server)
      const costs = { many: 0, none: 0 }
      // Alternating, so that other load on the machine affects both.
      for (let round = 0; round < 3; round++) {
        costs.none += await measure(none)
        costs.many += await measure(many)
      }
      t.diagnostic(`360 writes cost ${costs.many} ms of a processor beside ${beside} lanes, ${costs.none} ms without`)
      assert.ok(costs.many < 1.6 * costs.none + 100, `${costs.many} ms against ${costs.none} ms`)
    })
  })

  onBothDatabases(`${subscribers} subscribers of which half are dead`, (engine) => {
    test('the other half get everything, and soon', async (t) => {
      const sinks = await new BadSinks().start()
      t.after(() => sinks.end())
      const callbacks = Array.from({ length: subscribers }, (_, i) =>
        i % 2 === 0 ? `${closed}/${i}` : `${sinks.url}/good/${i}`,
      )
      const { server } = await startCrowded(t, { engine, callbacks })
      const events = 3
      const started = performance.now()
      for (let i = 0; i < events; i++) assert.equal(await writeAs(server, userOf(i), `m.${i}`), 200)
      for (let i = 1; i < callbacks.length; i += 2) await sinks.whenCame(`good/${i}`, events)
      const took = performance.now() - started
      t.diagnostic(`${(events * callbacks.length) / 2} posts in ${took.toFixed(0)} ms`)
      assert.ok(took < 30 * second, `it took ${took} ms`)
      for (let i = 1; i < callbacks.length; i += 2)
        assert.equal(sinks.posts.get(`good/${i}`), events, 'and nothing twice')
    })
  })
}
