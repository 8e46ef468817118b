import { after, before } from 'node:test'
import { type App, createApp } from '../../src/app.ts'
import { systemRandom } from '../../src/base/keys/random.ts'
import { type Log, silentLog } from '../../src/base/log/log.ts'
import { type Clock, ManualClock } from '../../src/base/time/clock.ts'
import { type Environment, readConfig } from '../../src/config.ts'
import type { Database } from '../../src/db/database.ts'
import { chooseVocabulary, type VocabularyName } from '../../src/graph/vocabulary.ts'
import { buildOperations } from '../../src/operations.ts'
import type { TimeSources } from '../../src/timers/clock-guard.ts'
import { applyWorld } from '../../src/world/apply.ts'
import { readWorld } from '../../src/world/read.ts'
import { Client } from './client.ts'
import { type Engine, makeFilledStore, makeMigratedStore, type OpenStore } from './databases.ts'
import type { Storage } from './file-stores.ts'
import { addInviteLinks } from './groups.ts'
import { type KeptFiles, makeKeptFiles, storageOf } from './kept-files.ts'
import { addMedia } from './media.ts'
import { publicResponsesOf } from './public-responses.ts'
import { addSolutions } from './solutions.ts'
import { addUploads } from './uploads.ts'
import { testWorld } from './world.ts'

export interface TestServer {
  readonly app: App
  readonly url: string
  readonly database: Database
  readonly clock: ManualClock
  readonly client: Client
  readonly dataDir: string
  /** Undefined on SQLite. */
  readonly databaseUrl: string | undefined
  /** What it keeps of files. */
  readonly files: KeptFiles
  stop(): Promise<void>
}

export interface TestServerOptions {
  readonly engine: Engine
  /** Settings over the defaults of tests: no limits, quiet. */
  readonly env?: Environment
  /** By default that of `testWorld`. */
  readonly world?: object
  /** Where it keeps files; by default the storage that goes with the database. */
  readonly storage?: Storage
  /** By default nothing is logged. */
  readonly log?: Log
  /** What its clock is compared with; by default that clock itself. */
  readonly timeSources?: (clock: Clock) => TimeSources
}

/** The time of the test clock. */
export const testStart = Date.parse('2026-06-01T12:00:00Z')

/**
 * The whole service on a free port of loopback, on a real database, with a clock that the test controls. The test must stop it, which
 * removes its store.
 */
export async function startTestServer({
  engine,
  env = {},
  world,
  storage = storageOf(engine),
  log = silentLog,
  timeSources = sourcesOf,
}: TestServerOptions): Promise<TestServer> {
  const clock = new ManualClock(testStart)
  const { place, database } = await makeStore(engine, clock, world)
  const files = await makeKeptFiles(place.dataDir, storage)
  const usual = { PORT: '0', DATA_DIR: place.dataDir, RATE_LIMITS: 'off', LOG_LEVEL: 'silent', WEBHOOK_TIMEOUT: '1m' }
  const config = readConfig({ ...usual, ...files.settings, ...env })
  const startWorld = async () => readWorld(JSON.stringify(world ?? testWorld()), 'test world')
  const app = await createApp({
    ...{ config, database, clock, random: systemRandom, log, startWorld },
    timeSources: timeSources(clock),
  })
  const url = await app.listen()
  const vocabulary = chooseVocabulary(config.vocabulary)
  const table = tableOf(config.vocabulary)
  return {
    app,
    url,
    database,
    clock,
    client: new Client(url, vocabulary, table, publicResponsesOf(vocabulary, table, database)),
    dataDir: place.dataDir,
    databaseUrl: place.databaseUrl,
    files,
    async stop() {
      await app.close(1000)
      await database.close()
      await files.stop()
      await place.remove()
    },
  }
}

/** Time passes for the database and for the processor when the test moves the clock. */
export function sourcesOf(clock: Clock): TimeSources {
  return { monotonic: () => clock.now(), ofDatabase: () => clock.now() }
}

/** Each vocabulary's table, made once: it takes as long as the smallest test does. */
const tables = new Map<VocabularyName, ReturnType<typeof buildOperations>>()

function tableOf(name: VocabularyName): ReturnType<typeof buildOperations> {
  const table = tables.get(name) ?? buildOperations(chooseVocabulary(name))
  tables.set(name, table)
  return table
}

/** Most servers have the usual world, which is therefore applied once and copied. */
async function makeStore(engine: Engine, clock: Clock, world: object | undefined): Promise<OpenStore> {
  if (!world) {
    return makeFilledStore(engine, clock, {
      name: 'test world',
      fill: (database) => fillStore(database, clock, testWorld()),
    })
  }
  const store = await makeMigratedStore(engine, clock)
  await fillStore(store.database, clock, world)
  return store
}

async function fillStore(database: Database, clock: Clock, world: object): Promise<void> {
  await applyWorld(database, clock, systemRandom, readWorld(JSON.stringify(world), 'test world'))
  await addSolutions(database, clock)
  await addUploads(database, clock)
  await addMedia(database, clock)
  await addInviteLinks(database, clock)
}

/** A server for the tests of one describe block: started before the first, stopped after the last. */
export function useTestServer(options: TestServerOptions): TestServer {
  const held: { server?: TestServer } = {}
  before(async () => {
    held.server = await startTestServer(options)
  })
  after(async () => {
    await held.server?.stop()
    // The runner keeps what tests refer to until its end; hundreds of servers would be marked by every collection.
    delete held.server
  })
  return new Proxy({} as TestServer, {
    get(_, name) {
      if (!held.server) throw new Error('the server runs only while the tests of its describe block do')
      return held.server[name as keyof TestServer]
    },
  })
}
