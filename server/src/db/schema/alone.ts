import type { Database, Transaction } from '../database.ts'

/** Its locks may take any time: nobody else migrates, but requests may hold rows. */
const patience = { lockTimeout: 0, pause: 0 }

/** One transaction during which no process migrates the database, or does anything else of this kind. */
export function transactAlone<T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return database.migrate(patience, (session) =>
    database.transaction(async (tx) => {
      await session.begin(tx)
      return work(tx)
    }),
  )
}
