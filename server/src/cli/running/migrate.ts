import { openLog } from '../../base/log/log.ts'
import { systemClock } from '../../base/time/clock.ts'
import { migrate } from '../../db/migrate.ts'
import { configFrom, openUnmigrated } from '../store.ts'

/** Brings the database's schema up to date and says what was done. */
export async function runMigrations(flags: { data?: string }): Promise<void> {
  const config = configFrom({ DATA_DIR: flags.data })
  const { log, close: closeLog } = openLog('warn', config.logFormat)
  const database = await openUnmigrated(config, log)
  try {
    const names = await migrate(database, systemClock)
    process.stdout.write(
      names.length === 0 ? 'The schema is up to date.\n' : names.map((name) => `Ran ${name}.\n`).join(''),
    )
  } finally {
    await database.close()
    await closeLog()
  }
}
