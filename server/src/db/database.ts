import type { Kysely } from 'kysely'
import type { KeyRing } from '../base/keys/key-ring.ts'
import type { Notifications } from './notifications.ts'
import type { Statement, StatementRunner } from './statement.ts'
import type { AppsTable, LanesTable, Tables } from './tables.ts'

/** A target of queries: the database as committed, or one transaction. */
export interface Db extends StatementRunner {
  /** Builds and runs any query. */
  readonly query: Kysely<Tables>
  /**
   * Values derived from committed rows, by key; every commit empties the cache. Undefined when other processes' commits are not
   * noticed, and in a transaction, which sees uncommitted rows.
   */
  cached<Value>(cacheName: CacheName<Value>): Map<string, Value> | undefined
  /** Opens and seals the secrets of this store; the same for all connections. */
  readonly secrets: KeyRing
}

/** Names a cache: declared once, like a statement. */
export interface CacheName<Value> {
  readonly name: string
  readonly holds?: Value
}

/** A subscriber with deliveries to send, and who held its lane when they were raised: null when nobody did. */
export type DueLane = Readonly<Pick<LanesTable, 'id' | 'app_id' | 'callback_url'>> & {
  readonly holder?: string | null
  /** Whether its row does not say yet that it is due, but a note beside it does. */
  readonly isNoted?: boolean
  /** All deliveries that the commit made for the lane; undefined when they must be read. */
  readonly raised?: RaisedDeliveries | undefined
}

/** Deliveries as the transaction stored them that raised their events. */
export interface RaisedDeliveries {
  readonly deliveries: readonly RaisedDelivery[]
  /** When they were stored at the earliest, by the clock of the process. */
  readonly since: number
  /** The sealed secret that the app had. */
  readonly secret: AppsTable['secret'] | undefined
}

export interface RaisedDelivery {
  readonly id: number
  readonly event_id: number
  readonly account_id: string
  readonly field: string
  readonly conversation: string
  readonly created_time: number
  readonly previous_id: number | null
  readonly value: string
  readonly trace: string | null
  readonly span: string | null
}

/** What a commit made due: the earliest of the timers that it set, the lanes that it raised events for, and whether there are links to fetch. */
export interface Due {
  readonly timers: number | undefined
  readonly lanes: readonly DueLane[]
  readonly links: boolean
}

/** The request that work is done for. */
export interface Cause {
  readonly trace?: string | undefined
  /** Its span, as the end of a traceparent: id and flags. Undefined where nobody asks for it. */
  readonly span?: string | undefined
}

/**
 * Created only by `transaction`: code that must write together with other changes asks for this type. It is of use until the work of the
 * transaction has returned or thrown; every member that reaches the store throws `TransactionEnded` from then on. A class, so that a
 * copy of its members is not taken for a transaction.
 */
export abstract class Transaction implements Db {
  readonly #inTransaction = true

  get inTransaction(): true {
    return this.#inTransaction
  }

  abstract readonly query: Kysely<Tables>
  abstract readonly secrets: KeyRing
  /** The request that it is done for; empty when it is for none, or for several. */
  abstract readonly cause: Cause

  abstract first<Parameters extends object, Row>(
    statement: Statement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Readonly<Row> | undefined>

  abstract list<Parameters extends object, Row>(
    statement: Statement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Row[]>

  /**
   * Runs a write without a result. It runs before every later statement of the transaction, but may be sent together with the next
   * one; if it fails, the transaction fails.
   */
  abstract run<Parameters extends object>(statement: Statement<Parameters, unknown>, parameters: Parameters): void

  /** The same for a statement that must return a row: without one the transaction fails with the error that `otherwise` makes. */
  abstract require<Parameters extends object>(
    statement: Statement<Parameters, unknown>,
    parameters: Parameters,
    otherwise: () => Error,
  ): void

  /**
   * Like `list`, for rows that are needed only after the commit: the statement may be sent with later ones and with the commit. When
   * it signals (`signal.ts`), the whole transaction runs again without this method, so that the caller awaits the rows and deals with
   * them. Undefined then, and on a database where waiting costs nothing.
   */
  abstract readonly defer:
    | (<Parameters extends object, Row>(
        statement: Statement<Parameters, Row>,
        parameters: Parameters,
        take: (rows: Row[]) => void,
      ) => void)
    | undefined

  /** Holds a statement's locks (`FOR UPDATE`, `LOCK TABLE`) until the transaction ends. Does nothing if transactions never overlap. */
  abstract lock<Parameters extends object>(statement: Statement<Parameters, unknown>, parameters: Parameters): void

  /** Notes that its commit makes something due: the responsible worker is woken then, and no other. */
  abstract makeDue(due: Partial<Due>): void

  /** The same transaction, for work that is done for another request. */
  abstract withCause(cause: Cause): Transaction

  /** Its rows are not committed. */
  cached<Value>(_cacheName: CacheName<Value>): Map<string, Value> | undefined {
    return undefined
  }
}

/** A statement of work that outlived its transaction, for example of a branch that was not awaited after another one failed. */
export class TransactionEnded extends Error {
  constructor() {
    super('the transaction has ended: its work must await everything that it begins before it returns or throws')
  }
}

export interface TransactionOptions extends Cause {
  /**
   * Whether it may not share a commit with others: for work that also changes something outside the store, which must rely only on
   * rows that are durable.
   */
  readonly alone?: boolean
  /** Among whom the write connections are shared fairly: an app's id. No key gets all of them. By default `ownFairnessKey`. */
  readonly fairnessKey?: string
  /**
   * What its work locks, where that is all: on a database server, transactions of one moment and fairness key that hold different things
   * are one, in which each goes on beside the others. No lock keeps those apart, so such work changes no row that another one reads to
   * change it, and has no effect but on the store: it may run again.
   */
  readonly holds?: string | undefined
  /** Whether what it deletes is overwritten in the file of an embedded store; `emptyLog` does the rest. */
  readonly wipes?: boolean
}

/** One window of a limit: permits per period, counted under a key. */
export interface CountedWindow {
  readonly key: string
  readonly milliseconds: number
}

export interface TakenPermits {
  /** How many permits were taken in total, including these; it may exceed the limit. */
  readonly taken: number
  /** When the window ends and counting starts again. */
  readonly end_time: number
}

/** Counters that processes share. A window begins with the first permit taken from it. */
export interface Counters {
  take(window: CountedWindow, permits: number, now: number): TakenPermits | Promise<TakenPermits>
  /** Forgets what is counted in memory. */
  clear(): void
}

/** The fairness key of the service itself: its workers and commands. */
export const ownFairnessKey = ''

/**
 * Why the store cannot work at the moment, although the request is valid: it takes no writes (for example its disk is full), it does
 * not respond, or other transactions blocked this one for too long.
 */
export type Outage = 'unwritable' | 'unreachable' | 'busy'

export interface Database {
  /** Its name for people. */
  readonly product: string
  /** Whether it belongs to one process, which runs transactions one after the other. */
  readonly isEmbedded: boolean
  /** The limit counters of all processes together. */
  readonly counters: Counters
  /** Reads committed data; never waits for a writer. */
  readonly read: Db
  /** The same for operators and health, which go on when every connection is taken: one is kept for them. */
  readonly reserved: Db
  /** Runs `work` entirely or not at all. `work` may run again when the database asks for a retry. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * One statement as a transaction of its own: on PostgreSQL it takes one round trip instead of three. For statements that wait for no
   * lock, because no time is set for that.
   */
  execute<Parameters extends object, Row>(statement: Statement<Parameters, Row>, parameters: Parameters): Promise<Row[]>
  /** Short notifications between the processes on one database; undefined when there is only one. */
  readonly notifications: Notifications | undefined
  /** Calls `listener` after each commit of this process that made something due; returns a function that stops it. */
  onDue(listener: (due: Due) => void): () => void
  /** Reads from a snapshot of the store, however long they take; writers do not wait for them. */
  snapshot<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** The declaration of a column with ascending numbers from the database: `ORDERED_ID` in migrations. */
  readonly orderedId: string
  /** Runs a script of several statements inside a transaction: only for migrations. */
  runScript(tx: Transaction, script: string): Promise<void>
  /** Runs the work of a migration, in several transactions, while every other process that wants to migrate the same database waits. */
  migrate<T>(patience: MigrationPatience, work: (session: MigrationSession) => Promise<T>): Promise<T>
  /** Purges from the log of an embedded store what is no longer in its file, unless somebody reads the store for long. */
  emptyLog(): Promise<void>
  /** Purges deleted data of these tables from the database's files by rewriting them. */
  scrub(tables: readonly string[]): Promise<void>
  /** Throws when the database does not respond. */
  ping(): Promise<void>
  /** The connections of this process for transactions and lists; undefined where it has none. */
  readonly connections: (() => ConnectionCounts) | undefined
  /**
   * Whether an error means that the store cannot work at the moment. Callers need not log it: an outage is logged once, however many
   * run into it.
   */
  outageOf(error: unknown): Outage | undefined
  /** The current outage; undefined when none is known. */
  outage(): Outage | undefined
  close(): Promise<void>
}

interface ConnectionCounts {
  readonly inUse: number
  readonly idle: number
  readonly max: number
  /** How many transactions and lists wait for one. */
  readonly waiting: number
}

/** How long a migration of a store that others use is in their way, in milliseconds. */
export interface MigrationPatience {
  /** Waiting in the queue for a table: whoever comes later, with a read or a write, waits behind it. */
  readonly lockTimeout: number
  /** Between two tries: what waited meanwhile is done. */
  readonly pause: number
}

/** What only migrations do. */
export interface MigrationSession {
  /**
   * Begins a transaction that changes the schema, alone among all processes: it fails as `DatabaseBusy` when it waits for a lock for
   * longer than others can wait behind it.
   */
  begin(tx: Transaction): Promise<void>
  /** For a store that others use meanwhile; undefined: nobody does. */
  readonly live: LiveMigration | undefined
}

/** How a schema is changed while others use it. */
export interface LiveMigration {
  /** Builds an index while others write to its table, outside of a transaction. What a build that was broken off left is removed before. */
  buildIndex(name: string, statement: string): Promise<void>
  /** Who may hold the lock that could not be had, in words. */
  describeObstacle(): Promise<string>
  /** Lets others work before the next try. */
  pause(): Promise<void>
}

/** A database that cannot be opened or reached, in one line for the operator. */
export class DatabaseUnavailable extends Error {}

/**
 * A transaction that was not run, or was rolled back, because others blocked it for too long: a lock was not released (`locked`), no
 * connection became free (`waited`), or too many with its fairness key already wait (`crowded`).
 */
export class DatabaseBusy extends Error {
  readonly kind: 'locked' | 'waited' | 'crowded'

  constructor(kind: DatabaseBusy['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** No connection became free, because the database stopped responding to what holds them. */
export class DatabaseSilent extends Error {}

/** A store that a newer version of the service has written. */
export class UnknownMigrations extends Error {}

/** A migration that was added below one that the store has already run. */
export class MigrationsOutOfOrder extends Error {}
