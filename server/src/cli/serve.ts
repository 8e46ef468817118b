import { type App, createApp } from '../app.ts'
import { systemClock } from '../base/clock.ts'
import { second } from '../base/duration.ts'
import { type Log, openLog } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import { BadSetting, type Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { applyWorld, applyWorldIfEmpty, type WorldSummary } from '../world/apply.ts'
import { isStoreEmpty } from '../world/empty.ts'
import { readWorldFile } from '../world/read.ts'
import { composeBanner } from './banner.ts'
import { describeFailure } from './fail.ts'
import { configFrom, openStore } from './store.ts'

export interface ServeFlags {
  readonly port?: string
  readonly host?: string
  readonly data?: string
  readonly world?: string
  readonly role?: string
}

const shutdownGrace = 10 * second
export const demoWorld = new URL('../../../worlds/demo.yaml', import.meta.url)

/** Starts the server, says where it listens, and runs until it is told to stop. */
export async function serve(flags: ServeFlags, { banner }: { banner: boolean }): Promise<void> {
  const config = configFrom({
    PORT: flags.port,
    HOST: flags.host,
    DATA_DIR: flags.data,
    WORLD: flags.world,
    ROLE: flags.role,
  })
  checkRole(config)
  const { log, close: closeLog } = openLog(config.logLevel, config.logFormat)
  if (config.role === 'worker' && config.publicUrl === undefined) {
    log.warn('PUBLIC_URL is not set: links in what this worker sends lead to the worker, which does not serve them')
  }
  const database = await openStore(config, log)
  let app: App
  let address: string
  try {
    await applyFirstWorld(database, config, log)
    app = await createApp({
      config,
      database,
      clock: systemClock,
      random: systemRandom,
      log,
    })
    address = await app.listen()
  } catch (error) {
    await database.close()
    throw error
  }
  const greeting =
    banner && config.role !== 'worker'
      ? await composeBanner(database, systemClock, config.publicUrl ?? address, config)
      : ''
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    process.once('SIGINT', () => process.exit(1))
    log.info({ signal }, 'stopping: no new requests; finishing those that run')
    try {
      await app.close(shutdownGrace)
      await database.close()
      log.info('stopped')
      await closeLog()
      process.exit(0)
    } catch (error) {
      await closeLog()
      process.stderr.write(`switchboard: ${describeFailure(error)}\n`)
      process.exit(1)
    }
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // Said last: whoever reads it may send a signal at once.
  process.stdout.write(`switchboard listening on ${address}\n${greeting}`)
}

/** An embedded store belongs to one process, so that process has to do everything. */
function checkRole({ role, databaseUrl }: Config): void {
  if (role === 'all' || databaseUrl !== undefined) return
  throw new BadSetting(`ROLE is ${role}, which takes PostgreSQL: set DATABASE_URL, or leave ROLE at all on SQLite`)
}

/** The world that the settings name, or the demo for a store that is still empty, except in production. */
async function applyFirstWorld(database: Database, config: Config, log: Log): Promise<void> {
  const tell = (summary: WorldSummary): void => log.info(summary, 'applied a world file')
  if (config.world !== undefined) {
    tell(await applyWorld(database, systemClock, systemRandom, await readWorldFile(config.world)))
  } else if (await wantsDemo(database, config)) {
    const summary = await applyWorldIfEmpty(database, systemClock, systemRandom, await readWorldFile(demoWorld))
    if (summary) tell(summary)
  }
}

async function wantsDemo(database: Database, config: Config): Promise<boolean> {
  return !config.production && (await isStoreEmpty(database.read))
}
