import { systemClock } from '../base/clock.ts'
import { makeKeyFile, readKeyFile, replaceKeyFile } from '../base/key-file.ts'
import { openLog } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import { makeSecretKey, type SecretKey, writeSecretKey } from '../base/secret-key.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { countSealed, type Rotation, rotateKeys } from '../db/rotation.ts'
import type { SealingKeysTable } from '../db/tables.ts'
import { eraseRemains, listSealingKeys } from '../db/unlock.ts'
import { CommandFailed } from './fail.ts'
import { withLockedStore, withStore } from './store.ts'
import { type Column, printList, writeTime } from './table.ts'

/** Values that could not be opened are named up to this number. */
const shownPlaces = 20

/** Prints a new key alone on standard output, for scripts, and what to do with it on standard error. */
export function generateKey(): void {
  process.stdout.write(`${writeSecretKey(makeSecretKey(systemRandom))}\n`)
  process.stderr.write('Set it as SECRETS_KEY of every process, and keep it apart from backups of the database.\n')
}

interface ListedKey {
  readonly id: string
  readonly created_time: string
  readonly values: number
  readonly state: string
  /** The setting or file that it comes from; null: nowhere. */
  readonly origin: string | null
}

const columns: readonly Column<ListedKey>[] = [
  { heading: 'ID', cell: ({ id }) => id, isWhole: true },
  { heading: 'SINCE', cell: ({ created_time }) => created_time, isWhole: true },
  { heading: 'VALUES', cell: ({ values }) => String(values), isWhole: true },
  { heading: 'STATE', cell: ({ state }) => state, isWhole: true },
  { heading: 'FROM', cell: ({ origin }) => origin ?? 'missing' },
]

export async function listKeys(flags: { data?: string; json?: boolean }): Promise<void> {
  await withLockedStore({ DATA_DIR: flags.data }, async (database, config) => {
    const keys: ListedKey[] = []
    for (const { id, in_use, created_time } of await listSealingKeys(database.read)) {
      const values = await countSealed(database.read, id)
      const state = in_use ? 'in use' : 'being replaced'
      keys.push({ id, created_time: writeTime(created_time), values, state, origin: findOrigin(config, id) })
    }
    printList(keys, columns, flags)
  })
}

function findOrigin({ secretsKey, secretsKeyOld, secretsKeyFile }: Config, id: string): string | null {
  if (secretsKey?.id === id) return 'SECRETS_KEY'
  if (secretsKeyOld.some((key) => key.id === id)) return 'SECRETS_KEY_OLD'
  return readFileKeys(secretsKeyFile).some((key) => key.id === id) ? secretsKeyFile : null
}

/** May run while servers do, as long as they have both keys: they read the key file again when a value names a new one. */
export async function rotateSecrets(flags: { data?: string }): Promise<void> {
  await withStore({ DATA_DIR: flags.data }, async (database, config) => {
    const { secretsKey, secretsKeyFile } = config
    const chooseKey = (keys: readonly SealingKeysTable[]): SecretKey =>
      secretsKey ? checkNewKey(secretsKey, keys) : writeNewKey(secretsKeyFile, keys)
    const onBatch = process.stderr.isTTY ? showProgress : undefined
    const rotation = await rotateKeys(database, { clock: systemClock, chooseKey, ...(onBatch && { onBatch }) })
    if (onBatch) process.stderr.write('\n')
    failIfUnreadable(rotation)
    await finish(database, config, rotation)
  })
}

function checkNewKey(key: SecretKey, keys: readonly SealingKeysTable[]): SecretKey {
  if (keys[0]?.id !== key.id || keys.length > 1) return key
  throw new CommandFailed(
    'the key of SECRETS_KEY is in use already: make another with ./switchboard secrets generate-key, set it as SECRETS_KEY and the one in use as SECRETS_KEY_OLD, start every server with both, and run this again',
  )
}

/**
 * The key to go on with where a rotation was broken off, also before its first step, and otherwise a new one. It is in the file
 * before anything is sealed with it. Called under the lock of rotations, so that none overwrites the key of another.
 */
function writeNewKey(file: string, keys: readonly SealingKeysTable[]): SecretKey {
  const known = readFileKeys(file)
  const isUnderWay = keys.length > 1
  const begun = isUnderWay ? known.find(({ id }) => id === keys[0]?.id) : known[0]
  if (begun && (isUnderWay || begun.id !== keys[0]?.id)) return begun
  const key = makeSecretKey(systemRandom)
  if (known.length === 0) makeKeyFile(file, systemRandom, key)
  else replaceKeyFile(file, systemRandom, [key, ...known])
  return key
}

function readFileKeys(file: string): readonly SecretKey[] {
  return readKeyFile(file)?.keys ?? []
}

function showProgress(values: number): void {
  process.stderr.write(`\r${values} values sealed anew`)
}

function failIfUnreadable({ unreadable }: Rotation): void {
  if (unreadable.length === 0) return
  const more = unreadable.length > shownPlaces ? ` and ${unreadable.length - shownPlaces} more` : ''
  throw new CommandFailed(
    `no key opens ${unreadable.slice(0, shownPlaces).join(', ')}${more}, altered in the database: set it anew (./switchboard apply for the secrets of apps) and run this again; everything else is sealed anew, and the store needs both keys until then`,
  )
}

/** Old keys stay in the file, because backups need them, and maybe another store that has the same file. */
async function finish(database: Database, config: Config, { key, values, retired }: Rotation): Promise<void> {
  const { log, close: closeLog } = openLog('warn', config.logFormat)
  await eraseRemains(database, log)
  await closeLog()
  process.stdout.write(`Secrets are sealed with the key ${key.id}. Values sealed anew: ${values}.\n`)
  if (retired.length > 0) {
    const place = config.secretsKey ? 'SECRETS_KEY_OLD' : config.secretsKeyFile
    process.stdout.write(
      `The store needs the key ${retired.join(' and ')} no more. Backups from before do: keep it for them, and take it out of ${place} when there are none.\n`,
    )
  }
}
