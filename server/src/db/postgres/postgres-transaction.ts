import type { Kysely } from 'kysely'
import type { KeyRing } from '../../base/keys/key-ring.ts'
import { type Cause, type Due, Transaction } from '../database.ts'
import type { DueNotes } from '../due-work.ts'
import { freezeDeep } from '../freeze.ts'
import type { Statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import type { PipelinedTransaction } from './pipelined-transaction.ts'
import type { PostgresStatements } from './postgres-statements.ts'

/** Where a transaction sends its statements. */
export type TransactionPipeline = Pick<
  PipelinedTransaction,
  'query' | 'run' | 'require' | 'defer' | 'checkNotOver' | 'runScript'
>

/** What a transaction of PostgreSQL consists of. */
export interface PostgresTransactionParts {
  /** Refuses everything once the transaction has ended. */
  readonly pipeline: TransactionPipeline
  readonly due: DueNotes
  readonly statements: PostgresStatements
  readonly secrets: KeyRing
  /** Whether every statement is awaited whose rows somebody takes. */
  readonly isCareful: boolean
}

/** A transaction of PostgreSQL, as its work sees it. */
export class PostgresTransaction extends Transaction {
  readonly #parts: PostgresTransactionParts
  #query: Kysely<Tables> | undefined
  readonly cause: Cause
  readonly defer: Transaction['defer']

  constructor(parts: PostgresTransactionParts, cause: Cause) {
    super()
    this.#parts = parts
    this.cause = cause
    const { pipeline, statements, isCareful } = parts
    this.defer = isCareful
      ? undefined
      : (statement, parameters, take) =>
          pipeline.defer(statements.prepare(statement, parameters), ({ rows }) => take(rows as never))
  }

  get secrets(): KeyRing {
    return this.#parts.secrets
  }

  get query(): Kysely<Tables> {
    const { pipeline, statements } = this.#parts
    this.#query ??= statements.buildOn((query) => pipeline.query(query))
    return this.#query
  }

  async first<Parameters extends object, Row>(
    statement: Statement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Readonly<Row> | undefined> {
    return freezeDeep((await this.list(statement, parameters))[0])
  }

  async list<Parameters extends object, Row>(
    statement: Statement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Row[]> {
    const { pipeline, statements } = this.#parts
    return (await pipeline.query(statements.prepare(statement, parameters))).rows as Row[]
  }

  run<Parameters extends object>(statement: Statement<Parameters, unknown>, parameters: Parameters): void {
    const { pipeline, statements } = this.#parts
    pipeline.run(statements.prepare(statement, parameters))
  }

  lock<Parameters extends object>(statement: Statement<Parameters, unknown>, parameters: Parameters): void {
    this.run(statement, parameters)
  }

  require<Parameters extends object>(
    statement: Statement<Parameters, unknown>,
    parameters: Parameters,
    otherwise: () => Error,
  ): void {
    const { pipeline, statements } = this.#parts
    pipeline.require(statements.prepareRequired(statement, parameters), otherwise)
  }

  makeDue(due: Partial<Due>): void {
    const { pipeline, due: notes } = this.#parts
    pipeline.checkNotOver()
    notes.note(due)
  }

  withCause(cause: Cause): PostgresTransaction {
    return new PostgresTransaction(this.#parts, cause)
  }

  /** Several statements in one text, which may take any time. */
  runScript(text: string, timeout: number): Promise<void> {
    return this.#parts.pipeline.runScript(text, timeout)
  }
}
