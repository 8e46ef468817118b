import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../base/keys/random.ts'
import type { Log } from '../base/log/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { hour, second } from '../base/time/duration.ts'
import { Loop } from '../base/work/loop.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import { defineStatement } from '../db/statement.ts'
import type { ProcessesTable } from '../db/tables.ts'
import type { ClockGuard } from '../timers/clock-guard.ts'
import type { Agreement } from './agreement.ts'

/** Rarely, because every beat is a write. */
const beatMilliseconds = 20 * second
/** How long a process that stops waits for its store. */
const stopTimeoutMs = second
/** How long the row of a process that was killed stays. */
const keepMilliseconds = hour

export type ServiceProcess = Readonly<Pick<ProcessesTable, 'id' | 'role' | 'version' | 'started_time'>>

/** Half of a trace: short enough for every line of the log. */
const processIdLength = 16

export function drawProcessId(random: Random): string {
  return random.trace().slice(0, processIdLength)
}

const beat = defineStatement<ServiceProcess & { now: number; clock_offset: number }>()(
  (db, { id, role, version, started_time, now, clock_offset }) =>
    db
      .insertInto('processes')
      .values({ id, role, version, started_time, heard_time: now, clock_offset })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ heard_time: now, clock_offset }))
      .returning('id'),
)

/** A row that somebody else has locked waits for the next beat: no process is silent because of it. */
const removeSilent = defineStatement<{ before: number }>()((db, { before }) => {
  const silent = db.selectFrom('processes').select('id').where('heard_time', '<', before).forUpdate().skipLocked()
  return db.deleteFrom('processes').where('id', 'in', silent).returning('id')
})

const removeOne = defineStatement<{ id: string }>()((db, { id }) =>
  db.deleteFrom('processes').where('id', '=', id).returning('id'),
)

/** What a process notes in memory, and writes with its beat instead of in transactions of its own. */
interface Uses {
  write(tx: Transaction): void
}

/** Lets the other processes, and operators, know that this one is there. */
export class Heartbeat {
  readonly #database: Database
  readonly #clock: Clock
  readonly #process: ServiceProcess
  readonly #guard: Pick<ClockGuard, 'state' | 'mayDelete'>
  readonly #agreement: Pick<Agreement, 'publish' | 'compare'>
  readonly #uses: Uses
  readonly #loop: Loop

  constructor(
    database: Database,
    clock: Clock,
    log: Log,
    self: ServiceProcess,
    guard: Pick<ClockGuard, 'state' | 'mayDelete'>,
    agreement: Pick<Agreement, 'publish' | 'compare'>,
    uses: Uses,
  ) {
    this.#database = database
    this.#clock = clock
    this.#process = self
    this.#guard = guard
    this.#agreement = agreement
    this.#uses = uses
    this.#loop = new Loop({
      work: () => this.#beat(),
      pause: 0,
      every: beatMilliseconds,
      onFailure: (error) => {
        if (!database.outageOf(error)) log.error({ err: error }, 'this process could not report that it is there')
      },
    })
  }

  start(): void {
    this.#loop.start()
    this.#loop.wake()
  }

  /** The clock was moved: what was written before is of another time. */
  wake(): void {
    this.#loop.wake()
  }

  async settle(): Promise<void> {
    await this.#loop.settle()
  }

  /** A process that stops is gone at once; one that is killed, or whose store is gone, when it has not written for a while. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    if (this.#database.outage()) return
    const { id } = this.#process
    const removed = this.#database.transaction(async (tx) => tx.run(removeOne, { id })).catch(() => undefined)
    await Promise.race([removed, wait(stopTimeoutMs, undefined, { ref: false })])
  }

  async #beat(): Promise<void> {
    const now = this.#clock.now()
    await this.#database.transaction(async (tx) => {
      tx.run(beat, { ...this.#process, now, clock_offset: this.#guard.state.offset })
      this.#agreement.publish(tx)
      this.#uses.write(tx)
      // By a clock that is ahead all others would seem silent.
      if (this.#guard.mayDelete()) tx.run(removeSilent, { before: now - keepMilliseconds })
    })
    await this.#agreement.compare(now)
  }
}

const findAlive = defineStatement<{ since: number }>()((db, { since }) =>
  db.selectFrom('processes').selectAll().where('heard_time', '>', since).orderBy('started_time').orderBy('id'),
)

/** The processes that have written since then. For operators: not bound to a tenant. */
export async function listProcessesForOperators(db: Db, since: number): Promise<ProcessesTable[]> {
  return db.list(findAlive, { since })
}
