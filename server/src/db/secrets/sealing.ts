import type { Db, Transaction } from '../database.ts'
import { defineStatement } from '../statement.ts'
import type { Sealed } from '../tables.ts'
import { type SealedPlace, writePlace } from './sealed-columns.ts'

const shareKeyInUse = defineStatement<object>()((db) =>
  db.selectFrom('sealing_keys').select('id').where('in_use', '=', true).forShare(),
)

/** Opens a sealed value, in the row that it was sealed for. */
export function openSecret(db: Db, column: SealedPlace, row: string, sealed: Sealed): string {
  return db.secrets.open(writePlace(column, row), sealed as unknown as string)
}

/** Whether a stored value is this text, sealed; false for an altered value. */
export function holdsSecret(db: Db, column: SealedPlace, row: string, sealed: Sealed, text: string): boolean {
  return db.secrets.tryOpen(writePlace(column, row), sealed as unknown as string) === text
}

/** Seals texts for the rows that will store them; `row` is the key's parts joined by spaces. */
export type Seal = (column: SealedPlace, row: string, text: string) => Sealed

/**
 * Seals with the store's current key, which may have changed since the process started. The key stays in use until this transaction
 * ends: a rotation waits, and therefore finds the values sealed here.
 */
export async function takeSeal(tx: Transaction): Promise<Seal> {
  const keyId = await takeKeyInUse(tx)
  return (column, row, text) => tx.secrets.seal(keyId, writePlace(column, row), text) as unknown as Sealed
}

/** The same for a single value. */
export async function sealSecret(tx: Transaction, column: SealedPlace, row: string, text: string): Promise<Sealed> {
  return (await takeSeal(tx))(column, row, text)
}

/** The id of the current key. */
export async function takeKeyInUse(tx: Transaction): Promise<string> {
  // After waiting for a rotation another row is in use: the second read finds it.
  const found = (await tx.first(shareKeyInUse, {})) ?? (await tx.first(shareKeyInUse, {}))
  if (!found) throw new Error('the store has no key in use: it was not unlocked')
  return found.id
}
