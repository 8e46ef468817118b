import type { Compilable, Kysely, RawBuilder } from 'kysely'
import type { Tables } from './tables.ts'

/** Stands for a value that is known only when the statement runs. */
class Parameter {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/**
 * A query that is built once and run often. On an embedded database, building and compiling a query costs more than running it, so
 * frequent queries are declared as constants and compiled at first use.
 */
export interface Statement<Parameters extends object, Row> {
  readonly build: (db: Kysely<Tables>, parameters: Parameters) => Compilable<Row>
  /** The same in several statements, for a database that cannot do it in one. */
  readonly steps?: Steps<Parameters, Row>
  /** The same row by row, for a database where reading rows from JSON costs more than a statement. */
  readonly byRow?: ByRow<Parameters, Row>
  /** The same for several works of one transaction at once, for a database server: it may be left out. */
  readonly together?: Together<Parameters, Row>
}

/** How one run of a statement serves several works, each with parameters of its own. */
export interface Together<Parameters extends object, Row> {
  readonly statement: Statement<never, unknown>
  /** Whether one run can serve both. Left out, it can serve any. */
  mayJoin?(one: Parameters, other: Parameters): boolean
  /** The parameters of the one run. */
  join(all: readonly Parameters[]): object
  /** The rows of each of them; left out where nobody asks for rows. */
  split?(rows: readonly Row[], all: readonly Parameters[]): readonly Row[][]
}

export interface ByRow<Parameters extends object, Row> {
  readonly statement: Statement<readonly unknown[], Row>
  /** The values of each row. */
  readonly split: (parameters: Parameters) => Iterable<readonly unknown[]>
  /** Asked first, with the parameters of all: where it returns no row, or one that does not do, nothing is written. */
  readonly when?: Condition<Parameters> | undefined
}

/** Runs declared statements. */
export interface StatementRunner {
  /** The row, or undefined. It is frozen with everything in it, because others may have got the same. */
  first<Parameters extends object, Row>(
    statement: Statement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Readonly<Row> | undefined>
  /** Every row. */
  list<Parameters extends object, Row>(statement: Statement<Parameters, Row>, parameters: Parameters): Promise<Row[]>
}

export interface Condition<Parameters extends object> {
  readonly statement: Statement<Parameters, object>
  readonly isMet: (row: object, parameters: Parameters) => boolean
}

/** What a write did: how many rows it changed, and the number that the last row which it inserted was given. */
export interface Written {
  readonly changes: number
  readonly id: number
}

/** Runs declared statements of the embedded database, which has their rows at once. */
export interface StepRunner {
  first<Parameters extends object, Row>(statement: Statement<Parameters, Row>, parameters: Parameters): Row | undefined
  list<Parameters extends object, Row>(statement: Statement<Parameters, Row>, parameters: Parameters): Row[]
  /** A write that returns no rows: `RETURNING` would keep them in a table of its own first. */
  write<Parameters extends object>(statement: Statement<Parameters, unknown>, parameters: Parameters): Written
}

export type Steps<Parameters extends object, Row> = (db: StepRunner, parameters: Parameters) => Row[]

export function defineStatement<Parameters extends object>() {
  return <Row>(build: (db: Kysely<Tables>, parameters: Parameters) => Compilable<Row>): Statement<Parameters, Row> => ({
    build,
  })
}

/** The same for SQL that the query builder cannot express: data-modifying CTEs, rows from JSON. */
export function defineSql<Parameters extends object>() {
  return <Row>(write: (parameters: Parameters) => RawBuilder<Row>): Statement<Parameters, Row> => ({
    build: (db, parameters) => ({ compile: () => write(parameters).compile(db) }),
  })
}

/**
 * A single statement for a database server, with the steps that the embedded database runs instead: it has neither writes in a CTE
 * nor lateral joins, and gains nothing from fewer statements. Steps that write run in a transaction.
 */
export function defineWithSteps<Parameters extends object, Row>(
  statement: Statement<Parameters, Row>,
  steps: Steps<Parameters, Row>,
): Statement<Parameters, Row> {
  return { build: statement.build, steps }
}

/** More than the values of any row. */
const rowPlaceholders = Array.from({ length: 32 }, (_, index) => new Parameter(String(index)))

/** A statement that takes its rows from JSON, with the statement for one row that the embedded database runs for each instead. */
export function defineWithRows<Parameters extends object, Row>(
  statement: Statement<Parameters, Row>,
  write: (values: readonly unknown[]) => RawBuilder<Row>,
  split: ByRow<Parameters, Row>['split'],
  when?: ByRow<Parameters, Row>['when'],
): Statement<Parameters, Row> {
  const one: Statement<readonly unknown[], Row> = {
    build: (db) => ({ compile: () => write(rowPlaceholders).compile(db) }),
  }
  return { build: statement.build, byRow: { statement: one, split, when } }
}

export interface CompiledStatement<Value = unknown> {
  readonly sql: string
  readonly bind: (parameters: object) => Value[]
}

/** `encode` gives the values the form that the database takes. */
export function compileStatement<Value = unknown>(
  db: Kysely<Tables>,
  statement: Statement<never, unknown>,
  encode: (value: unknown) => Value,
): CompiledStatement<Value> {
  const placeholders = new Proxy({}, { get: (_, name) => new Parameter(String(name)) })
  const { sql, parameters } = statement.build(db, placeholders as never).compile()
  const names = parameters.map((value) => (value instanceof Parameter ? value.name : undefined))
  const bind = (values: object) => {
    const bound: Value[] = []
    for (let index = 0; index < names.length; index++) {
      const name = names[index]
      bound.push(encode(name === undefined ? parameters[index] : (values as Record<string, unknown>)[name]))
    }
    return bound
  }
  return { sql, bind }
}
