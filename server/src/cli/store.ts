import { systemClock } from '../base/clock.ts'
import { type Environment, processEnvironment } from '../base/environment.ts'
import { type Log, openLog } from '../base/log.ts'
import { type Config, readConfig } from '../config.ts'
import type { Database } from '../db/database.ts'
import { hasPostgresSchema, migrate } from '../db/migrate.ts'
import { hasSqliteFile, openDatabase } from '../db/open.ts'
import { CommandFailed } from './fail.ts'

/** The settings, with the flags of a command laid over the environment. */
export function configFrom(flags: Environment): Config {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined)
  return readConfig({ ...processEnvironment(), ...Object.fromEntries(given) })
}

/** Opens the store with its schema up to date. Where there is none it is made, unless it must exist. */
export async function openStore(config: Config, log: Log, { mustExist = false } = {}): Promise<Database> {
  const isSqlite = config.databaseUrl === undefined
  // Opening it would make the file.
  if (mustExist && isSqlite && !hasSqliteFile(config)) throw noStore(`in ${config.dataDir}`)
  const database = await openUnmigrated(config, log)
  try {
    if (mustExist && !isSqlite && !(await hasPostgresSchema(database)))
      throw noStore('in the database that DATABASE_URL names')
    const migrations = await migrate(database, systemClock)
    if (migrations.length > 0) log.info({ migrations }, 'migrated')
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Opens the store as it is. */
export function openUnmigrated(config: Config, log: Log): Promise<Database> {
  const { dataDir, databaseUrl, databaseConnections: maxConnections, databaseTimeout: timeout } = config
  return openDatabase({ dataDir, databaseUrl, maxConnections, timeout }, log)
}

function noStore(where: string): CommandFailed {
  return new CommandFailed(
    `there is no store ${where}: start a server, which makes one, or fill one with ./switchboard apply FILE; DATA_DIR or --data names another folder`,
  )
}

type Work = (database: Database, config: Config) => Promise<void>

/** Runs a short command on a store that is there, and closes it behind it. Where there is none, nothing is made. */
export function withStore(flags: Environment, work: Work): Promise<void> {
  return runOnStore(flags, true, work)
}

/** The same for a command that fills a store: where there is none it is made. */
export function withNewStore(flags: Environment, work: Work): Promise<void> {
  return runOnStore(flags, false, work)
}

async function runOnStore(flags: Environment, mustExist: boolean, work: Work): Promise<void> {
  const config = configFrom(flags)
  const { log, close: closeLog } = openLog(config.logLevel === 'info' ? 'warn' : config.logLevel, config.logFormat)
  try {
    const database = await openStore(config, log, { mustExist })
    try {
      await work(database, config)
    } finally {
      await database.close()
    }
  } finally {
    await closeLog()
  }
}
