import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
} from 'kysely'
import type { Tables } from './tables.ts'

/** Runs one query; `changes` counts the rows that it wrote. */
export type Execute = (sql: string, parameters: readonly unknown[]) => Promise<{ rows: unknown[]; changes: number }>

/** The code above manages connections and transactions. */
const unusedDriver: Driver = {
  init: () => Promise.resolve(),
  acquireConnection: () => refuse(),
  beginTransaction: () => refuse(),
  commitTransaction: () => refuse(),
  rollbackTransaction: () => refuse(),
  releaseConnection: () => refuse(),
  destroy: () => Promise.resolve(),
}

async function refuse(): Promise<never> {
  throw new Error('transactions are opened with Database.transaction')
}

/** Makes query builders of one dialect that run their queries where their maker says: cheap enough for one a transaction. */
export function makeBuilders(dialect: Omit<Dialect, 'createDriver'>): (execute: Execute) => Kysely<Tables> {
  const whole: Dialect = {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => unusedDriver,
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  }
  const config = { dialect: whole }
  const [adapter, compiler] = [whole.createAdapter(), whole.createQueryCompiler()]
  return (execute) => {
    const connection = new ExecutingConnection(execute)
    const executor = new DefaultQueryExecutor(compiler, adapter, {
      provideConnection: (consumer) => consumer(connection),
    })
    return new Kysely<Tables>({ config, dialect: whole, driver: unusedDriver, executor })
  }
}

class ExecutingConnection implements DatabaseConnection {
  readonly #execute: Execute

  constructor(execute: Execute) {
    this.#execute = execute
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = await this.#execute(sql, parameters)
    return { rows: rows as R[], numAffectedRows: BigInt(changes) }
  }

  streamQuery(): never {
    throw new Error('rows are read page by page, not streamed')
  }
}
