import { setTimeout as wait } from 'node:timers/promises'
import { sealedPrefix } from '../../base/keys/key-ring.ts'
import type { SecretKey } from '../../base/keys/secret-key.ts'
import type { Clock } from '../../base/time/clock.ts'
import { beforeFirst, type ColumnValue, countValues, lockValues, setValues } from '../column-values.ts'
import type { Database, Db, Transaction } from '../database.ts'
import { transactAlone } from '../schema/alone.ts'
import type { SealingKeysTable } from '../tables.ts'
import { type SealedPlace, sealedColumns, writePlace } from './sealed-columns.ts'
import { takeKeyInUse } from './sealing.ts'
import { listSealingKeys } from './unlock.ts'

const places = Object.keys(sealedColumns) as SealedPlace[]
/** Lets others write to an embedded store between batches: they retry every ten milliseconds. */
const pauseMilliseconds = 25

export interface RotationDeps {
  readonly clock: Clock
  /**
   * Returns the key to use, called when nobody else rotates: the place to save a new one. The argument is the store's keys, the one in
   * use first.
   */
  readonly chooseKey: (keys: readonly SealingKeysTable[]) => SecretKey
  /** Called after each batch with the number of values sealed so far. */
  readonly onBatch?: (values: number) => void
}

export interface Rotation {
  readonly key: SecretKey
  readonly values: number
  /** The ids of the keys that the store no longer needs. */
  readonly retired: readonly string[]
  /** The places of values that no key opens, because they were altered. They stay as they are, and so does their key. */
  readonly unreadable: readonly string[]
}

/**
 * Seals every secret again with another key, in batches. All processes seal with the new key from the start, so an interrupted
 * rotation loses nothing and the next one continues: until then the store needs both keys, and says so.
 */
export async function rotateKeys(database: Database, { clock, chooseKey, onBatch }: RotationDeps): Promise<Rotation> {
  const key = await transactAlone(database, async (tx) => {
    const keys = await listSealingKeys(tx)
    const chosen = chooseKey(keys)
    if (!tx.secrets.knows(chosen.id)) throw new Error('the key that was chosen is not in the ring')
    if (keys[0]?.id !== chosen.id) await useKey(tx, chosen.id, clock.now())
    return chosen
  })
  let values = 0
  const unreadable: string[] = []
  for (const place of places) {
    await resealColumn(database, place, unreadable, (count) => {
      values += count
      onBatch?.(values)
    })
  }
  // After the change of keys nobody seals with the old one, so one pass finds everything.
  const retired = unreadable.length > 0 ? [] : await database.transaction((tx) => retireKeys(tx, key.id))
  return { key, values, retired, unreadable }
}

/** Waits for transactions under way that seal. */
export async function useKey({ query }: Transaction, id: string, now: number): Promise<void> {
  await query.updateTable('sealing_keys').set({ in_use: false }).where('in_use', '=', true).execute()
  await query
    .insertInto('sealing_keys')
    .values({ id, in_use: true, has_remains: false, created_time: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ in_use: true }))
    .execute()
}

async function resealColumn(
  database: Database,
  place: SealedPlace,
  unreadable: string[],
  onBatch: (values: number) => void,
): Promise<void> {
  for (let after = beforeFirst(sealedColumns[place]); ; ) {
    const batch = await database.transaction((tx) => resealBatch(tx, place, after))
    if (!batch.last) return
    unreadable.push(...batch.unreadable)
    onBatch(batch.sealed)
    after = batch.last
    if (database.isEmbedded) await wait(pauseMilliseconds)
  }
}

async function resealBatch(tx: Transaction, place: SealedPlace, after: readonly string[]) {
  const column = sealedColumns[place]
  const keyId = await takeKeyInUse(tx)
  const batch = await lockValues(tx, column, after, sealedPrefix(keyId))
  const unreadable: string[] = []
  const sealed: ColumnValue[] = []
  for (const { key, value } of batch) {
    const bound = writePlace(place, key.join(' '))
    const text = tx.secrets.tryOpen(bound, value)
    if (text === undefined) unreadable.push(bound)
    else sealed.push({ key, value: tx.secrets.seal(keyId, bound, text) })
  }
  await setValues(tx, column, sealed)
  return { last: batch.at(-1)?.key, sealed: sealed.length, unreadable }
}

/** Removes the other keys from the list of keys that the store needs. */
async function retireKeys(tx: Transaction, id: string): Promise<string[]> {
  const others = (await listSealingKeys(tx)).filter((key) => key.id !== id).map((key) => key.id)
  for (const other of others) {
    if ((await countSealed(tx, other)) > 0)
      throw new Error(`the key ${other} sealed something after its rotation began`)
  }
  if (others.length > 0) {
    await tx.query.deleteFrom('sealing_keys').where('id', 'in', others).execute()
    await tx.query.updateTable('sealing_keys').set({ has_remains: true }).where('id', '=', id).execute()
  }
  return others
}

/** How many values a key has sealed. */
export async function countSealed(db: Db, keyId: string): Promise<number> {
  let count = 0
  for (const place of places) count += await countValues(db, sealedColumns[place], sealedPrefix(keyId))
  return count
}
