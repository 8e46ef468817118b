import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Clock } from '../base/clock.ts'
import { minute } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import type { Database } from '../db/database.ts'
import { failuresUntilDown } from './pause.ts'

const stepSize = 500
const sweepMilliseconds = minute

export interface RetentionRules {
  /** Milliseconds that what is finished is kept. */
  readonly keep: number
  /** Milliseconds after which nothing is tried any more. */
  readonly giveUpAfter: number
}

/**
 * Gives up what was tried for long enough and removes what was kept for long enough, in steps so small that nothing else has
 * to wait for them.
 */
export class RetentionWorker {
  readonly #database: Database
  readonly #clock: Clock
  readonly #log: Log
  readonly #rules: RetentionRules
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> | undefined
  #stopped = false

  constructor(database: Database, clock: Clock, log: Log, rules: RetentionRules) {
    this.#database = database
    this.#clock = clock
    this.#log = log
    this.#rules = rules
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#sweeping ??= this.sweep()
        .catch((error: Error) => {
          if (!this.#database.outageOf(error)) this.#log.error({ err: error }, 'old deliveries could not be swept')
        })
        .finally(() => {
          this.#sweeping = undefined
        })
    }, sweepMilliseconds)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopped = true
    await this.#sweeping
  }

  /** Gives up and removes everything that is old by now. */
  async sweep(): Promise<void> {
    const { keep, giveUpAfter } = this.#rules
    const now = this.#clock.now()
    await this.#inSteps(() => giveUpDeliveries(this.#database, now - giveUpAfter, now))
    for (const remove of [removeDeliveries, removeEvents]) {
      await this.#inSteps(() => remove(this.#database, now - keep))
    }
    for (const table of Object.keys(received) as (keyof typeof received)[]) {
      await this.#inSteps(() => removeReceived(this.#database, table, now - keep))
    }
  }

  async #inSteps(step: () => Promise<number>): Promise<void> {
    while (!this.#stopped && (await step()) === stepSize) await nextTurn()
  }
}

/**
 * What a subscriber that is down was never tried with is given up here, because nobody will come to it. What waits only
 * because this service did not run gets its try first.
 */
async function giveUpDeliveries(database: Database, before: number, now: number): Promise<number> {
  return database.transaction(async ({ query }) => {
    const old = await query
      .selectFrom('deliveries')
      .innerJoin('lanes', 'lanes.id', 'deliveries.lane_id')
      .select('deliveries.id')
      .where('deliveries.state', '=', 'waiting')
      .where('deliveries.started_time', '<=', before)
      .where(({ eb, or, ref }) =>
        or([
          eb('lanes.failures', '>=', failuresUntilDown),
          eb('deliveries.attempts', '>', ref('deliveries.earlier_attempts')),
        ]),
      )
      .orderBy('deliveries.started_time')
      .limit(stepSize)
      .execute()
    const ids = old.map(({ id }) => id)
    if (ids.length > 0) {
      const end = { state: 'failed' as const, finished_time: now }
      await query.updateTable('deliveries').set(end).where('id', 'in', ids).where('state', '=', 'waiting').execute()
    }
    return ids.length
  })
}

/** Only what is finished: a delivery that waits is never old. */
async function removeDeliveries(database: Database, before: number): Promise<number> {
  return database.transaction(async ({ query }) => {
    const old = await query
      .selectFrom('deliveries')
      .select('id')
      .where('finished_time', '<', before)
      .orderBy('finished_time')
      .limit(stepSize)
      .execute()
    const ids = old.map(({ id }) => id)
    if (ids.length > 0) {
      await query.deleteFrom('delivery_attempts').where('delivery_id', 'in', ids).execute()
      await query.deleteFrom('deliveries').where('id', 'in', ids).execute()
    }
    return ids.length
  })
}

async function removeEvents(database: Database, before: number): Promise<number> {
  return database.transaction(async ({ query }) => {
    const old = await query
      .selectFrom('events')
      .select('id')
      .where('created_time', '<', before)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('deliveries').select('deliveries.id').whereRef('deliveries.event_id', '=', 'events.id'))),
      )
      .orderBy('created_time')
      .limit(stepSize)
      .execute()
    const ids = old.map(({ id }) => id)
    if (ids.length > 0) await query.deleteFrom('events').where('id', 'in', ids).execute()
    return ids.length
  })
}

/** What was taken in and is known when it comes again, by the columns that it is known by. */
const received = {
  received_messages: ['phone_number_id', 'message_id'],
  received_statuses: ['phone_number_id', 'digest'],
  received_posts: ['app_id', 'digest'],
} as const

async function removeReceived(database: Database, table: keyof typeof received, before: number): Promise<number> {
  const columns = sql.join(received[table].map((column) => sql.ref(column)))
  const removal = sql`DELETE FROM ${sql.table(table)} WHERE (${columns}) IN (
    SELECT ${columns} FROM ${sql.table(table)} WHERE received_time < ${before} ORDER BY received_time LIMIT ${stepSize})`
  return database.transaction(async ({ query }) => Number((await removal.execute(query)).numAffectedRows ?? 0))
}
