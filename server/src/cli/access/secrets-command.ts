import { commandName } from '../../base/command-name.ts'
import { makeKeyFile, readKeyFile, replaceKeyFile } from '../../base/keys/key-file.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { makeSecretKey, type SecretKey, writeSecretKey } from '../../base/keys/secret-key.ts'
import { openLog } from '../../base/log/log.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { countSealed, type Rotation, rotateKeys } from '../../db/secrets/rotation.ts'
import { eraseRemains, listSealingKeys } from '../../db/secrets/unlock.ts'
import { isStoreLocked } from '../../db/sqlite/store-lock.ts'
import type { SealingKeysTable } from '../../db/tables.ts'
import { CommandFailed } from '../fail.ts'
import { withLockedStore, withStore } from '../store.ts'
import { type Column, printList, writeTime } from '../table.ts'
import { countLost, listLostKeys, resetSecrets, type SecretsReset } from './reset-secrets.ts'

/** How many unreadable values are listed at most. */
const shownPlaces = 20

/** Prints only a new key on standard output, for scripts, and what to do with it on standard error. */
export function generateKey(): void {
  process.stdout.write(`${writeSecretKey(makeSecretKey(systemRandom))}\n`)
  process.stderr.write('Set it as SECRETS_KEY of every process, and keep it apart from backups of the database.\n')
}

interface ListedKey {
  readonly id: string
  readonly created_time: string
  readonly values: number
  readonly state: string
  /** The setting or file with the key; null: nowhere. */
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
  await withLockedStore(
    { DATA_DIR: flags.data },
    async (database, config) => {
      const keys: ListedKey[] = []
      for (const { id, in_use, created_time } of await listSealingKeys(database.read)) {
        const values = await countSealed(database.read, id)
        const state = in_use ? 'in use' : 'being replaced'
        keys.push({ id, created_time: writeTime(created_time), values, state, origin: findOrigin(config, id) })
      }
      printList(keys, columns, flags)
    },
    { onlyHere: true },
  )
}

function findOrigin({ secretsKey, secretsKeyOld, secretsKeyFile }: Config, id: string): string | null {
  if (secretsKey?.id === id) return 'SECRETS_KEY'
  if (secretsKeyOld.some((key) => key.id === id)) return 'SECRETS_KEY_OLD'
  return readFileKeys(secretsKeyFile).some((key) => key.id === id) ? secretsKeyFile : null
}

/** Servers may run meanwhile, as long as they have both keys: they read the key file again when a value names a new one. */
export async function rotateSecrets(flags: { data?: string }): Promise<void> {
  await withStore(
    { DATA_DIR: flags.data },
    async (database, config) => {
      const { secretsKey, secretsKeyFile } = config
      const chooseKey = (keys: readonly SealingKeysTable[]): SecretKey =>
        secretsKey ? checkNewKey(secretsKey, keys) : writeNewKey(secretsKeyFile, keys)
      const onBatch = process.stderr.isTTY ? showProgress : undefined
      const rotation = await rotateKeys(database, { clock: systemClock, chooseKey, ...(onBatch && { onBatch }) })
      if (onBatch) process.stderr.write('\n')
      failIfUnreadable(rotation)
      await finish(database, config, rotation)
    },
    { onlyHere: true },
  )
}

function checkNewKey(key: SecretKey, keys: readonly SealingKeysTable[]): SecretKey {
  if (keys[0]?.id !== key.id || keys.length > 1) return key
  throw new CommandFailed(
    'the key of SECRETS_KEY is in use already: make another with ./switchboard secrets generate-key, set it as SECRETS_KEY and the one in use as SECRETS_KEY_OLD, start every server with both, and run this again',
  )
}

/**
 * The key to continue with when a rotation was interrupted, even before its first step; otherwise a new one. It is saved in the file
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

/** Old keys stay in the file, because backups need them, and perhaps another store that shares the file. */
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

/** The way out when a key is lost: the values that it sealed are given up, and replaced if possible. */
export async function resetLostSecrets(flags: { data?: string; yes?: boolean }): Promise<void> {
  await withLockedStore(
    { DATA_DIR: flags.data },
    async (database, config) => {
      const { read } = database
      const { secretsKey, secretsKeyOld, secretsKeyFile } = config
      const known = () => [...(secretsKey ? [secretsKey] : []), ...secretsKeyOld, ...readFileKeys(secretsKeyFile)]
      read.secrets.unlock({ keys: known(), reload: known, random: systemRandom })
      const lost = await listLostKeys(read)
      if (lost.length === 0)
        throw new CommandFailed('no key is lost: every secret of this store can be decrypted, and nothing was changed')
      if (config.databaseUrl === undefined && isStoreLocked(config.dataDir)) {
        throw new CommandFailed('a server runs on this store, and may still have the key: stop it first')
      }
      const ids = lost.map(({ id }) => id).join(' and ')
      if (!flags.yes) {
        const values = await countLost(read, lost)
        throw new CommandFailed(
          `the key ${ids} is lost, and with it ${values} values (secrets of apps, PINs, tokens and others): look for it in backups; when it is gone for good, stop every server and give them up with ./switchboard secrets reset --yes`,
        )
      }
      const chooseKey = () => secretsKey ?? readFileKeys(secretsKeyFile)[0] ?? makeFirstKey(secretsKeyFile)
      const reset = await resetSecrets(database, { clock: systemClock, random: systemRandom, chooseKey })
      reportReset(ids, reset)
    },
    { onlyHere: true },
  )
}

function makeFirstKey(file: string): SecretKey {
  const key = makeSecretKey(systemRandom)
  makeKeyFile(file, systemRandom, key)
  return key
}

/** Only the new secrets on standard output, for scripts; the losses on standard error. */
function reportReset(ids: string, reset: SecretsReset): void {
  for (const { id, secret } of reset.apps) process.stdout.write(`${id} ${secret}\n`)
  const lines = [
    `What the key ${ids} sealed is given up.`,
    ...(reset.apps.length > 0
      ? [
          'Above: apps with their new secrets, shown this once. Hand them out; until then apps refuse what is sent to them.',
        ]
      : []),
    ...(reset.tokens > 0
      ? [`Revoked: all ${reset.tokens} tokens. Make new ones: ${commandName()} token create --app ID`]
      : []),
    ...(reset.subscriptions.length > 0
      ? [`Verify tokens lost: of apps ${reset.subscriptions.join(', ')}. They go on; who checks them subscribes again.`]
      : []),
    ...(reset.overrides.length > 0
      ? [`Verify tokens of overrides lost: of apps ${reset.overrides.join(', ')}. They go on.`]
      : []),
    ...(reset.pins > 0
      ? [`PINs lost: of ${reset.pins} numbers, which set a new one when they are registered again.`]
      : []),
    ...(reset.codes > 0 ? [`Verification codes lost: of ${reset.codes} numbers, which ask for a new one.`] : []),
    ...(reset.listened.length > 0
      ? [`Somebody listened in the place of apps ${reset.listened.join(', ')}: subscribe them again.`]
      : []),
    ...(reset.signed === undefined
      ? []
      : [`The signing key is a new one; it has signed ${reset.signed} public keys of businesses anew.`]),
    'Cursors and addresses of media that were given out before are no longer good.',
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
}
