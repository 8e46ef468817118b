import { Counter, Gauge, type Registry } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import { second } from '../base/duration.ts'
import type { Db } from '../db/database.ts'

/** What the operator sees of deliveries. */
export class DeliveryMetrics {
  readonly inFlight: Gauge
  readonly #attempts: Counter<'outcome'>
  readonly #received: Counter<'field'>

  constructor(registry: Registry, db: Db, clock: Clock) {
    this.inFlight = new Gauge({
      name: 'switchboard_delivery_attempts_in_flight',
      help: 'Webhook posts that wait for their answer.',
      registers: [registry],
    })
    this.#attempts = new Counter({
      name: 'switchboard_delivery_attempts_total',
      help: 'Webhook posts by outcome: delivered, retry (will be tried again), failed (given up).',
      labelNames: ['outcome'],
      registers: [registry],
    })
    this.#received = new Counter({
      name: 'switchboard_events_received_total',
      help: 'Events that were handed in at the webhook receiver and passed on, by field.',
      labelNames: ['field'],
      registers: [registry],
    })
    new Gauge({
      name: 'switchboard_oldest_waiting_delivery_age_seconds',
      help: 'Age of the oldest event that a subscriber has not taken yet; 0 when none waits.',
      registers: [registry],
      async collect() {
        let oldest: number | undefined
        try {
          oldest = await findOldestWaiting(db)
        } catch {
          // A database that does not answer is what /readyz tells; everything else is still to be read here, and all the more then.
          this.remove()
          return
        }
        this.set(oldest === undefined ? 0 : Math.max(0, (clock.now() - oldest) / second))
      },
    })
  }

  countAttempt(outcome: 'delivered' | 'retry' | 'failed'): void {
    this.#attempts.inc({ outcome })
  }

  countReceived(field: string): void {
    this.#received.inc({ field })
  }
}

async function findOldestWaiting(db: Db): Promise<number | undefined> {
  const row = await db.query
    .selectFrom('deliveries')
    .select('started_time')
    .where('state', '=', 'waiting')
    .orderBy('started_time')
    .limit(1)
    .executeTakeFirst()
  return row?.started_time
}
