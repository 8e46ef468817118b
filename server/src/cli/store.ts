import { type Environment, processEnvironment } from '../base/environment.ts'
import { SecretsLocked } from '../base/keys/key-ring.ts'
import { systemRandom } from '../base/keys/random.ts'
import { type Log, openLog } from '../base/log/log.ts'
import { systemClock } from '../base/time/clock.ts'
import { type Config, readConfig } from '../config.ts'
import { type Database, DatabaseUnavailable } from '../db/database.ts'
import { hasPostgresSchema, migrate } from '../db/migrate.ts'
import { hasSqliteFile, openDatabase } from '../db/open.ts'
import { type KeySource, unlockSecrets } from '../db/secrets/unlock.ts'
import { CommandFailed } from './fail.ts'

/** The settings of the environment, overridden by the flags of a command. */
export function configFrom(flags: Environment): Config {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined)
  return readConfig({ ...processEnvironment(), ...Object.fromEntries(given) })
}

/** The source of the keys that seal the store's secrets. */
function keySourceOf({ secretsKey, secretsKeyOld, secretsKeyFile }: Config): KeySource {
  return { current: secretsKey, old: secretsKeyOld, file: secretsKeyFile }
}

export interface StoreOptions {
  /** Whether it must exist; otherwise it is created. */
  readonly mustExist?: boolean
  /** Whether the store may be opened without the keys of its secrets: then only operations that need a secret fail. */
  readonly withoutKeys?: boolean
  /** Whether to log at every start that the keys of a shared database are in a file, and not only when the file is created. */
  readonly notesKeyFile?: boolean
}

/** Opens the store with its schema up to date and its secrets unlocked. */
export async function openStore(config: Config, log: Log, options: StoreOptions = {}): Promise<Database> {
  const { mustExist = false } = options
  const isSqlite = config.databaseUrl === undefined
  // Opening it would create the file.
  if (mustExist && isSqlite && !hasSqliteFile(config)) throw noStore(`in ${config.dataDir}`)
  const database = await openUnmigrated(config, log)
  try {
    if (mustExist && !isSqlite && !(await hasPostgresSchema(database)))
      throw noStore('in the database that DATABASE_URL names')
    const migrations = await migrate(database, systemClock)
    if (migrations.length > 0) log.info({ migrations }, 'migrated')
    await unlock(database, config, log, options)
    return database
  } catch (error) {
    await database.close()
    // A pooler lets us in although the database behind it is away.
    if (isSqlite || database.outageOf(error) !== 'unreachable') throw error
    throw new DatabaseUnavailable(`the database of DATABASE_URL does not respond: ${(error as Error).message}`)
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

/** A database shared by several processes is sealed with a key in one folder: in production that is worth a warning. */
function noteKeyFile({ databaseUrl, secretsKey, secretsKeyFile: file, production }: Config, log: Log): void {
  if (databaseUrl === undefined || secretsKey) return
  log[production ? 'warn' : 'info'](
    { file },
    'SECRETS_KEY is not set: secrets are sealed with the key in this file, which every process and command on this database needs',
  )
}

/** Opens the store as it is. */
export function openUnmigrated(config: Config, log: Log): Promise<Database> {
  const { dataDir, databaseUrl, databaseConnections: maxConnections, databaseTimeout: timeout } = config
  const isPooled = config.databasePooler === 'transaction'
  return openDatabase(
    { dataDir, databaseUrl, maxConnections, timeout, lockTimeout: config.databaseLockTimeout, isPooled },
    log,
  )
}

function noStore(where: string): CommandFailed {
  return new CommandFailed(
    `there is no store ${where}: start a server, which makes one, or fill one with ./switchboard apply FILE; DATA_DIR or --data names another folder`,
  )
}

type Work = (database: Database, config: Config) => Promise<void>

/** Runs a short command on an existing store, and closes the store. Never creates one. */
export function withStore(flags: Environment, work: Work): Promise<void> {
  return runOnStore(flags, { mustExist: true }, work)
}

/** The same for a command that works without the keys of the store's secrets. */
export function withLockedStore(flags: Environment, work: Work): Promise<void> {
  return runOnStore(flags, { mustExist: true, withoutKeys: true }, work)
}

/** The same for a command that fills a store: a missing one is created. */
export function withNewStore(flags: Environment, work: Work): Promise<void> {
  return runOnStore(flags, {}, work)
}

async function runOnStore(flags: Environment, options: StoreOptions, work: Work): Promise<void> {
  const config = configFrom(flags)
  const { log, close: closeLog } = openLog(config.logLevel === 'info' ? 'warn' : config.logLevel, config.logFormat)
  try {
    const database = await openStore(config, log, options)
    try {
      await work(database, config)
    } finally {
      await database.close()
    }
  } finally {
    await closeLog()
  }
}
