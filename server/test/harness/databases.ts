import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/open.ts'
import { createDatabase, testDatabaseServer } from './postgres.ts'

export type Engine = Database['engine']

/** A place for one store: a folder, and on PostgreSQL a database of its own. */
export interface StorePlace {
  readonly engine: Engine
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  remove(): Promise<void>
}

/** Declares the same tests for both databases. */
export function onBothDatabases(name: string, declare: (engine: Engine) => void): void {
  for (const engine of ['sqlite', 'postgres'] as const) describe(`${name} (${engine})`, () => declare(engine))
}

/** An empty place for a store. */
export async function makeStorePlace(engine: Engine): Promise<StorePlace> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
  const removeFolder = () => rm(dataDir, { recursive: true, force: true })
  if (engine === 'sqlite') return { engine, dataDir, databaseUrl: undefined, remove: removeFolder }
  const server = await testDatabaseServer()
  const { url, drop } = await createDatabase(server.url)
  return {
    engine,
    dataDir,
    databaseUrl: url,
    async remove() {
      await drop()
      await server.release()
      await removeFolder()
    },
  }
}

/** A migrated store of its own for the tests of one describe block, closed and removed behind them. */
export function useTestDatabase(engine: Engine): { readonly database: Database } {
  const held: { database?: Database; place?: StorePlace } = {}
  before(async () => {
    held.place = await makeStorePlace(engine)
    held.database = await openPlace(held.place)
    await migrate(held.database, systemClock)
  })
  after(async () => {
    await held.database?.close()
    await held.place?.remove()
  })
  return {
    get database() {
      if (!held.database) throw new Error('the database is open only while the tests of its describe block run')
      return held.database
    },
  }
}

export async function openPlace(place: StorePlace): Promise<Database> {
  return openDatabase({ dataDir: place.dataDir, databaseUrl: place.databaseUrl, maxConnections: 10 }, silentLog)
}
