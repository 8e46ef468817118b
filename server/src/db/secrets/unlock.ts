import { BadKeyFile, makeKeyFile, readKeyFile } from '../../base/keys/key-file.ts'
import { SecretsLocked } from '../../base/keys/key-ring.ts'
import type { Random } from '../../base/keys/random.ts'
import { makeSecretKey, type SecretKey } from '../../base/keys/secret-key.ts'
import type { Log } from '../../base/log/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Database, Db } from '../database.ts'
import { transactAlone } from '../schema/alone.ts'
import type { SealingKeysTable } from '../tables.ts'
import { sealPlainValues } from './first-sealing.ts'
import { hashSecretName } from './keyed-hash.ts'
import { sealedColumns } from './sealed-columns.ts'
import { serviceSecret } from './stored-secrets.ts'

/** Where the keys of a process come from. */
export interface KeySource {
  /** SECRETS_KEY. */
  readonly current: SecretKey | undefined
  /** SECRETS_KEY_OLD. */
  readonly old: readonly SecretKey[]
  /** SECRETS_KEY_FILE. */
  readonly file: string
}

export interface UnlockDeps {
  readonly source: KeySource
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/**
 * Makes the secrets of a migrated store usable. A store without sealed secrets is sealed now, with SECRETS_KEY or the key file, which
 * is created if missing: then it returns true. Throws SecretsLocked, and changes nothing, when this process lacks a key that the
 * store needs.
 */
export async function unlockSecrets(database: Database, deps: UnlockDeps): Promise<boolean> {
  const { source, random } = deps
  const { secrets } = database.read
  const reload = () => readFileKeys(source.file)
  secrets.unlock({ keys: [...readSettingKeys(source), ...readFile(deps)], reload, random })
  const hasKeys = (await listSealingKeys(database.read)).length > 0
  const hasMadeFile = hasKeys ? false : await sealStore(database, deps)

  const needed = await listSealingKeys(database.read)
  const missing = needed.filter(({ id }) => !secrets.knows(id))
  if (missing.length > 0) throw describeMissing(missing, source)
  secrets.setHashSecret(await serviceSecret(database, random, hashSecretName))
  // With more than one key a rotation is under way, and will do this at its end.
  if (needed.length === 1 && needed[0]?.has_remains) await eraseRemains(database, deps.log)
  return hasMadeFile
}

/** The keys that have sealed values of the store, the one in use first. */
export async function listSealingKeys({ query }: Db): Promise<SealingKeysTable[]> {
  return query
    .selectFrom('sealing_keys')
    .selectAll()
    .orderBy('in_use', 'desc')
    .orderBy('created_time', 'desc')
    .execute()
}

function readSettingKeys({ current, old }: KeySource): SecretKey[] {
  return current ? [current, ...old] : [...old]
}

/** The keys of the file, if it can be read. */
function readFileKeys(path: string): readonly SecretKey[] {
  try {
    return readKeyFile(path)?.keys ?? []
  } catch (error) {
    if (error instanceof BadKeyFile) return []
    throw error
  }
}

function readFile({ source, log }: UnlockDeps): readonly SecretKey[] {
  const file = readKeyFile(source.file)
  if (file?.looseMode !== undefined) {
    const about = { file: source.file, mode: file.looseMode }
    log.warn(
      about,
      file.isTightened
        ? 'others on this machine could read the key file; its mode is 0600 now'
        : 'others on this machine can read the key file: make its mode 0600',
    )
  }
  return file?.keys ?? []
}

/** Under the lock of migrations: of processes that start together one seals the store, and the others find it sealed. */
async function sealStore(database: Database, { source, clock, random, log }: UnlockDeps): Promise<boolean> {
  return transactAlone(database, async (tx) => {
    if ((await listSealingKeys(tx)).length > 0) return false
    const hadFile = readKeyFile(source.file) !== undefined
    const key = source.current ?? takeFileKey(source.file, random)
    if (!tx.secrets.knows(key.id)) throw new Error('the key that was chosen is not in the ring')
    const row = { id: key.id, in_use: true, has_remains: false, created_time: clock.now() }
    await tx.query.insertInto('sealing_keys').values(row).execute()
    const values = await sealPlainValues(tx, random)
    if (values > 0) {
      await tx.query.updateTable('sealing_keys').set({ has_remains: true }).execute()
      log.info({ values }, 'the secrets of the store were in clear, and are sealed now')
    }
    return !source.current && !hadFile
  })
}

function takeFileKey(path: string, random: Random): SecretKey {
  const [newest] = readKeyFile(path)?.keys ?? makeKeyFile(path, random, makeSecretKey(random))
  if (!newest)
    throw new BadKeyFile(`the key file ${path} holds no key; put back the file as it was, or set SECRETS_KEY`)
  return newest
}

/** Purges old plain or sealed values from the free space of the database's files. */
export async function eraseRemains(database: Database, log: Log): Promise<boolean> {
  const tables = new Set(['tokens', ...Object.values(sealedColumns).map(({ table }) => table)])
  try {
    await database.scrub([...tables])
  } catch (error) {
    log.warn(
      { err: (error as Error).message },
      'what secrets were before they were sealed may still be in the files of the database; the next start tries again to erase it',
    )
    return false
  }
  await database.transaction(({ query }) =>
    query.updateTable('sealing_keys').set({ has_remains: false }).where('has_remains', '=', true).execute(),
  )
  return true
}

function describeMissing(missing: readonly SealingKeysTable[], { file }: KeySource): SecretsLocked {
  const ids = missing.map(({ id }) => id).join(' and ')
  return new SecretsLocked(
    `the secrets of this store need the key ${ids}, which is neither in SECRETS_KEY, SECRETS_KEY_OLD nor in ${file}: give every process and command the same SECRETS_KEY or SECRETS_KEY_FILE, or put back the file that was lost`,
  )
}
