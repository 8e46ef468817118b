import { type Environment, processEnvironment } from '../base/environment.ts'
import { SecretsLocked } from '../base/keys/key-ring.ts'
import { systemRandom } from '../base/keys/random.ts'
import { type Log, openLog } from '../base/log/log.ts'
import { systemClock } from '../base/time/clock.ts'
import { minute } from '../base/time/duration.ts'
import { type Config, readConfig } from '../config.ts'
import { type Database, DatabaseUnavailable } from '../db/database.ts'
import { hasSqliteFile, openDatabase } from '../db/open.ts'
import { hasSchema, type MigrationProgress, migrate } from '../db/schema/migrate.ts'
import { type KeySource, unlockSecrets } from '../db/secrets/unlock.ts'
import { CommandFailed } from './fail.ts'
import { writeLocalUrl } from './local-url.ts'
import { findPlace, hintAtServers, sayPlace } from './place.ts'

/** PostgreSQL's: insufficient privilege, and no schema in which anything may be made. */
const noRightCodes = new Set(['42501', '3F000'])
const mayNotUse = 'the user of DATABASE_URL may not make or use the tables of the service'
const howToOwn = 'make that user the owner of the database and of its tables: ALTER DATABASE … OWNER TO …'

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
  /** Whether the store is only looked for where the settings say, and not at a running server too. */
  readonly onlyHere?: boolean
  /** Whether to log at every start that the keys of a shared database are in a file, and not only when the file is created. */
  readonly notesKeyFile?: boolean
}

/** Opens the store with its schema up to date and its secrets unlocked. */
export async function openStore(config: Config, log: Log, options: StoreOptions = {}): Promise<Database> {
  const { mustExist = false } = options
  const isSqlite = config.databaseUrl === undefined
  // Opening it would create the file.
  if (mustExist && isSqlite && !hasSqliteFile(config)) throw noStore(config)
  const database = await openUnmigrated(config, log)
  try {
    if (mustExist && !isSqlite && !(await hasSchema(database))) throw noStore(config)
    await migrateStore(database, log)
    await unlock(database, config, log, options)
    return database
  } catch (error) {
    await database.close()
    const { code = '', message } = error as { code?: string; message: string }
    if (noRightCodes.has(code)) throw new DatabaseUnavailable(`${mayNotUse}: ${message}; ${howToOwn}`)
    // A pooler lets us in although the database behind it is away.
    if (isSqlite || database.outageOf(error) !== 'unreachable') throw error
    throw new DatabaseUnavailable(`the database of DATABASE_URL does not respond: ${message}`)
  }
}

/** Migrations of a store in use may wait long for a lock: the log says so, and once a minute that they still do. */
async function migrateStore(database: Database, log: Log): Promise<void> {
  let quietUntil = 0
  const progress: MigrationProgress = {
    begin: (migration) => log.info({ migration }, 'migrating'),
    wait(migration, reason) {
      if (performance.now() < quietUntil) return
      quietUntil = performance.now() + minute
      log.warn({ migration, reason }, 'a migration waits for a lock, and is tried again')
    },
    end: (migration, milliseconds) => log.info({ migration, ms: Math.round(milliseconds) }, 'migrated'),
    goBeside: (newer) => log.warn({ newer }, 'a newer version has migrated the store: this one can use it as well'),
  }
  const isNew = !(await hasSchema(database))
  const migrations = await migrate(database, systemClock, { progress })
  if (migrations.length === 0) return
  if (isNew) log.info({ migrations: migrations.length }, 'made the schema')
  else if (database.isEmbedded) log.info({ migrations }, 'migrated')
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

function noStore(config: Config): CommandFailed {
  const make = 'start a server, which makes one, or fill one with ./switchboard apply FILE'
  if (config.databaseUrl !== undefined) {
    return new CommandFailed(`there is no store in the database that DATABASE_URL names: ${make}`)
  }
  return new CommandFailed(
    `there is no store in ${config.dataDir}: ${make}; DATA_DIR or --data names another folder${hintAtServers('')}`,
  )
}

type Work = (database: Database, config: Config) => Promise<void>

/** Runs a short command on an existing store, and closes the store. Never creates one. */
export function withStore(flags: Environment, work: Work, options: StoreOptions = {}): Promise<void> {
  return runOnStore(flags, { mustExist: true, ...options }, work)
}

/** The same for a command that works without the keys of the store's secrets. */
export function withLockedStore(flags: Environment, work: Work, options: StoreOptions = {}): Promise<void> {
  return runOnStore(flags, { mustExist: true, withoutKeys: true, ...options }, work)
}

/** The same for a command that fills a store: a missing one is created. */
export function withNewStore(flags: Environment, work: Work): Promise<void> {
  return runOnStore(flags, {}, work)
}

async function runOnStore(flags: Environment, options: StoreOptions, work: Work): Promise<void> {
  const config = await locateStore(configFrom(flags), flags, options)
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

/** The settings with the folder of the store that the command found. */
async function locateStore(config: Config, flags: Environment, options: StoreOptions): Promise<Config> {
  if (!options.mustExist || options.onlyHere) return config
  const place = await findPlace(config, flags['DATA_DIR'])
  if (place.kind === 'server') {
    throw new CommandFailed(
      `there is no store in ${config.dataDir}, and this command cannot ask the server at ${place.url}: run it where the store of that server is, or name the store with --data or DATABASE_URL`,
    )
  }
  if (place.kind === 'none') {
    throw new CommandFailed(
      `there is no store in ${config.dataDir}, and no server answers at ${writeLocalUrl(config)}: start one, or name the server with --url or SWITCHBOARD_URL, or the folder of its store with --data${hintAtServers('')}`,
    )
  }
  sayPlace(config, place)
  return place.kind === 'folder' ? configFrom({ ...flags, DATA_DIR: place.dataDir }) : config
}
