import { sql } from 'kysely'
import type { Db, Transaction } from '../db/database.ts'
import { defineSql, defineStatement } from '../db/statement.ts'

/**
 * How many bytes an owner has stored: the media files of an account, and the resumable uploads of a business. Counted in one row that is
 * written last in its transaction, because adding up the files of an account would take longer the more it has.
 */
const findBytes = defineStatement<{ owner_id: string }>()((db, { owner_id }) =>
  db.selectFrom('stored_bytes').select('bytes').where('owner_id', '=', owner_id),
)

/** Whether so many bytes more are within what an owner may store. */
export async function hasRoom(db: Db, owner_id: string, bytes: number, most: number): Promise<boolean> {
  const found = await db.first(findBytes, { owner_id })
  return (found?.bytes ?? 0) + bytes <= most
}

const addToOwner = defineSql<{ owner_id: string; bytes: number }>()(
  ({ owner_id, bytes }) => sql<{ bytes: number }>`
    INSERT INTO stored_bytes (owner_id, bytes) VALUES (${owner_id}, ${bytes})
    ON CONFLICT (owner_id) DO UPDATE SET bytes = stored_bytes.bytes + excluded.bytes RETURNING bytes`,
)

/** Counts bytes, and returns how many the owner has with them: who may not have so many rolls back. */
export async function addBytes(tx: Transaction, owner_id: string, bytes: number): Promise<number> {
  const row = await tx.first(addToOwner, { owner_id, bytes })
  return row?.bytes ?? 0
}

const takeFromOwner = defineStatement<{ owner_id: string; bytes: number }>()((db, { owner_id, bytes }) =>
  db
    .updateTable('stored_bytes')
    .set({ bytes: sql`CASE WHEN bytes > ${bytes} THEN bytes - ${bytes} ELSE 0 END` })
    .where('owner_id', '=', owner_id),
)

export function removeBytes(tx: Transaction, owner_id: string, bytes: number): void {
  tx.run(takeFromOwner, { owner_id, bytes })
}
