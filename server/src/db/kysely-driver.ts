import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'

/** Runs one query; `changes` counts the rows that it wrote. */
export type Execute = (sql: string, parameters: readonly unknown[]) => Promise<{ rows: unknown[]; changes: number }>

/** Lets Kysely run its queries on a connection or a pool; the code above manages transactions. */
export class ExecutingDriver implements Driver {
  readonly #connection: DatabaseConnection

  constructor(execute: Execute) {
    this.#connection = {
      async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
        const { rows, changes } = await execute(sql, parameters)
        return { rows: rows as R[], numAffectedRows: BigInt(changes) }
      },
      // biome-ignore lint/correctness/useYield: streaming is not offered; lists are read page by page.
      async *streamQuery() {
        throw new Error('rows are read page by page, not streamed')
      },
    }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    throw new Error('transactions are opened with Database.transaction')
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}
