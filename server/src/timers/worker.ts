import type { Kysely, Selectable } from 'kysely'
import type { Log } from '../base/log/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { type ClockTrust, fullTrust } from '../base/time/clock-trust.ts'
import { minute, second } from '../base/time/duration.ts'
import { leaseHorizon } from '../base/time/lease.ts'
import { Loop } from '../base/work/loop.ts'
import type { Cause, Database, Transaction } from '../db/database.ts'
import { openSecret } from '../db/secrets/sealing.ts'
import { defineStatement } from '../db/statement.ts'
import type { Sealed, Tables, TimersTable } from '../db/tables.ts'
import type { Feed } from '../stream/feed.ts'

type Timer = Selectable<TimersTable>

/** The request that set it. */
function causeOf({ trace, span }: Timer): Cause {
  return { trace: trace ?? undefined, span: span ?? undefined }
}

/** What happens when a timer of a kind fires. */
export interface TimerHandler {
  /** Work on the network, outside any transaction. May be repeated when the process dies before `finish`. */
  readonly act?: (payload: object, secret: string | undefined) => Promise<void>
  /** Work on the store, in the transaction that removes the timer: once, however often processes die. */
  readonly finish?: (tx: Transaction, payload: object) => Promise<void>
  /** Whether `finish` also changes something outside the store, and must therefore rely only on durable rows. */
  readonly alone?: boolean
  /** Whether it deletes something because its time is over: it waits while the clock may be wrong. */
  readonly deletes?: boolean
  /** Whether it sends something to others: it waits while an operator holds that. */
  readonly sends?: boolean
  /** What is stored of a failure; `isLast`: the timer is given up. */
  readonly noteFailure?: (tx: Transaction, payload: object, error: Error, isLast: boolean) => Promise<void>
  /** How long to wait after a failure; undefined gives up. `failures` counts from 1. */
  readonly retryDelay: (failures: number) => number | undefined
}

/** A timer of an unknown kind, set by a newer version: left for that version to handle. */
const unknownKind: TimerHandler = {
  act: () => Promise.reject(new Error('this version does not know the kind of timer')),
  retryDelay: () => minute,
}

export type TimerHandlers = Readonly<Record<string, TimerHandler>>

/** How often a process polls for due timers without being woken. */
const pollMilliseconds = second
/** The shortest time between two polls, however many commits ask for one. */
const pollPauseMilliseconds = 20
/** How many timers a process works on at once: one that waits for a slow carrier delays none of the others. */
const maxInHand = 50
/** The same where timers fire in groups. */
const maxInGroup = 500

interface LeaseTimes {
  readonly held: number
  readonly horizon: number
}

/** The earliest timer that no process holds. */
function selectNext(db: Kysely<Tables>, { held, horizon }: LeaseTimes) {
  return db
    .selectFrom('timers')
    .select('due_time')
    .where((eb) => eb.or([eb('leased_until', '<=', held), eb('leased_until', '>', horizon)]))
    .orderBy('due_time')
    .limit(1)
}

const findNext = defineStatement<LeaseTimes>()(selectNext)

export interface TimerWorkerOptions {
  readonly database: Database
  /** The owner of its leases: no other worker has the same. */
  readonly owner: string
  readonly clock: Clock
  /** The clock of leases, on which all processes agree and which no sandbox moves; by default `clock`. */
  readonly leaseClock?: Clock
  readonly log: Log
  readonly handlers: TimerHandlers
  /** Milliseconds until a timer can be taken from a process that does not renew its lease. */
  readonly lease: number
  /** Told of each timer that has fired, if anybody listens. */
  readonly feed?: Feed
  /**
   * Whether timers that are due together fire one after the other, by the time when they were due, and share a transaction: for a clock
   * that is moved by days, and makes thousands of them due at once.
   */
  readonly inOrder?: boolean
  /** By default the clock is relied on. */
  readonly trust?: ClockTrust
  /** Whether something may be sent to others; by default it may. */
  readonly maySend?: () => boolean
}

/** Fires timers: each by one process at a time, and again if that process dies. */
export class TimerWorker {
  readonly #options: TimerWorkerOptions
  readonly #leaseClock: Clock
  readonly #trust: ClockTrust
  /** The kinds that wait while the clock may be wrong. */
  readonly #deleting: readonly string[]
  /** The kinds that wait while sending is held. */
  readonly #sending: readonly string[]
  readonly #inHand = new Map<string, Promise<void>>()
  readonly #polls: Loop
  readonly #heartbeat: Loop
  readonly #maxInHand: number
  /** Settles when the last group has fired. */
  #lastGroup: Promise<unknown> = Promise.resolve()

  constructor(options: TimerWorkerOptions) {
    this.#options = options
    this.#maxInHand = options.inOrder ? maxInGroup : maxInHand
    this.#leaseClock = options.leaseClock ?? options.clock
    this.#trust = options.trust ?? fullTrust
    const handlers = Object.entries(options.handlers)
    this.#deleting = handlers.flatMap(([kind, { deletes }]) => (deletes ? [kind] : []))
    this.#sending = handlers.flatMap(([kind, { sends }]) => (sends ? [kind] : []))
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

  /** Polls when a timer that was just set is due; a timer due after the next poll waits for that poll. */
  wakeAt(time: number): void {
    this.#polls.wakeIn(time - this.#options.clock.now())
  }

  /** Resolves when every timer that is due now has fired. */
  async settle(): Promise<void> {
    do {
      this.#polls.wakeAtOnce()
      await this.#polls.settle()
      await Promise.all(this.#inHand.values())
    } while (!this.#polls.isStopped && (await this.#hasWork()))
  }

  async #hasWork(): Promise<boolean> {
    const next = await this.#findNext()
    // Checked after the read: a poll may claim a timer while others are worked on, and then the read does not find it.
    return next <= this.#options.clock.now() || this.#polls.isRunning || this.#inHand.size > 0
  }

  /** The kinds of timers that do not fire now, although they may be due. */
  get heldKinds(): readonly string[] {
    const { maySend = () => true } = this.#options
    return [...(this.#trust.mayDelete() ? [] : this.#deleting), ...(maySend() ? [] : this.#sending)]
  }

  /** Finishes the timers in hand and begins no other. */
  async stop(): Promise<void> {
    await this.#polls.stop()
    await Promise.all(this.#inHand.values())
    await this.#heartbeat.stop()
  }

  async #claimDue(): Promise<void> {
    const room = this.#maxInHand - this.#inHand.size
    // The first to finish wakes this again.
    if (room === 0) return
    const next = await this.#findNext()
    if (next > this.#options.clock.now()) {
      this.wakeAt(next)
      return
    }
    const claimed = await this.#claim(room)
    this.#begin(claimed)
    if (claimed.length === room) this.wake()
  }

  /** When the next timer without a holder is due. One cheap read: a transaction is opened only to claim. */
  async #findNext(): Promise<number> {
    const { database, lease } = this.#options
    if (!this.#trust.mayWork()) return Number.POSITIVE_INFINITY
    const held = this.#leaseClock.now()
    const parameters = { held, horizon: leaseHorizon(held, lease) }
    const kinds = this.heldKinds
    const next =
      kinds.length === 0
        ? await database.read.first(findNext, parameters)
        : await selectNext(database.read.query, parameters).where('kind', 'not in', kinds).executeTakeFirst()
    return next?.due_time ?? Number.POSITIVE_INFINITY
  }

  #claim(limit: number): Promise<Timer[]> {
    const { database, clock, lease, owner } = this.#options
    return database.transaction(async (tx) => {
      // Only now: the transaction may have waited for a connection, and the machine may have been suspended.
      if (!this.#trust.mayWork()) return []
      const now = clock.now()
      const held = this.#leaseClock.now()
      const kinds = this.heldKinds
      const due = tx.query
        .selectFrom('timers')
        .selectAll()
        .where('due_time', '<=', now)
        .where((eb) => eb.or([eb('leased_until', '<=', held), eb('leased_until', '>', leaseHorizon(held, lease))]))
        .$if(kinds.length > 0, (query) => query.where('kind', 'not in', kinds))
        .orderBy('due_time')
        .limit(limit)
        .forUpdate()
        .skipLocked()
      const timers = await due.execute()
      // A timer whose lease expired while we still work on it must not be worked on twice.
      const free = timers.filter(({ id }) => !this.#inHand.has(id))
      // From this moment on: the read may have taken long.
      const leased = { leased_until: this.#leaseClock.now() + lease, lease_owner: owner }
      if (free.length > 0) {
        const ids = free.map(({ id }) => id)
        await tx.query.updateTable('timers').set(leased).where('id', 'in', ids).execute()
      }
      return free.map((timer) => ({ ...timer, ...leased }))
    })
  }

  #begin(timers: readonly Timer[]): void {
    const group = this.#options.inOrder ? timers.filter(({ kind }) => this.#canShare(kind)) : []
    if (group.length > 1) {
      const done = this.#lastGroup.then(() => this.#fireTogether(group))
      this.#lastGroup = done.catch(() => undefined)
      for (const timer of group) this.#work(timer, done)
    }
    for (const timer of timers) if (!this.#inHand.has(timer.id)) this.#work(timer, this.#fire(timer))
  }

  /** Whether it is work on the store alone. */
  #canShare(kind: string): boolean {
    const handler = this.#options.handlers[kind]
    return handler !== undefined && !handler.act && !handler.alone
  }

  /** All in one transaction; if that fails, one by one, so that each fails for itself. */
  async #fireTogether(timers: readonly Timer[]): Promise<void> {
    const { database, handlers, owner } = this.#options
    const ids = timers.map(({ id }) => id)
    try {
      await database.transaction(async (tx) => {
        const ours = tx.query.deleteFrom('timers').where('id', 'in', ids).where('lease_owner', '=', owner)
        const deleted = await ours.returning('id').execute()
        const there = new Set(deleted.map(({ id }) => id))
        for (const timer of timers) {
          // Each for the request that set it.
          const { id, kind, payload } = timer
          if (there.has(id)) await handlers[kind]?.finish?.(tx.withCause(causeOf(timer)), payload)
        }
      })
      if (this.#options.feed?.hasListeners) for (const { id, kind, trace } of timers) this.#publish(id, kind, trace)
    } catch (error) {
      if (database.outageOf(error) === 'unreachable') throw error
      for (const timer of timers) await this.#fire(timer)
    }
  }

  #work(timer: Timer, work: Promise<void>): void {
    const done = work
      .catch((error: Error) => this.#report(error, 'timers could not be run'))
      .finally(() => {
        // Others may have found no room.
        if (this.#inHand.size === this.#maxInHand) this.wake()
        this.#inHand.delete(timer.id)
      })
    this.#inHand.set(timer.id, done)
  }

  /** Renews the leases of the timers in hand, however long a carrier takes to respond. */
  async #renew(): Promise<void> {
    if (this.#inHand.size > 0) await this.#renewLeases([...this.#inHand.keys()])
  }

  /** Returns the timers that this process still holds; without those that another transaction is at. */
  async #renewLeases(ids: readonly string[]): Promise<readonly string[]> {
    const { database, lease, owner } = this.#options
    return database.transaction(async ({ query }) => {
      // A timer postponed meanwhile has no owner any more, and one being finished needs no lease.
      const ours = query.selectFrom('timers').select('id').where('id', 'in', ids).where('lease_owner', '=', owner)
      const renewed = await query
        .updateTable('timers')
        .set({ leased_until: this.#leaseClock.now() + lease })
        .where('id', 'in', ours.forUpdate().skipLocked())
        .returning('id')
        .execute()
      return renewed.map(({ id }) => id)
    })
  }

  /**
   * A process that was paused may find that another one has taken its timer over. After a machine was suspended the clock of leases is
   * behind until the clocks are compared: the timer is left, and due again when its lease expires.
   */
  async #isStillOurs({ id, leased_until }: Timer): Promise<boolean> {
    if (!this.#trust.mayWork()) return false
    return this.#leaseClock.now() < leased_until || (await this.#renewLeases([id])).length > 0
  }

  async #fire(timer: Timer): Promise<void> {
    const { database, handlers, owner } = this.#options
    const { id, kind, payload, attempts, secret, trace } = timer
    const handler = handlers[kind] ?? unknownKind
    const cause = causeOf(timer)
    if (handler.act && !(await this.#isStillOurs(timer))) return
    try {
      await handler.act?.(payload, this.#openSecret(id, secret))
    } catch (error) {
      return this.#postpone({ id, kind, payload, attempts: attempts + 1 }, handler, error as Error)
    }
    try {
      const isOurs = await database.transaction(
        async (tx) => {
          const deleted = tx.query.deleteFrom('timers').where('id', '=', id).where('lease_owner', '=', owner)
          const { numDeletedRows } = await deleted.executeTakeFirstOrThrow()
          // It was cancelled, or another process took it over after our lease expired.
          if (numDeletedRows === 1n) await handler.finish?.(tx, payload)
          return numDeletedRows === 1n
        },
        { alone: handler.alone ?? false, ...cause },
      )
      if (isOurs && this.#options.feed?.hasListeners) this.#publish(id, kind, trace)
    } catch (error) {
      // It could not be postponed either, through no fault of its own: it is due again when its lease expires.
      if (database.outageOf(error)) throw error
      await this.#postpone({ id, kind, payload, attempts: attempts + 1 }, handler, error as Error)
    }
  }

  #publish(id: string, kind: string, trace: string | null): void {
    const nobody = { business_id: null, account_id: null, phone_number_id: null }
    const time = this.#options.clock.now()
    this.#options.feed?.publish({ id: `timer-${id}`, type: 'timer', time, ...nobody, trace, data: { kind } })
  }

  #openSecret(id: string, secret: Sealed | null): string | undefined {
    return secret === null ? undefined : openSecret(this.#options.database.read, 'timers.secret', id, secret)
  }

  async #postpone(
    { id, kind, payload, attempts }: Pick<Timer, 'id' | 'kind' | 'payload' | 'attempts'>,
    handler: TimerHandler,
    error: Error,
  ): Promise<void> {
    const { database, clock, log, owner } = this.#options
    const delay = handler.retryDelay(attempts)
    log.warn({ kind, attempts, err: error.message, again_in_ms: delay ?? null }, 'a timer failed')
    await database.transaction(async (tx) => {
      const { query } = tx
      const now = clock.now()
      const later = { attempts, leased_until: 0, lease_owner: null, due_time: now + (delay ?? 0), set_time: now }
      const ours = query.updateTable('timers').set(later).where('id', '=', id).where('lease_owner', '=', owner)
      // Another process took it over after our lease expired, and notes how that went.
      if ((await ours.returning('id').execute()).length === 0) return
      if (delay === undefined) await query.deleteFrom('timers').where('id', '=', id).execute()
      else tx.makeDue({ timers: later.due_time })
      await handler.noteFailure?.(tx, payload, error, delay === undefined)
    })
  }

  #report(error: Error, message: string): void {
    const { database, log } = this.#options
    if (!database.outageOf(error)) log.error({ err: error }, message)
  }
}
