import type { Transaction } from '../../db/database.ts'

/** Ends deliveries that may no longer be sent, except those already finished. */
export async function withdrawDeliveries(tx: Transaction, ids: readonly number[], now: number): Promise<void> {
  if (ids.length > 0) await withdraw(tx, now).where('id', 'in', ids).execute()
}

/** The same without waiting for deliveries that somebody else has locked: for the reader, which meets them again. Returns the others. */
export async function withdrawUnlocked(tx: Transaction, ids: readonly number[], now: number): Promise<Set<number>> {
  const unlocked = tx.query.selectFrom('deliveries').select('id').where('id', 'in', ids).forUpdate().skipLocked()
  const withdrawn = await withdraw(tx, now).where('id', 'in', unlocked).returning('id').execute()
  return new Set(withdrawn.map(({ id }) => id))
}

function withdraw({ query }: Transaction, finished_time: number) {
  return query.updateTable('deliveries').set({ state: 'withdrawn', finished_time }).where('state', '=', 'waiting')
}
