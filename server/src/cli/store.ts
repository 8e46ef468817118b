import { systemClock } from '../base/clock.ts'
import { type Log, openLog } from '../base/log.ts'
import { type Config, type Environment, processEnvironment, readConfig } from '../config.ts'
import type { Database } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { openDatabase } from '../db/open.ts'

/** The settings, with the flags of a command laid over the environment. */
export function configFrom(flags: Environment): Config {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined)
  return readConfig({ ...processEnvironment(), ...Object.fromEntries(given) })
}

/** Opens the store with its schema up to date. */
export async function openStore(config: Config, log: Log): Promise<Database> {
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
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Runs a short command on the store and closes it behind it. */
export async function withStore(
  flags: Environment,
  work: (database: Database, config: Config) => Promise<void>,
): Promise<void> {
  const config = configFrom(flags)
  const { log, flush } = openLog(config.logLevel === 'info' ? 'warn' : config.logLevel)
  const database = await openStore(config, log)
  try {
    await work(database, config)
  } finally {
    await database.close()
    flush()
  }
}
