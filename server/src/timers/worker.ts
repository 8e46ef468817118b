import type { Clock } from '../base/clock.ts'
import { minute, second } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import { Pace } from '../base/pace.ts'
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

/** How long a claimed timer belongs to its process; then another takes it for dead. */
const leaseMilliseconds = minute
/** How often a process looks for what is due without having been woken. */
const pollMilliseconds = second
/** How soon after a look the next one may come, however many commits ask for it. */
const lookPauseMilliseconds = 20
const batchSize = 20

const findDue = defineStatement<{ now: number }>()((db, { now }) =>
  db.selectFrom('timers').select('id').where('due_time', '<=', now).where('leased_until', '<=', now).limit(1),
)

const findNext = defineStatement<object>()((db) =>
  db.selectFrom('timers').select('due_time').where('leased_until', '=', 0).orderBy('due_time').limit(1),
)

/** Lets timers go off: each by one process at a time, and again after that process died. */
export class TimerWorker {
  readonly #database: Database
  readonly #clock: Clock
  readonly #log: Log
  readonly #handlers: TimerHandlers
  readonly #onCommit: () => void
  #poll: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #lookAgain = false
  #stopped = false
  readonly #pace = new Pace(lookPauseMilliseconds)
  #takesOver = false

  /** `onCommit` is told when a timer has done its work, so that what it made due need not wait. */
  constructor(database: Database, clock: Clock, log: Log, handlers: TimerHandlers, onCommit: () => void) {
    this.#database = database
    this.#clock = clock
    this.#log = log
    this.#handlers = handlers
    this.#onCommit = onCommit
  }

  start(): void {
    this.#takesOver = this.#database.engine === 'sqlite'
    this.#poll = setInterval(() => this.wake(), pollMilliseconds)
    this.wake()
  }

  /** Looks for what is due; called after every commit, so that what is due at once does not wait for the next look. */
  wake(): void {
    if (this.#stopped) return
    this.#lookAgain = true
    this.#running ??= this.#runDue()
      .catch((error: Error) => {
        this.#lookAgain = false
        if (!this.#database.outageOf(error)) this.#log.error({ err: error }, 'timers could not be run')
      })
      .finally(() => {
        this.#running = undefined
        // Woken after the last look.
        if (this.#lookAgain) this.wake()
      })
  }

  /** Resolves when everything that is due by now has gone off. */
  async settle(): Promise<void> {
    this.#pace.hurry()
    this.wake()
    await this.#running
  }

  /** Finishes what runs and takes up nothing new. */
  async stop(): Promise<void> {
    clearInterval(this.#poll)
    this.#stopped = true
    this.#pace.hurry()
    await this.#running
  }

  async #runDue(): Promise<void> {
    if (this.#takesOver) await this.#takeOver()
    while (this.#lookAgain && !this.#stopped) {
      await this.#pace.next()
      this.#lookAgain = false
      if (!(await this.#isAnythingDue())) {
        await this.#wakeForNext()
        continue
      }
      const claimed = await this.#claim()
      await Promise.all(claimed.map((timer) => this.#goOff(timer)))
      if (claimed.length > 0) {
        this.#lookAgain = true
        this.#pace.hurry()
      }
    }
  }

  /** An embedded store belongs to one process, so whoever holds a lease when that starts is dead: nothing has to wait for its end. */
  async #takeOver(): Promise<void> {
    this.#takesOver = false
    await this.#database.transaction(({ query }) =>
      query.updateTable('timers').set({ leased_until: 0 }).where('leased_until', '>', 0).execute(),
    )
  }

  /** A timer that is due before the next look is not kept waiting for that. */
  async #wakeForNext(): Promise<void> {
    const next = await this.#database.read.first(findNext, {})
    const wait = next ? next.due_time - this.#clock.now() : pollMilliseconds
    if (wait > 0 && wait < pollMilliseconds) setTimeout(() => this.wake(), wait).unref()
  }

  /** Asked after every write, so it is one cheap read, and claiming with its transaction comes only when there is something. */
  async #isAnythingDue(): Promise<boolean> {
    return (await this.#database.read.first(findDue, { now: this.#clock.now() })) !== undefined
  }

  #claim(): Promise<TimersTable[]> {
    const now = this.#clock.now()
    return this.#database.transaction(async (tx) => {
      let due = tx.query
        .selectFrom('timers')
        .selectAll()
        .where('due_time', '<=', now)
        .where('leased_until', '<=', now)
        .orderBy('due_time')
        .limit(batchSize)
      if (tx.lockRows) due = due.forUpdate().skipLocked()
      const timers = await due.execute()
      if (timers.length > 0) {
        const ids = timers.map(({ id }) => id)
        const lease = { leased_until: now + leaseMilliseconds }
        await tx.query.updateTable('timers').set(lease).where('id', 'in', ids).execute()
      }
      return timers
    })
  }

  async #goOff({ id, kind, payload, attempts, secret }: TimersTable): Promise<void> {
    const handler = this.#handlers[kind] ?? unknownKind
    try {
      await handler.act?.(payload, this.#openSecret(id, secret))
    } catch (error) {
      return this.#postpone(id, kind, attempts + 1, handler, error as Error)
    }
    try {
      await this.#database.transaction(
        async (tx) => {
          const { numDeletedRows } = await tx.query.deleteFrom('timers').where('id', '=', id).executeTakeFirstOrThrow()
          // Somebody cancelled it, or finished it after taking us for dead.
          if (numDeletedRows === 1n) await handler.finish?.(tx, payload)
        },
        { alone: handler.alone ?? false },
      )
      this.#onCommit()
    } catch (error) {
      // It could not be postponed either, and did not fail by itself: it comes again when its lease is over.
      if (this.#database.outageOf(error)) throw error
      await this.#postpone(id, kind, attempts + 1, handler, error as Error)
    }
  }

  #openSecret(id: string, secret: Sealed | null): string | undefined {
    return secret === null ? undefined : openSecret(this.#database.read, 'timers.secret', id, secret)
  }

  async #postpone(id: string, kind: string, attempts: number, handler: TimerHandler, error: Error): Promise<void> {
    const delay = handler.retryDelay(attempts)
    this.#log.warn({ kind, attempts, err: error.message, again_in_ms: delay ?? null }, 'a timer failed')
    await this.#database.transaction(async ({ query }) => {
      if (delay === undefined) {
        await query.deleteFrom('timers').where('id', '=', id).execute()
        return
      }
      const later = { attempts, leased_until: 0, due_time: this.#clock.now() + delay }
      await query.updateTable('timers').set(later).where('id', '=', id).execute()
    })
  }
}
