import type { Kysely } from 'kysely'
import type { KeyRing } from '../base/key-ring.ts'
import type { Notices } from './notices.ts'
import type { Statement, StatementRunner } from './statement.ts'
import type { LanesTable, Tables } from './tables.ts'

/** Something that queries run on: the database as committed, or one transaction. */
export interface Db extends StatementRunner {
  /** Builds and runs any query. */
  readonly query: Kysely<Tables>
  /**
   * What was worked out from committed rows, by key; every commit empties it. Undefined where commits of others are not
   * noticed, and in a transaction, which sees what is not committed.
   */
  cached<Value>(cacheName: CacheName<Value>): Map<string, Value> | undefined
  /** Opens and seals the secrets of this store; for all connections the same. */
  readonly secrets: KeyRing
}

/** Names a cache: declared once, like a statement. */
export interface CacheName<Value> {
  readonly name: string
  readonly holds?: Value
}

/** A subscriber that there is something to send to. */
export type DueLane = Readonly<Pick<LanesTable, 'id' | 'app_id' | 'callback_url'>>

/** What a commit has made due: when the earliest of the timers that it set is, and the lanes that it raised events for. */
export interface Due {
  readonly timers: number | undefined
  readonly lanes: readonly DueLane[]
}

/** Only ever handed out by `transaction`: what must be written with something else asks for this type. */
export interface Transaction extends Db {
  readonly inTransaction: true
  /**
   * Runs a write whose result nobody needs. It is done before everything that is asked for after it, but may be sent together with
   * that; what it fails by fails the transaction.
   */
  run<Parameters extends object>(statement: Statement<Parameters, unknown>, parameters: Parameters): void
  /** The same for a statement that must return a row: without one the transaction fails by `otherwise`. */
  require<Parameters extends object>(
    statement: Statement<Parameters, unknown>,
    parameters: Parameters,
    otherwise: Error,
  ): void
  /** Holds what a statement locks (`FOR UPDATE`, `LOCK TABLE`) until the transaction ends. Nothing, where transactions never overlap. */
  lock<Parameters extends object>(statement: Statement<Parameters, unknown>, parameters: Parameters): void
  /** Notes that its commit makes something due: who works on that is woken then, and nobody else. */
  makeDue(due: Partial<Due>): void
}

export interface TransactionOptions {
  /**
   * Whether it may not be brought to the disk together with others: for work that also changes something outside the store, which
   * must rest on what is on the disk and on nothing that could still be undone.
   */
  readonly alone?: boolean
  /**
   * On whose account it waits for one of the connections that write: an app's id. No share takes all of them. Left out: the service's own.
   */
  readonly share?: string
}

/** One window of a limit: permits within so long, counted under a key. */
export interface CountedWindow {
  readonly key: string
  readonly milliseconds: number
}

export interface TakenPermits {
  /** How many were taken by all, these included; it may be more than there are. */
  readonly taken: number
  /** When the window ends, and counting begins anew. */
  readonly end_time: number
}

/** Counts what processes share. A window begins with the first permit that is taken of it. */
export interface Counters {
  take(window: CountedWindow, permits: number, now: number): TakenPermits | Promise<TakenPermits>
}

/** What counts towards the places of the service itself: its workers and commands. */
export const ownShare = ''

/**
 * Why the store cannot do its work at the moment, though nothing is wrong with what was asked of it: it takes no writes (its disk
 * is full, say), does not answer at all, or others are in the way of this one for too long.
 */
export type Outage = 'unwritable' | 'unreachable' | 'busy'

export interface Database {
  /** What it is, for people. */
  readonly product: string
  /** Whether it belongs to one process, which runs one transaction after the other. */
  readonly isEmbedded: boolean
  /** Counts limits, for all processes together. */
  readonly counters: Counters
  /** Reads committed data; never waits for a writer. */
  readonly read: Db
  /** All that `work` does, or nothing of it. `work` may be run again when the database asks for that. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** One statement that is a transaction by itself: on PostgreSQL it takes one round trip instead of three. */
  execute<Parameters extends object, Row>(statement: Statement<Parameters, Row>, parameters: Parameters): Promise<Row[]>
  /** Short notices between the processes on one database; undefined where there is only one. */
  readonly notices: Notices | undefined
  /** Calls `listener` after each commit of this process that made something due, until the function that is returned is called. */
  onDue(listener: (due: Due) => void): () => void
  /** Reads that all see the store as it was at one moment, however long they take; no writer waits for them. */
  snapshot<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** How a column is declared whose numbers the database hands out in order: `ORDERED_ID` in migrations. */
  readonly orderedId: string
  /** Runs a script of several statements inside a transaction: for migrations alone. */
  runScript(tx: Transaction, script: string): Promise<void>
  /** Makes every other process wait that wants to migrate the same database. */
  lockForMigration(tx: Transaction): Promise<void>
  /** Takes out of the database's files what was once in these tables and is no more, by writing them anew. */
  scrub(tables: readonly string[]): Promise<void>
  /** Throws when the database does not answer. */
  ping(): Promise<void>
  /**
   * Whether an error says that the store cannot do its work at the moment. Whoever asks need not tell the log: an outage is told
   * there once, however many run into it.
   */
  outageOf(error: unknown): Outage | undefined
  /** The outage that goes on; undefined: none is known. */
  outage(): Outage | undefined
  close(): Promise<void>
}

/** A database that cannot be opened or reached, said in one line for the person who starts the service. */
export class DatabaseUnavailable extends Error {}

/**
 * A transaction that was not run, or was undone, because others were in its way for too long: a lock that was not let go (`locked`), no connection that
 * became free (`waited`), or too many of its own share that wait already (`crowded`).
 */
export class DatabaseBusy extends Error {
  readonly kind: 'locked' | 'waited' | 'crowded'

  constructor(kind: DatabaseBusy['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** A store that was written by a newer version of the service. */
export class UnknownMigrations extends Error {}
