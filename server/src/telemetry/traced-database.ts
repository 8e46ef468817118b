import type { Clock } from '../base/time/clock.ts'
import type { Database } from '../db/database.ts'
import type { Spans } from './spans.ts'

/** A database whose transactions for requests are exported. */
export function traceTransactions(database: Database, clock: Clock, spans: Spans): Database {
  return {
    ...database,
    async transaction(work, options) {
      const { trace, span } = options ?? {}
      if (trace === undefined) return database.transaction(work, options)
      const began = performance.now()
      const note = (hasFailed: boolean) => {
        const milliseconds = performance.now() - began
        const start = clock.now() - milliseconds
        spans.noteTransaction({ trace, span, start, milliseconds, product: database.product, hasFailed })
      }
      try {
        const result = await database.transaction(work, options)
        note(false)
        return result
      } catch (error) {
        note(true)
        throw error
      }
    },
  }
}
