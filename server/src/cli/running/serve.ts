import { type App, createApp } from '../../app.ts'
import { commandName } from '../../base/command-name.ts'
import { processEnvironment } from '../../base/environment.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { type Log, openLog } from '../../base/log/log.ts'
import { cutTrailingSlashes } from '../../base/text/slashes.ts'
import { systemClock } from '../../base/time/clock.ts'
import { BadSetting, type Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { lockStore } from '../../db/sqlite/store-lock.ts'
import { chooseVocabulary } from '../../graph/vocabulary.ts'
import { drawProcessId } from '../../processes/heartbeat.ts'
import { type ApplyOptions, applyWorld, applyWorldIfEmpty, type WorldSummary } from '../../world/apply.ts'
import { isStoreEmpty } from '../../world/empty.ts'
import { listDemoTokensForOperators } from '../../world/guessable-secrets.ts'
import { readWorldFile } from '../../world/read.ts'
import { demoWorld } from '../../world/start.ts'
import { type LocalAddress, writeLocalUrl } from '../local-url.ts'
import { announceServer } from '../running-servers.ts'
import { configFrom, openStore } from '../store.ts'
import { composeBanner } from './banner.ts'
import { checkPort } from './free-port.ts'
import { findServiceManager } from './service-manager.ts'
import { stopOnSignals } from './stop.ts'

export interface ServeFlags {
  readonly port?: string
  readonly host?: string
  readonly data?: string
  readonly world?: string
  readonly role?: string
}

/** Starts the server, prints its address, and runs until it is stopped. */
export async function serve(flags: ServeFlags, { banner }: { banner: boolean }): Promise<void> {
  const config = configFrom({
    PORT: flags.port,
    HOST: flags.host,
    DATA_DIR: flags.data,
    WORLD: flags.world,
    ROLE: flags.role,
  })
  checkRole(config)
  await checkPort(config)
  const processId = drawProcessId(systemRandom)
  const { log, close: closeLog } = openLog(config.logLevel, config.logFormat, {
    process: processId,
    role: config.role,
  })
  if (config.role === 'worker' && config.publicUrl === undefined) {
    log.warn('PUBLIC_URL is not set: links in what this worker sends lead to the worker, which does not serve them')
  }
  const lock = config.databaseUrl === undefined ? lockStore(config.dataDir) : undefined
  let database: Database | undefined
  let app: App | undefined
  let address: string
  try {
    database = await openStore(config, log, { notesKeyFile: true })
    await applyFirstWorld(database, config, log)
    if (config.production) await warnOfDemoTokens(database, log)
    app = await createApp({
      config,
      database,
      clock: systemClock,
      random: systemRandom,
      log,
      processId,
    })
    address = await app.listen()
  } catch (error) {
    // What listens or waits already would keep the process alive, without a database.
    await app?.close(0)
    await database?.close()
    lock?.release()
    await closeLog()
    throw error
  }
  const removeNote = announceServer(
    writeLocalUrl(addressOf(address)),
    config.databaseUrl === undefined ? config.dataDir : null,
  )
  const held = {
    release() {
      removeNote()
      lock?.release()
    },
  }
  const greeting = banner && config.role !== 'worker' ? await composeBanner(database, systemClock, address, config) : ''
  // The one line on standard output is for programs.
  if (!banner && config.role !== 'worker') {
    log.info({ console: `${cutTrailingSlashes(config.publicUrl ?? address)}/` }, 'open the console in a browser')
  }
  const serviceManager = findServiceManager(processEnvironment(), log)
  stopOnSignals({ app, database, lock: held, log, closeLog, grace: config.stopGrace, serviceManager })
  serviceManager.ready(address)
  // Printed last: the reader may send a signal at once.
  process.stdout.write(`switchboard listening on ${address}\n${greeting}`)
}

function addressOf(address: string): LocalAddress {
  const { hostname, port } = new URL(address)
  return { host: hostname.replaceAll(/[[\]]/g, ''), port }
}

/** An embedded store belongs to one process, so that process must do everything. */
function checkRole({ role, databaseUrl }: Config): void {
  if (role === 'all' || databaseUrl !== undefined) return
  throw new BadSetting(`ROLE is ${role}, which takes PostgreSQL: set DATABASE_URL, or leave ROLE at all on SQLite`)
}

/** The configured world file, or the demo for an empty store outside production. */
async function applyFirstWorld(database: Database, config: Config, log: Log): Promise<void> {
  const report = (summary: WorldSummary): void => log.info(summary, 'applied a world file')
  const { long_ids: longIds } = chooseVocabulary(config.vocabulary).habits
  const options: ApplyOptions = { production: config.production, longIds, warn: (line) => log.warn(line) }
  if (config.world !== undefined) {
    report(await applyWorld(database, systemClock, systemRandom, await readWorldFile(config.world), options))
  } else if (await wantsDemo(database, config)) {
    const world = await readWorldFile(demoWorld)
    const summary = await applyWorldIfEmpty(database, systemClock, systemRandom, world, options)
    if (summary) report(summary)
  }
}

/** A store that was tried with the demo world keeps its tokens when it goes into production. */
async function warnOfDemoTokens(database: Database, log: Log): Promise<void> {
  const tokens = await listDemoTokensForOperators(database.read)
  if (tokens.length === 0) return
  log.warn(
    { tokens },
    `the store takes tokens of the demo world, which everybody can read: ${commandName()} token revoke`,
  )
}

async function wantsDemo(database: Database, config: Config): Promise<boolean> {
  return !config.production && (await isStoreEmpty(database.read))
}
