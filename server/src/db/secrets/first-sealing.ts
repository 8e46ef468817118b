import type { Random } from '../../base/keys/random.ts'
import { beforeFirst, lockValues, setValues, type TextColumn } from '../column-values.ts'
import type { Transaction } from '../database.ts'
import { hashSecretName, keyedHash, keyedHashPrefix } from './keyed-hash.ts'
import { type SealedPlace, sealedColumns, writePlace } from './sealed-columns.ts'
import { takeKeyInUse, takeSeal } from './sealing.ts'
import { serviceSecretWithin } from './stored-secrets.ts'

/** The only timer with a secret in its payload before there was a column for it. */
const carrierTimer = 'carrier.post'

/**
 * Seals the plain secrets of an older store in one transaction, and returns how many. A value that is already sealed is left alone;
 * a value that only looks sealed is sealed.
 */
export async function sealPlainValues(tx: Transaction, random: Random): Promise<number> {
  tx.secrets.setHashSecret(await serviceSecretWithin(tx, random, hashSecretName))
  let count = await hashVerifyTokens(tx)
  count += await hashTokens(tx)
  count += await moveTimerSecrets(tx)
  for (const place of Object.keys(sealedColumns) as SealedPlace[]) count += await sealColumn(tx, place)
  return count
}

async function sealColumn(tx: Transaction, place: SealedPlace): Promise<number> {
  const keyId = await takeKeyInUse(tx)
  return changeColumn(tx, sealedColumns[place], (key, value) => {
    const bound = writePlace(place, key.join(' '))
    const isSealed = tx.secrets.tryOpen(bound, value) !== undefined
    return isSealed ? undefined : tx.secrets.seal(keyId, bound, value)
  })
}

/** A token's own text is unknown here: the keyed hash is made from the stored plain hash. */
function hashTokens(tx: Transaction): Promise<number> {
  return changeColumn(tx, { table: 'tokens', column: 'hash', key: ['id'] }, (_key, value) =>
    value.startsWith(keyedHashPrefix) ? undefined : keyedHash(tx, 'token', value),
  )
}

async function hashVerifyTokens(tx: Transaction): Promise<number> {
  const key = ['app_id', 'object']
  const read: TextColumn = { table: 'app_subscriptions', column: 'verify_token', key }
  const write: TextColumn = { ...read, column: 'verify_token_hash' }
  for (let after = beforeFirst(read); ; ) {
    const batch = await lockValues(tx, read, after)
    const last = batch.at(-1)
    if (!last) return 0
    const hashes = batch.map(({ key, value }) => ({ key, value: keyedHash(tx, 'verify token', value) }))
    await setValues(tx, write, hashes)
    after = last.key
  }
}

async function moveTimerSecrets(tx: Transaction): Promise<number> {
  const timers = await tx.query
    .selectFrom('timers')
    .select(['id', 'payload'])
    .where('kind', '=', carrierTimer)
    .execute()
  const seal = await takeSeal(tx)
  let count = 0
  for (const { id, payload } of timers) {
    const { code, ...shown } = payload as { code?: string }
    if (code === undefined) continue
    const secret = seal('timers.secret', id, code)
    await tx.query.updateTable('timers').set({ payload: shown, secret }).where('id', '=', id).execute()
    count++
  }
  return count
}

/** Replaces the values that have a replacement, and returns how many. */
async function changeColumn(
  tx: Transaction,
  column: TextColumn,
  change: (key: readonly string[], value: string) => string | undefined,
): Promise<number> {
  let count = 0
  for (let after = beforeFirst(column); ; ) {
    const batch = await lockValues(tx, column, after)
    const last = batch.at(-1)
    if (!last) return count
    const changed = batch.flatMap(({ key, value }) => {
      const next = change(key, value)
      return next === undefined ? [] : [{ key, value: next }]
    })
    await setValues(tx, column, changed)
    count += changed.length
    after = last.key
  }
}
