import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'

/** Reads the embedded store beside the server that works on it: all of it as of one moment. */
export class StoreView {
  readonly #handle: DatabaseSync

  constructor(handle: DatabaseSync) {
    this.#handle = handle
  }

  static async look<T>(dataDir: string, work: (store: StoreView) => T | Promise<T>): Promise<T> {
    const handle = new DatabaseSync(join(dataDir, 'switchboard.db'), { readOnly: true, timeout: 5000 })
    try {
      handle.exec('BEGIN')
      return await work(new StoreView(handle))
    } finally {
      handle.close()
    }
  }

  rows<Row extends object>(sql: string, ...parameters: SQLInputValue[]): Row[] {
    return this.#handle.prepare(sql).all(...parameters) as Row[]
  }
}
