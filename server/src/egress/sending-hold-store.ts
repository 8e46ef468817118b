import type { Database, Db, Transaction } from '../db/database.ts'
import { defineStatement } from '../db/statement.ts'

declare module '../db/tables.ts' {
  interface Tables {
    sending_hold: SendingHoldTable
  }
}

/** When sending was held, and when it was released; null: it is held. */
interface SendingHoldTable {
  id: string
  held_time: number
  released_time: number | null
  last_delivery: number
}

export type StoredHold = Readonly<Omit<SendingHoldTable, 'id'>>

const id = 'sending'

const selectHold = defineStatement<object>()((db) =>
  db.selectFrom('sending_hold').select(['held_time', 'released_time', 'last_delivery']),
)

/** The last time that sending was held; undefined in a store where it never was. */
export async function readSendingHold(db: Db): Promise<StoredHold | undefined> {
  return db.first(selectHold, {})
}

/** Holds sending from now on. Returns how it is held, which may be since an earlier time. */
export async function holdSending(database: Database, now: number): Promise<StoredHold> {
  return database.transaction(async (tx) => {
    const before = await lockHold(tx)
    if (before?.released_time === null) return before
    const newest = await tx.query
      .selectFrom('deliveries')
      .select(({ fn }) => fn.max('id').as('id'))
      .executeTakeFirst()
    const hold = { held_time: now, released_time: null, last_delivery: newest?.id ?? 0 }
    const insert = tx.query.insertInto('sending_hold').values({ id, ...hold })
    await insert.onConflict((conflict) => conflict.column('id').doUpdateSet(hold)).execute()
    return hold
  })
}

/** Returns whether sending was held. */
export async function releaseSending(database: Database, now: number): Promise<boolean> {
  return database.transaction(async (tx) => {
    const before = await lockHold(tx)
    if (before?.released_time !== null) return false
    await tx.query.updateTable('sending_hold').set({ released_time: now }).execute()
    return true
  })
}

async function lockHold({ query }: Transaction): Promise<StoredHold | undefined> {
  return query.selectFrom('sending_hold').selectAll().forUpdate().executeTakeFirst()
}
