import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { BusinessPublicKeysTable } from '../../db/tables.ts'
import type { Node } from '../../graph/nodes.ts'

const findByNumber = defineStatement<{ id: string; account_id: string }>()((db, { id, account_id }) =>
  db
    .selectFrom('business_public_keys')
    .innerJoin('phone_numbers', 'phone_numbers.id', 'business_public_keys.phone_number_id')
    .leftJoin('signing_keys', 'signing_keys.id', 'business_public_keys.signing_key_id')
    .selectAll('business_public_keys')
    .select(['signing_keys.public_key', 'phone_numbers.registration_epoch as current_epoch'])
    .where('phone_number_id', '=', id)
    .where('account_id', '=', account_id),
)

/** A stored key with what its signature is checked against. */
export interface SignedPublicKey extends BusinessPublicKeysTable {
  /** The public half of the key that signed it. */
  readonly public_key: string | null
  /** The number's current registration. */
  readonly current_epoch: number
}

/** The public key of a number; undefined before any upload. */
export async function findPublicKey(db: Db, { id, account_id }: Node): Promise<SignedPublicKey | undefined> {
  return db.first(findByNumber, { id, account_id: account_id ?? '' })
}

export async function replacePublicKey(tx: Transaction, row: BusinessPublicKeysTable): Promise<void> {
  const { phone_number_id, ...changes } = row
  await tx.query
    .insertInto('business_public_keys')
    .values({ phone_number_id, ...changes })
    .onConflict((conflict) => conflict.column('phone_number_id').doUpdateSet(changes))
    .execute()
}

/** Keys in the order of their numbers whose signature is not by the given key, locked until the transaction ends. */
export async function lockKeysSignedByOthers(
  tx: Transaction,
  { signing_key_id, after, limit }: { signing_key_id: string; after: string; limit: number },
): Promise<(BusinessPublicKeysTable & { readonly public_key: string | null })[]> {
  return tx.query
    .selectFrom('business_public_keys')
    .leftJoin('signing_keys', 'signing_keys.id', 'business_public_keys.signing_key_id')
    .selectAll('business_public_keys')
    .select('signing_keys.public_key')
    .where('phone_number_id', '>', after)
    .where('signing_key_id', '!=', signing_key_id)
    .orderBy('phone_number_id')
    .limit(limit)
    .forUpdate('business_public_keys')
    .execute()
}

export async function updateSignature(
  tx: Transaction,
  {
    phone_number_id,
    signing_key_id,
    signature,
  }: Omit<BusinessPublicKeysTable, 'business_public_key' | 'registration_epoch'>,
): Promise<void> {
  await tx.query
    .updateTable('business_public_keys')
    .set({ signing_key_id, signature })
    .where('phone_number_id', '=', phone_number_id)
    .execute()
}
