import type { Clock } from '../base/clock.ts'
import { minute, second } from '../base/duration.ts'
import { leaseHorizon } from '../base/lease.ts'
import type { Log } from '../base/log.ts'
import { Loop } from '../base/loop.ts'
import type { Database, Transaction } from '../db/database.ts'
import { openSecret } from '../db/sealing.ts'
import { defineStatement } from '../db/statement.ts'
import type { Sealed, TimersTable } from '../db/tables.ts'

/** What happens when a timer of a kind goes off. */
export interface TimerHandler {
  /** Work on the network, outside any transaction. May happen again when the process dies before `finish`. */
  readonly act?: (payload: object, secret: string | undefined) => Promise<void>
  /** Work on the store, in the transaction that removes the timer: once, however often processes die. */
  readonly finish?: (tx: Transaction, payload: object) => Promise<void>
  /** Whether `finish` changes something outside the store as well, and so may rest on nothing that is not on the disk yet. */
  readonly alone?: boolean
  /** How long to wait after a failure; undefined gives up. The number is that of the failures so far, from 1. */
  readonly retryDelay: (failures: number) => number | undefined
}

/** A timer that this version does not know, set by a newer one: left for that one to handle. */
const unknownKind: TimerHandler = {
  act: () => Promise.reject(new Error('this version does not know the kind of timer')),
  retryDelay: () => minute,
}

export type TimerHandlers = Readonly<Record<string, TimerHandler>>

/** How often a process polls for due timers without having been woken. */
const pollMilliseconds = second
/** How soon after a poll the next one may come, however many commits ask for it. */
const pollPauseMilliseconds = 20
/** How many timers a process works on at once: one that waits for a slow carrier holds up none of the others. */
const maxInHand = 50

/** The earliest timer that no process holds. */
const findNext = defineStatement<{ now: number; horizon: number }>()((db, { now, horizon }) =>
  db
    .selectFrom('timers')
    .select('due_time')
    .where((eb) => eb.or([eb('leased_until', '<=', now), eb('leased_until', '>', horizon)]))
    .orderBy('due_time')
    .limit(1),
)

export interface TimerWorkerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly handlers: TimerHandlers
  /** Milliseconds that a timer belongs to a process that nothing is heard of any more. */
  readonly lease: number
}

/** Lets timers go off: each by one process at a time, and again after that process died. */
export class TimerWorker {
  readonly #options: TimerWorkerOptions
  readonly #inHand = new Map<string, Promise<void>>()
  readonly #polls: Loop
  readonly #heartbeat: Loop

  constructor(options: TimerWorkerOptions) {
    this.#options = options
    this.#polls = new Loop({
      work: () => this.#claimDue(),
      pause: pollPauseMilliseconds,
      every: pollMilliseconds,
      onFailure: (error) => this.#report(error, 'timers could not be run'),
    })
    this.#heartbeat = new Loop({
      work: () => this.#renew(),
      pause: 0,
      every: options.lease / 4,
      onFailure: (error) => this.#report(error, 'leases could not be renewed'),
    })
  }

  start(): void {
    this.#polls.start()
    this.#heartbeat.start()
    this.wake()
  }

  /** Polls for due timers. */
  wake(): void {
    this.#polls.wake()
  }

  /** Polls when a timer is due that was set just now; what is due after the next poll waits for that. */
  wakeAt(time: number): void {
    this.#polls.wakeIn(time - this.#options.clock.now())
  }

  /** Resolves when everything that is due by now has gone off. */
  async settle(): Promise<void> {
    do {
      this.#polls.wakeAtOnce()
      await this.#polls.settle()
      await Promise.all(this.#inHand.values())
    } while (!this.#polls.isStopped && (await this.#findNext()) <= this.#options.clock.now())
  }

  /** Finishes what runs and takes up nothing new. */
  async stop(): Promise<void> {
    await this.#polls.stop()
    await Promise.all(this.#inHand.values())
    await this.#heartbeat.stop()
  }

  async #claimDue(): Promise<void> {
    const room = maxInHand - this.#inHand.size
    // The first that is done wakes this again.
    if (room === 0) return
    const next = await this.#findNext()
    if (next > this.#options.clock.now()) {
      this.wakeAt(next)
      return
    }
    const claimed = await this.#claim(room)
    for (const timer of claimed) this.#work(timer)
    if (claimed.length === room) this.wake()
  }

  /** When the next timer is due that nobody holds. One cheap read: a transaction is opened only to claim. */
  async #findNext(): Promise<number> {
    const { database, clock, lease } = this.#options
    const now = clock.now()
    const next = await database.read.first(findNext, { now, horizon: leaseHorizon(now, lease) })
    return next?.due_time ?? Number.POSITIVE_INFINITY
  }

  #claim(limit: number): Promise<TimersTable[]> {
    const { database, clock, lease } = this.#options
    const now = clock.now()
    return database.transaction(async (tx) => {
      const due = tx.query
        .selectFrom('timers')
        .selectAll()
        .where('due_time', '<=', now)
        .where((eb) => eb.or([eb('leased_until', '<=', now), eb('leased_until', '>', leaseHorizon(now, lease))]))
        .orderBy('due_time')
        .limit(limit)
        .forUpdate()
        .skipLocked()
      const timers = await due.execute()
      // One whose lease ran out while we are still at it is not to be worked on twice.
      const free = timers.filter(({ id }) => !this.#inHand.has(id))
      if (free.length > 0) {
        const ids = free.map(({ id }) => id)
        await tx.query
          .updateTable('timers')
          // From this moment on: the transaction may have waited for a connection.
          .set({ leased_until: clock.now() + lease })
          .where('id', 'in', ids)
          .execute()
      }
      return free
    })
  }

  #work(timer: TimersTable): void {
    const done = this.#goOff(timer)
      .catch((error: Error) => this.#report(error, 'timers could not be run'))
      .finally(() => {
        // Others may have found no room.
        if (this.#inHand.size === maxInHand) this.wake()
        this.#inHand.delete(timer.id)
      })
    this.#inHand.set(timer.id, done)
  }

  /** Says that the timers in hand are being worked on, however long a carrier takes to answer. */
  async #renew(): Promise<void> {
    const { database, clock, lease } = this.#options
    if (this.#inHand.size === 0) return
    const ids = [...this.#inHand.keys()]
    await database.transaction(async ({ query }) => {
      // One that was postponed meanwhile has no lease any more, and one that is being finished needs none.
      const ours = query.selectFrom('timers').select('id').where('id', 'in', ids).where('leased_until', '>', 0)
      await query
        .updateTable('timers')
        .set({ leased_until: clock.now() + lease })
        .where('id', 'in', ours.forUpdate().skipLocked())
        .execute()
    })
  }

  async #goOff({ id, kind, payload, attempts, secret }: TimersTable): Promise<void> {
    const { database, handlers } = this.#options
    const handler = handlers[kind] ?? unknownKind
    try {
      await handler.act?.(payload, this.#openSecret(id, secret))
    } catch (error) {
      return this.#postpone(id, kind, attempts + 1, handler, error as Error)
    }
    try {
      await database.transaction(
        async (tx) => {
          const { numDeletedRows } = await tx.query.deleteFrom('timers').where('id', '=', id).executeTakeFirstOrThrow()
          // Somebody cancelled it, or finished it after taking us for dead.
          if (numDeletedRows === 1n) await handler.finish?.(tx, payload)
        },
        { alone: handler.alone ?? false },
      )
    } catch (error) {
      // It could not be postponed either, and did not fail by itself: it comes again when its lease is over.
      if (database.outageOf(error)) throw error
      await this.#postpone(id, kind, attempts + 1, handler, error as Error)
    }
  }

  #openSecret(id: string, secret: Sealed | null): string | undefined {
    return secret === null ? undefined : openSecret(this.#options.database.read, 'timers.secret', id, secret)
  }

  async #postpone(id: string, kind: string, attempts: number, handler: TimerHandler, error: Error): Promise<void> {
    const { database, clock, log } = this.#options
    const delay = handler.retryDelay(attempts)
    log.warn({ kind, attempts, err: error.message, again_in_ms: delay ?? null }, 'a timer failed')
    await database.transaction(async ({ query, makeDue }) => {
      if (delay === undefined) {
        await query.deleteFrom('timers').where('id', '=', id).execute()
        return
      }
      const now = clock.now()
      const later = { attempts, leased_until: 0, due_time: now + delay, set_time: now }
      await query.updateTable('timers').set(later).where('id', '=', id).execute()
      makeDue({ timers: later.due_time })
    })
  }

  #report(error: Error, message: string): void {
    const { database, log } = this.#options
    if (!database.outageOf(error)) log.error({ err: error }, message)
  }
}
