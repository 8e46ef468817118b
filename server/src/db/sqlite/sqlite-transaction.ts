import type { Kysely } from 'kysely'
import type { KeyRing } from '../../base/keys/key-ring.ts'
import { type Cause, type Due, Transaction, TransactionEnded } from '../database.ts'
import { DueNotes } from '../due-work.ts'
import type { Statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/** One run of a transaction's work, until it returns or throws. */
export class SqliteScope {
  readonly due = new DueNotes()
  readonly #writer: SqliteConnection
  #isOpen = true

  constructor(writer: SqliteConnection) {
    this.#writer = writer
  }

  /** Throws after its end, also when SQLite itself has rolled back, for example because the disk is full. */
  readonly check = (): void => {
    if (!this.#isOpen || !this.#writer.isTransactionOpen()) throw new TransactionEnded()
  }

  end(): void {
    this.#isOpen = false
  }
}

/** A transaction of the embedded store, as its work sees it. Statements run at once: waiting gains nothing. */
export class SqliteTransaction extends Transaction {
  readonly #writer: SqliteConnection
  readonly #scope: SqliteScope
  #query: Kysely<Tables> | undefined
  readonly cause: Cause

  constructor(writer: SqliteConnection, scope: SqliteScope, cause: Cause) {
    super()
    this.#writer = writer
    this.#scope = scope
    this.cause = cause
  }

  get defer(): undefined {
    return undefined
  }

  get secrets(): KeyRing {
    return this.#writer.secrets
  }

  get query(): Kysely<Tables> {
    this.#query ??= this.#writer.buildOn(this.#scope.check)
    return this.#query
  }

  async first<Parameters extends object, Row>(
    statement: Statement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Readonly<Row> | undefined> {
    this.#scope.check()
    return this.#writer.first(statement, parameters)
  }

  async list<Parameters extends object, Row>(
    statement: Statement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Row[]> {
    this.#scope.check()
    return this.#writer.list(statement, parameters)
  }

  run<Parameters extends object>(statement: Statement<Parameters, unknown>, parameters: Parameters): void {
    this.#scope.check()
    this.#writer.list(statement, parameters)
  }

  require<Parameters extends object>(
    statement: Statement<Parameters, unknown>,
    parameters: Parameters,
    otherwise: () => Error,
  ): void {
    this.#scope.check()
    this.#writer.require(statement, parameters, otherwise)
  }

  /** There is one writer at a time. */
  lock(): void {
    this.#scope.check()
  }

  makeDue(due: Partial<Due>): void {
    this.#scope.check()
    this.#scope.due.note(due)
  }

  withCause(cause: Cause): SqliteTransaction {
    return new SqliteTransaction(this.#writer, this.#scope, cause)
  }

  runScript(script: string): void {
    this.#scope.check()
    this.#writer.execute(script)
  }
}
