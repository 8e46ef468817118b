import { createHash } from 'node:crypto'
import { type Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type pg from 'pg'
import { encodeForPostgres } from '../codecs.ts'
import { makeBuilders } from '../kysely-driver.ts'
import { type CompiledStatement, compileStatement, type Statement, type Together } from '../statement.ts'
import type { Tables } from '../tables.ts'
import type { NamedQuery, StatementResult } from './batch.ts'
import { signalUnlessRow } from './signal.ts'

interface KnownStatement extends CompiledStatement {
  readonly name: string
}

/** A declared statement with its parameters, which are written when it is sent. */
export class BoundQuery implements NamedQuery {
  readonly name: string
  readonly text: string
  readonly statement: Statement<never, unknown>
  readonly parameters: object
  /** Whether it signals where it finds nothing. */
  readonly isRequired: boolean
  readonly #bind: CompiledStatement['bind']

  constructor(statement: Statement<never, unknown>, parameters: object, known: KnownStatement, isRequired: boolean) {
    this.name = known.name
    this.text = known.sql
    this.statement = statement
    this.parameters = parameters
    this.isRequired = isRequired
    this.#bind = known.bind
  }

  get values(): unknown[] {
    return this.#bind(this.parameters)
  }

  get together(): Together<object, object> | undefined {
    return this.statement.together as Together<object, object> | undefined
  }
}

/** Sends a query somewhere. */
export type Send = (query: pg.QueryConfig) => Promise<StatementResult>

/** Declared statements, compiled at their first use, and query builders. */
export class PostgresStatements {
  /** Declared statements are constants: there are as many as the code has. */
  readonly #known = new Map<Statement<never, unknown>, KnownStatement>()
  /** The same as those that must return a row. */
  readonly #required = new Map<Statement<never, unknown>, KnownStatement>()
  readonly #makeBuilder = makeBuilders({
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  })
  readonly #compiler = this.buildOn(() => Promise.reject(new Error('it only compiles')))
  #generation = 0

  /** How often the names were given anew. */
  get generation(): number {
    return this.#generation
  }

  /**
   * Gives every statement another name, so that each connection parses it again: a migration of a newer version has changed a table
   * whose columns it returns. Does nothing if somebody else did so since `generation`.
   */
  renew(generation: number): void {
    if (generation !== this.#generation) return
    this.#generation += 1
    this.#known.clear()
    this.#required.clear()
  }

  /** A named statement is parsed and planned once per connection. */
  prepare(statement: Statement<never, unknown>, parameters: object): BoundQuery {
    return new BoundQuery(statement, parameters, this.#find(statement), false)
  }

  /** The same for a statement that must return a row: without one it signals. */
  prepareRequired(statement: Statement<never, unknown>, parameters: object): BoundQuery {
    let required = this.#required.get(statement)
    if (!required) {
      const { name, sql, bind } = this.#find(statement)
      required = { name: `${name}_required`, sql: signalUnlessRow(sql), bind }
      this.#required.set(statement, required)
    }
    return new BoundQuery(statement, parameters, required, true)
  }

  /** A query builder whose queries are sent by `send`. */
  buildOn(send: Send): Kysely<Tables> {
    return this.#makeBuilder(async (text, parameters) => {
      const { rows, rowCount } = await send({ text, values: parameters.map(encodeForPostgres) })
      return { rows, changes: rowCount }
    })
  }

  #find(statement: Statement<never, unknown>): KnownStatement {
    let known = this.#known.get(statement)
    if (!known) {
      const fresh = compileStatement(this.#compiler, statement, encodeForPostgres)
      const hash = createHash('sha256').update(fresh.sql).digest('hex').slice(0, 32)
      known = { ...fresh, name: this.#generation === 0 ? hash : `${hash}_${this.#generation}` }
      this.#known.set(statement, known)
    }
    return known
  }
}

/**
 * Whether a statement failed because its table has got another column since the connection parsed it: PostgreSQL refuses it from then on.
 * Nothing of its transaction was done. Recognized by the routine of PostgreSQL that raised it, because its sentence may be in any language.
 */
export function isOutdated(error: unknown): boolean {
  const { code, routine } = error as { code?: string; routine?: string }
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}
