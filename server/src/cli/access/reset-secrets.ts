import { sql } from 'kysely'
import { renewAppTokens } from '../../auth/app-tokens.ts'
import { isMade } from '../../auth/tokens.ts'
import { sealedPrefix } from '../../base/keys/key-ring.ts'
import type { Random } from '../../base/keys/random.ts'
import type { SecretKey } from '../../base/keys/secret-key.ts'
import type { Clock } from '../../base/time/clock.ts'
import { beforeFirst, countValues, lockValues } from '../../db/column-values.ts'
import type { Database, Db, Transaction } from '../../db/database.ts'
import { transactAlone } from '../../db/schema/alone.ts'
import { hashSecretName } from '../../db/secrets/keyed-hash.ts'
import { useKey } from '../../db/secrets/rotation.ts'
import { type SealedPlace, sealedColumns } from '../../db/secrets/sealed-columns.ts'
import { sealSecret } from '../../db/secrets/sealing.ts'
import { serviceSecretWithin } from '../../db/secrets/stored-secrets.ts'
import { listSealingKeys } from '../../db/secrets/unlock.ts'
import type { SealingKeysTable } from '../../db/tables.ts'
import { rotateSigningKey } from '../../resources/encryption/rotation.ts'
import { codeSecretName } from '../../resources/phone-numbers/codes.ts'
import { openVerifyToken, sealVerifyToken } from '../../resources/webhooks/store.ts'
import { inBatches } from '../../world-part/batches.ts'
import { earlierListener } from '../listener.ts'

/** The result of giving up the values that no key opens any more. */
export interface SecretsReset {
  /** Apps with their new signing secrets. */
  readonly apps: readonly { readonly id: string; readonly secret: string }[]
  /** Apps, and account links of apps, whose verify token was replaced. */
  readonly subscriptions: readonly string[]
  readonly overrides: readonly string[]
  /** Apps with a listener: their previous subscription is lost. */
  readonly listened: readonly string[]
  readonly tokens: number
  readonly pins: number
  readonly codes: number
  /** How many public keys of businesses a new signing key signed; undefined when the old one can still be opened. */
  readonly signed: number | undefined
}

export interface ResetParts {
  readonly clock: Clock
  readonly random: Random
  /** The key to seal with, to be saved first: called only when the current one is lost. */
  readonly chooseKey: () => SecretKey
}

/** The keys that the store needs and this process lacks. */
export async function listLostKeys(db: Db): Promise<SealingKeysTable[]> {
  return (await listSealingKeys(db)).filter(({ id }) => !db.secrets.knows(id))
}

/** How many values these keys sealed. */
export async function countLost(db: Db, lost: readonly SealingKeysTable[]): Promise<number> {
  let count = 0
  for (const { id } of lost) {
    for (const column of Object.values(sealedColumns)) count += await countValues(db, column, sealedPrefix(id))
  }
  return count
}

/**
 * Replaces the values that no key opens any more, and removes those that cannot be replaced. Values that can still be opened are not
 * touched. All of it is one transaction, except the signatures of public keys, which a rotation can make later.
 */
export async function resetSecrets(database: Database, parts: ResetParts): Promise<SecretsReset> {
  const { clock, random } = parts
  const { signing, ...reset } = await transactAlone(database, (tx) => resetWithin(tx, parts))
  const rotation = signing ? await rotateSigningKey(database, clock, random) : undefined
  return { ...reset, signed: rotation?.signed }
}

async function resetWithin(tx: Transaction, { clock, random, chooseKey }: ResetParts) {
  const lost = await listLostKeys(tx)
  if (lost.some(({ in_use }) => in_use)) await useKey(tx, chooseKey().id, clock.now())
  const rowsOf = (place: SealedPlace) => listRows(tx, place, lost)
  const services = (await rowsOf('service_secrets.value')).map(([name = '']) => name)
  if (services.length > 0) await tx.query.deleteFrom('service_secrets').where('name', 'in', services).execute()
  const isHashLost = services.includes(hashSecretName)
  tx.secrets.setHashSecret(await serviceSecretWithin(tx, random, hashSecretName))
  const apps = await resetApps(
    tx,
    { random, now: clock.now() },
    await rowsOf('apps.secret'),
    await rowsOf('apps.previous_secret'),
  )
  const subscriptions = await resetSubscriptions(tx, random, await rowsOf('app_subscriptions.verify_token'), isHashLost)
  const overrides = await resetOverrides(tx, random, await rowsOf('subscribed_apps.verify_token'))
  const signing = await retireSigningKeys(tx, clock, await rowsOf('signing_keys.private_key'))
  const pins = await deleteRows(tx, 'two_step_pins.pin_hash', await rowsOf('two_step_pins.pin_hash'))
  await deleteRows(tx, 'carrier_messages.code', await rowsOf('carrier_messages.code'))
  await deleteRows(tx, 'timers.secret', await rowsOf('timers.secret'))
  const codes = services.includes(codeSecretName)
    ? (await tx.query.deleteFrom('verification_codes').returning('phone_number_id').execute()).length
    : 0
  const tokens = isHashLost ? await revokeTokens(tx, clock) : 0
  await renewAppTokensOf(tx, { clock, random }, isHashLost ? undefined : apps.map(({ id }) => id))
  const ids = lost.map(({ id }) => id)
  if (ids.length > 0) await tx.query.deleteFrom('sealing_keys').where('id', 'in', ids).execute()
  const listened = await rowsOf('listeners.record')
  for (const [app_id = ''] of listened) await tx.query.deleteFrom('listeners').where('app_id', '=', app_id).execute()
  return {
    apps,
    subscriptions,
    overrides,
    listened: [...listened.map(([app_id = '']) => app_id), ...services.flatMap(earlierListener)],
    tokens,
    pins,
    codes,
    signing,
  }
}

/** The rows of a column whose values were sealed by lost keys, by row key. */
async function listRows(tx: Transaction, place: SealedPlace, lost: readonly SealingKeysTable[]): Promise<string[][]> {
  const column = sealedColumns[place]
  const prefixes = lost.map(({ id }) => sealedPrefix(id))
  const rows: string[][] = []
  for (let after = beforeFirst(column); ; ) {
    const batch = await lockValues(tx, column, after)
    const last = batch.at(-1)
    if (!last) return rows
    for (const { key, value } of batch) {
      if (prefixes.some((prefix) => value.startsWith(prefix))) rows.push([...key])
    }
    after = last.key
  }
}

async function resetApps(
  tx: Transaction,
  { random, now }: { readonly random: Random; readonly now: number },
  lost: readonly string[][],
  lostPrevious: readonly string[][],
): Promise<SecretsReset['apps']> {
  for (const [id = ''] of lostPrevious) {
    const none = { previous_secret: null, previous_secret_until: null }
    await tx.query.updateTable('apps').set(none).where('id', '=', id).execute()
  }
  const apps: { id: string; secret: string }[] = []
  for (const [id = ''] of lost) {
    const secret = random.bytes(32).toString('hex')
    const sealed = await sealSecret(tx, 'apps.secret', id, secret)
    await tx.query.updateTable('apps').set({ secret: sealed, secret_time: now }).where('id', '=', id).execute()
    apps.push({ id, secret })
  }
  return apps
}

/** When the key of the hashes is lost, tokens that can still be opened get a new hash. */
async function resetSubscriptions(
  tx: Transaction,
  random: Random,
  lost: readonly string[][],
  isHashLost: boolean,
): Promise<string[]> {
  const lostApps = lost.map(([app_id = '']) => app_id)
  const subscriptions = await tx.query.selectFrom('app_subscriptions').selectAll().execute()
  for (const subscription of subscriptions) {
    const { app_id } = subscription
    const isLost = lostApps.includes(app_id)
    if (!isLost && !isHashLost) continue
    const text = isLost ? drawVerifyToken(random) : openVerifyToken(tx, subscription)
    await tx.query
      .updateTable('app_subscriptions')
      .set(await sealVerifyToken(tx, app_id, text))
      .where('app_id', '=', app_id)
      .execute()
  }
  return lostApps
}

async function resetOverrides(tx: Transaction, random: Random, lost: readonly string[][]): Promise<string[]> {
  for (const [account_id = '', app_id = ''] of lost) {
    const row = `${account_id} ${app_id}`
    const verify_token = await sealSecret(tx, 'subscribed_apps.verify_token', row, drawVerifyToken(random))
    await tx.query
      .updateTable('subscribed_apps')
      .set({ verify_token })
      .where('account_id', '=', account_id)
      .where('app_id', '=', app_id)
      .execute()
  }
  return lost.map(([account_id, app_id]) => `${app_id} for account ${account_id}`)
}

/** Their public halves stay, so that existing signatures verify until they are replaced. */
async function retireSigningKeys(tx: Transaction, clock: Clock, lost: readonly string[][]): Promise<boolean> {
  for (const [id = ''] of lost) {
    await tx.query
      .updateTable('signing_keys')
      .set({ private_key: null, retired_time: clock.now() })
      .where('id', '=', id)
      .execute()
  }
  return lost.length > 0
}

async function deleteRows(
  tx: Transaction,
  place: 'two_step_pins.pin_hash' | 'carrier_messages.code' | 'timers.secret',
  lost: readonly string[][],
): Promise<number> {
  const { table, key } = sealedColumns[place]
  const [column] = key
  for (const [id = ''] of lost) {
    await sql`DELETE FROM ${sql.table(table)} WHERE ${sql.ref(column)} = ${id}`.execute(tx.query)
  }
  return lost.length
}

/** Apps get their own tokens anew: all of them where no hash of a token is found any more. */
async function renewAppTokensOf(
  tx: Transaction,
  tools: { readonly clock: Clock; readonly random: Random },
  only: readonly string[] | undefined,
): Promise<void> {
  const ids = only ?? (await tx.query.selectFrom('apps').select('id').execute()).map(({ id }) => id)
  for await (const batch of inBatches(ids)) await renewAppTokens(tx, tools, batch)
}

/** Nobody can use them any more: they are found by a hash whose key is lost. */
async function revokeTokens({ query }: Transaction, clock: Clock): Promise<number> {
  const revoked = await query
    .updateTable('tokens')
    .set({ revoked_time: clock.now() })
    .where('revoked_time', 'is', null)
    .returning(isMade.as('is_made'))
    .execute()
  return revoked.filter(({ is_made }) => is_made).length
}

function drawVerifyToken(random: Random): string {
  return random.bytes(18).toString('base64url')
}
