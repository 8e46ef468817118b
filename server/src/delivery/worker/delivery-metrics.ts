import { type RawBuilder, sql } from 'kysely'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Clock } from '../../base/time/clock.ts'
import { second } from '../../base/time/duration.ts'
import { shareWhileRunning } from '../../base/work/share-while-running.ts'
import type { Database, Db } from '../../db/database.ts'
import { isAmongWaiting } from '../../db/waiting.ts'
import { LeanHistogram, type Observe } from '../../telemetry/lean-histogram.ts'
import { readForMetric } from '../../telemetry/store-metrics.ts'
import { isTaken, type PostResult } from '../rules/outcome.ts'
import { failuresUntilDown } from '../rules/pause.ts'
import { isDownInUse, isFailingInUse } from '../store/lane-conditions.ts'

/** How many waiting deliveries are counted. */
const maxCounted = 10_000

type PostEnding = 'accepted' | 'refused' | 'unanswered'

/** The metrics of deliveries. */
export class DeliveryMetrics {
  /** How many posts wait for their response. */
  inFlight = 0
  /** Counted here, and handed over when they are asked for: the library looks labels up by a text that it puts together anew. */
  readonly #attempts = { delivered: 0, retry: 0, failed: 0 }
  readonly #received: Counter<'field'>
  readonly #posts: Readonly<Record<PostEnding, Observe>>
  readonly #latency: Observe
  #held: () => number = () => 0
  #waiting: () => number = () => 0

  /** `isHeld`: nothing is late while an operator holds what would be sent. */
  constructor(
    registry: Registry,
    database: Database,
    clock: Clock,
    { isHeld = () => false }: { isHeld?: () => boolean } = {},
  ) {
    const attempts = this.#attempts
    new Counter({
      name: 'switchboard_delivery_attempts_total',
      help: 'Webhook posts by outcome: delivered, retry (will be tried again), failed (given up).',
      labelNames: ['outcome'],
      registers: [registry],
      collect() {
        this.reset()
        for (const [outcome, count] of Object.entries(attempts)) if (count > 0) this.inc({ outcome }, count)
      },
    })
    this.#received = new Counter({
      name: 'switchboard_events_received_total',
      help: 'Inbound events that were accepted and raised, by field.',
      labelNames: ['field'],
      registers: [registry],
    })
    const posts = new LeanHistogram<{ outcome: PostEnding }>(registry, {
      name: 'switchboard_delivery_attempt_duration_seconds',
      help: 'Time of a webhook post until its response, by outcome: accepted, refused (another status than 2xx), unanswered.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    })
    this.#posts = {
      accepted: posts.series({ outcome: 'accepted' }),
      refused: posts.series({ outcome: 'refused' }),
      unanswered: posts.series({ outcome: 'unanswered' }),
    }
    this.#latency = new LeanHistogram(registry, {
      name: 'switchboard_delivery_latency_seconds',
      help: 'Time from an event, or its replay, until its subscriber took it; of deliveries that were taken.',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 86_400],
    }).series({})
    const worker = this
    new Gauge({
      name: 'switchboard_delivery_attempts_in_flight',
      help: 'Webhook posts that wait for their answer.',
      registers: [registry],
      collect() {
        this.set(worker.inFlight)
      },
    })
    new Gauge({
      name: 'switchboard_delivery_lanes_held',
      help: 'Lanes (an app at one address) that this process works on.',
      registers: [registry],
      collect() {
        this.set(worker.#held())
      },
    })
    new Gauge({
      name: 'switchboard_delivery_lanes_without_room',
      help: 'Held lanes that have something to send and no room for it: too much is under way for their app, their host or this process.',
      registers: [registry],
      collect() {
        this.set(worker.#waiting())
      },
    })
    // Read from the store, so the same on every process; absent while it does not respond.
    const stored: readonly { name: string; help: string; read: (db: Db) => Promise<number> }[] = [
      {
        name: 'switchboard_delivery_lanes_down',
        help: 'Lanes whose subscriber is down: they are probed with one post at a time.',
        read: (db) => countLanes(db, isDownInUse),
      },
      {
        name: 'switchboard_delivery_lanes_failing',
        help: 'Lanes whose subscriber did not take what it was sent last.',
        read: (db) => countLanes(db, isFailingInUse),
      },
      {
        name: 'switchboard_deliveries_waiting',
        help: `Deliveries that no subscriber has taken yet; ${maxCounted} stands for that many or more.`,
        read: countWaiting,
      },
      {
        name: 'switchboard_oldest_waiting_delivery_age_seconds',
        help: 'Age of the oldest event that a subscriber has not taken yet; 0 when none waits.',
        read: async (db) => ageOf(await findOldestWaiting(db), clock.now()),
      },
      {
        name: 'switchboard_delivery_lateness_seconds',
        help: 'How long the oldest due delivery has waited; subscribers that are down or paused do not count; 0 when nothing is late, or sending is held.',
        read: async (db) => (isHeld() ? 0 : ageOf(await findLatest(db, clock.now()), clock.now())),
      },
    ]
    // One after the other, and not again before that has ended: behind a locked table they would take one connection after the other.
    const readStored = shareWhileRunning(async () => {
      const values = new Map<string, number>()
      for (const { name, read } of stored) values.set(name, await read(database.reserved))
      return values
    })
    for (const { name, help } of stored) {
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          const value = (await readForMetric(database, readStored))?.get(name)
          if (value === undefined) this.remove()
          else this.set(value)
        },
      })
    }
  }

  /** Shows how many lanes a worker holds, and how many wait for another post to end. */
  watchWorker({ held, waiting }: { held: () => number; waiting: () => number }): void {
    this.#held = held
    this.#waiting = waiting
  }

  countAttempt(outcome: 'delivered' | 'retry' | 'failed'): void {
    this.#attempts[outcome] += 1
  }

  observePost({ status, duration }: Pick<PostResult, 'status' | 'duration'>): void {
    const ending = status === undefined ? 'unanswered' : isTaken(status) ? 'accepted' : 'refused'
    this.#posts[ending](duration / second)
  }

  observeLatency(milliseconds: number): void {
    this.#latency(Math.max(0, milliseconds) / second)
  }

  countReceived(field: string): void {
    this.#received.inc({ field })
  }
}

function ageOf(time: number | undefined, now: number): number {
  return time === undefined ? 0 : Math.max(0, (now - time) / second)
}

async function countLanes(db: Db, which: RawBuilder<boolean>): Promise<number> {
  const { count } = await db.query
    .selectFrom('lanes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(which)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Counted one by one, so only up to a bound: with a backlog of millions each scrape would read all of it. */
async function countWaiting(db: Db): Promise<number> {
  const some = db.query.selectFrom('deliveries').select('id').where(isAmongWaiting()).limit(maxCounted)
  const { count } = await db.query
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Each lane that is read costs a look into an index, and the first of them waits for the longest time. */
const latestLanes = 100

/**
 * Since when the delivery has been due that waits for the longest time, in lanes whose subscriber takes deliveries. When thousands of
 * lanes are late, the first `latestLanes` that became due are enough.
 */
async function findLatest(db: Db, now: number): Promise<number | undefined> {
  const { rows } = await sql<{ due: number | null }>`
    SELECT MIN((SELECT MIN(d.due_time) FROM deliveries d WHERE d.lane_id = late.id AND d.state = 'waiting')) AS due FROM (
      SELECT id FROM lanes
      WHERE next_due <= ${now} AND failures < ${sql.lit(failuresUntilDown)} AND paused_until <= ${now} AND stopped_until <= ${now}
      ORDER BY next_due LIMIT ${sql.lit(latestLanes)}) late`.execute(db.query)
  return rows[0]?.due ?? undefined
}

async function findOldestWaiting(db: Db): Promise<number | undefined> {
  const row = await db.query
    .selectFrom('deliveries')
    .select('started_time')
    .where(isAmongWaiting())
    .orderBy('started_time')
    .limit(1)
    .executeTakeFirst()
  return row?.started_time
}
