import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Database, Transaction } from '../../db/database.ts'
import { isSignatureGood, signFacts } from './signatures.ts'
import { replaceSigningKey, takeSigningKey } from './signing-keys.ts'
import { lockKeysSignedByOthers, updateSignature } from './store.ts'

/** How many keys one transaction signs: few, so that uploads never wait for long. */
const defaultBatchSize = 50

export interface Rotation {
  readonly signing_key_id: string
  readonly signed: number
  /** Keys whose signature did not verify: signing them again would make them valid. */
  readonly left: number
}

/**
 * Makes a new signing key and replaces the signatures of the earlier ones. An interruption loses nothing: the rest still verifies by
 * the stored public half, and is signed at the next rotation.
 */
export async function rotateSigningKey(
  database: Database,
  clock: Clock,
  random: Random,
  batchSize: number = defaultBatchSize,
): Promise<Rotation> {
  const { id } = await database.transaction((tx) => replaceSigningKey(tx, clock, random))
  let after = ''
  let signed = 0
  let left = 0
  for (;;) {
    const batch = await database.transaction((tx) => signBatch(tx, clock, random, after, batchSize))
    signed += batch.signed
    left += batch.left
    if (batch.last === undefined) return { signing_key_id: id, signed, left }
    after = batch.last
  }
}

/** Signs with the current key, which another rotation may have changed meanwhile. */
async function signBatch(tx: Transaction, clock: Clock, random: Random, after: string, limit: number) {
  const key = await takeSigningKey(tx, clock, random)
  const rows = await lockKeysSignedByOthers(tx, { signing_key_id: key.id, after, limit })
  let signed = 0
  for (const row of rows) {
    if (row.public_key === null || !isSignatureGood(row.public_key, row, row.signature)) continue
    // Over the same facts: a key of an earlier registration stays one.
    const signature = signFacts(key.private_key, row)
    await updateSignature(tx, { phone_number_id: row.phone_number_id, signing_key_id: key.id, signature })
    signed++
  }
  return { signed, left: rows.length - signed, last: rows.at(-1)?.phone_number_id }
}
