import type { Db, Transaction } from '../../db/database.ts'
import { openSecret, sealSecret } from '../../db/secrets/sealing.ts'
import type { VerificationCodesTable } from '../../db/tables.ts'
import type { WrongTries } from './codes.ts'

/*
 * The code and the PIN of a number. Every change locks the number first (`lockPhoneNumber`), so that concurrent requests come one after
 * the other.
 */

export async function findCode(db: Db, phone_number_id: string): Promise<VerificationCodesTable | undefined> {
  return db.query
    .selectFrom('verification_codes')
    .selectAll()
    .where('phone_number_id', '=', phone_number_id)
    .executeTakeFirst()
}

/** Stores the newest code, replacing the previous one. */
export async function putCode(tx: Transaction, code: VerificationCodesTable): Promise<void> {
  const { phone_number_id: _, ...columns } = code
  await tx.query
    .insertInto('verification_codes')
    .values(code)
    .onConflict((conflict) => conflict.column('phone_number_id').doUpdateSet(columns))
    .execute()
}

export async function setWrongTries(tx: Transaction, phone_number_id: string, tries: WrongTries): Promise<void> {
  await tx.query.updateTable('verification_codes').set(tries).where('phone_number_id', '=', phone_number_id).execute()
}

export async function removeCode(tx: Transaction, phone_number_id: string): Promise<void> {
  await tx.query.deleteFrom('verification_codes').where('phone_number_id', '=', phone_number_id).execute()
}

export async function findPinHash(db: Db, phone_number_id: string): Promise<string | undefined> {
  const row = await db.query
    .selectFrom('two_step_pins')
    .select('pin_hash')
    .where('phone_number_id', '=', phone_number_id)
    .executeTakeFirst()
  return row && openSecret(db, 'two_step_pins.pin_hash', phone_number_id, row.pin_hash)
}

/** Sealed as well: six digits can be found from their hash, however slow the hash is. */
export async function putPinHash(tx: Transaction, phone_number_id: string, hash: string): Promise<void> {
  const pin_hash = await sealSecret(tx, 'two_step_pins.pin_hash', phone_number_id, hash)
  await tx.query
    .insertInto('two_step_pins')
    .values({ phone_number_id, pin_hash })
    .onConflict((conflict) => conflict.column('phone_number_id').doUpdateSet({ pin_hash }))
    .execute()
}

export async function removePin(tx: Transaction, phone_number_id: string): Promise<void> {
  await tx.query.deleteFrom('two_step_pins').where('phone_number_id', '=', phone_number_id).execute()
}
