import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { openSecret, sealSecret } from '../../db/secrets/sealing.ts'
import type { SigningKeysTable } from '../../db/tables.ts'
import { makeSigningPair } from './signatures.ts'

export interface SigningKey {
  readonly id: string
  readonly private_key: string
}

/**
 * The current signing key, made if there is none. It stays current until this transaction ends: a rotation waits, and therefore finds
 * what was signed here.
 */
export async function takeSigningKey(tx: Transaction, clock: Clock, random: Random): Promise<SigningKey> {
  for (;;) {
    const known = await findKeyInUse(tx)
    if (known) return known
    // Either there is none, or the one that this waited for was just retired: the next round finds out.
    await insertSigningKey(tx, clock, random)
  }
}

async function findKeyInUse(tx: Transaction): Promise<SigningKey | undefined> {
  const row = await tx.query
    .selectFrom('signing_keys')
    .selectAll()
    .where('retired_time', 'is', null)
    .forShare()
    .executeTakeFirst()
  if (!row) return undefined
  if (row.private_key === null) throw new Error(`the signing key ${row.id} is in use but has no private half`)
  return { id: row.id, private_key: openSecret(tx, 'signing_keys.private_key', row.id, row.private_key) }
}

async function insertSigningKey(tx: Transaction, clock: Clock, random: Random): Promise<void> {
  const id = `k${random.bytes(8).toString('hex')}`
  const pair = makeSigningPair(random)
  const private_key = await sealSecret(tx, 'signing_keys.private_key', id, pair.private_key)
  await tx.query
    .insertInto('signing_keys')
    .values({ id, public_key: pair.public_key, private_key, created_time: clock.now(), retired_time: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * Replaces the current signing key, and deletes its private half. Of two concurrent rotations the second waits here, finds the key
 * already retired, and continues with the first one's.
 */
export async function replaceSigningKey(tx: Transaction, clock: Clock, random: Random): Promise<SigningKey> {
  await tx.query
    .updateTable('signing_keys')
    .set({ retired_time: clock.now(), private_key: null })
    .where('retired_time', 'is', null)
    .execute()
  return takeSigningKey(tx, clock, random)
}

export interface ListedSigningKey extends Pick<SigningKeysTable, 'id' | 'created_time' | 'retired_time'> {
  /** How many stored keys have its signature. */
  readonly signatures: number
}

/** Every signing key, the newest first; never a private half. */
export async function listSigningKeysForOperators(db: Db): Promise<ListedSigningKey[]> {
  return db.query
    .selectFrom('signing_keys')
    .leftJoin('business_public_keys', 'business_public_keys.signing_key_id', 'signing_keys.id')
    .select(['signing_keys.id', 'created_time', 'retired_time'])
    .select(({ fn }) => fn.count<number>('phone_number_id').as('signatures'))
    .groupBy(['signing_keys.id', 'created_time', 'retired_time'])
    .orderBy('created_time', 'desc')
    .orderBy('signing_keys.id')
    .execute()
}
