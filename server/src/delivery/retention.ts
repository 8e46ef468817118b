import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { minute } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import type { Database } from '../db/database.ts'

const stepSize = 500
const sweepMilliseconds = minute

/** Removes what was kept for long enough, in steps so small that nothing else has to wait for them. */
export class RetentionWorker {
  readonly #database: Database
  readonly #clock: Clock
  readonly #log: Log
  readonly #keepMilliseconds: number
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> | undefined
  #stopped = false

  constructor(database: Database, clock: Clock, log: Log, keepMilliseconds: number) {
    this.#database = database
    this.#clock = clock
    this.#log = log
    this.#keepMilliseconds = keepMilliseconds
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#sweeping ??= this.sweep()
        .catch((error: Error) => this.#log.error({ err: error }, 'old deliveries could not be removed'))
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

  /** Removes everything that is old by now. */
  async sweep(): Promise<void> {
    const before = this.#clock.now() - this.#keepMilliseconds
    for (const step of [removeDeliveries, removeEvents, removeReceivedMessages]) {
      while (!this.#stopped && (await step(this.#database, before)) === stepSize) await nextTurn()
    }
  }
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

async function removeReceivedMessages(database: Database, before: number): Promise<number> {
  return database.transaction(async ({ query }) => {
    const old = await query
      .selectFrom('received_messages')
      .select(['phone_number_id', 'message_id'])
      .where('received_time', '<', before)
      .orderBy('received_time')
      .limit(stepSize)
      .execute()
    for (const { phone_number_id, message_id } of old) {
      await query
        .deleteFrom('received_messages')
        .where('phone_number_id', '=', phone_number_id)
        .where('message_id', '=', message_id)
        .execute()
    }
    return old.length
  })
}
