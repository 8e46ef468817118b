import { systemClock } from '../base/clock.ts'
import { SecretsLocked } from '../base/key-ring.ts'
import { type Log, openLog } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import { type Config, type Environment, processEnvironment, readConfig } from '../config.ts'
import type { Database } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { openDatabase } from '../db/open.ts'
import { type KeySource, unlockSecrets } from '../db/unlock.ts'

/** The settings, with the flags of a command laid over the environment. */
export function configFrom(flags: Environment): Config {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined)
  return readConfig({ ...processEnvironment(), ...Object.fromEntries(given) })
}

/** Where the keys come from that the secrets of the store are sealed with. */
export function keySourceOf({ secretsKey, secretsKeyOld, secretsKeyFile }: Config): KeySource {
  return { current: secretsKey, old: secretsKeyOld, file: secretsKeyFile }
}

export interface StoreOptions {
  /** Whether the store can also be opened without the keys of its secrets: then who needs a secret fails, and nobody else. */
  readonly withoutKeys?: boolean
  /** Whether to log at every start that the keys of a shared database are in a file, and not only when the file is made. */
  readonly notesKeyFile?: boolean
}

/** Opens the store with its schema up to date and its secrets at hand. */
export async function openStore(config: Config, log: Log, options: StoreOptions = {}): Promise<Database> {
  const database = await openDatabase(
    {
      dataDir: config.dataDir,
      databaseUrl: config.databaseUrl,
      maxConnections: config.databaseConnections,
      timeout: config.databaseTimeout,
      lockTimeout: config.databaseLockTimeout,
    },
    log,
  )
  try {
    const migrations = await migrate(database, systemClock)
    if (migrations.length > 0) log.info({ migrations }, 'migrated')
    await unlock(database, config, log, options)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

async function unlock(
  database: Database,
  config: Config,
  log: Log,
  { withoutKeys, notesKeyFile }: StoreOptions,
): Promise<void> {
  try {
    const source = keySourceOf(config)
    const hasMadeFile = await unlockSecrets(database, { source, clock: systemClock, random: systemRandom, log })
    if (hasMadeFile || notesKeyFile) noteKeyFile(config, log)
  } catch (error) {
    if (!withoutKeys || !(error instanceof SecretsLocked)) throw error
    database.read.secrets.lock(error)
  }
}

/** A database that several processes share is sealed with a key that is in one folder: in production that is worth a warning. */
function noteKeyFile({ databaseUrl, secretsKey, secretsKeyFile: file, production }: Config, log: Log): void {
  if (databaseUrl === undefined || secretsKey) return
  log[production ? 'warn' : 'info'](
    { file },
    'SECRETS_KEY is not set: secrets are sealed with the key in this file, which every process and command on this database needs',
  )
}

/** The same for a command that works without the keys of the store's secrets. */
export async function withLockedStore(
  flags: Environment,
  work: (database: Database, config: Config) => Promise<void>,
): Promise<void> {
  await withStore(flags, work, { withoutKeys: true })
}

/** Runs a short command on the store and closes it behind it. */
export async function withStore(
  flags: Environment,
  work: (database: Database, config: Config) => Promise<void>,
  options: StoreOptions = {},
): Promise<void> {
  const config = configFrom(flags)
  const { log, flush } = openLog(config.logLevel === 'info' ? 'warn' : config.logLevel)
  const database = await openStore(config, log, options)
  try {
    await work(database, config)
  } finally {
    await database.close()
    flush()
  }
}
