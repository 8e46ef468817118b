import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { Database } from '../../src/db/database.ts'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/open.ts'
import { unlockSecrets } from '../../src/db/unlock.ts'
import { createDatabase, ensureTemplate, type TestDatabase, testDatabaseServer } from './postgres.ts'

export type Engine = 'sqlite' | 'postgres'

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
export function makeStorePlace(engine: Engine): Promise<StorePlace> {
  return makePlace(engine, async (url) => createDatabase(url))
}

/** A migrated store. On PostgreSQL it is a copy of one that is migrated once: migrating costs ten times as much. */
export async function makeMigratedStore(
  engine: Engine,
  clock: Clock,
): Promise<{ place: StorePlace; database: Database }> {
  const place = await makePlace(engine, async (url) => {
    const template = `migrated_${createHash('sha256').update(JSON.stringify(readMigrations())).digest('hex').slice(0, 16)}`
    await ensureTemplate(url, template, async (databaseUrl) => {
      const filled = await openDatabase({ dataDir: tmpdir(), databaseUrl, maxConnections: 2 }, silentLog)
      await migrate(filled, clock)
      await filled.close()
    })
    return createDatabase(url, template)
  })
  const database = await openPlace(place)
  await migrate(database, clock)
  await unlockPlace(place, database, clock)
  return { place, database }
}

/** Unlocks the secrets of a migrated store with the key file in its folder, which is created if missing. */
export async function unlockPlace(
  { dataDir }: StorePlace,
  database: Database,
  clock: Clock = systemClock,
): Promise<void> {
  const source = { current: undefined, old: [], file: join(dataDir, 'secrets.key') }
  await unlockSecrets(database, { source, clock, random: systemRandom, log: silentLog })
}

async function makePlace(engine: Engine, create: (url: string) => Promise<TestDatabase>): Promise<StorePlace> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
  const removeFolder = () => rm(dataDir, { recursive: true, force: true })
  if (engine === 'sqlite') return { engine, dataDir, databaseUrl: undefined, remove: removeFolder }
  const server = await testDatabaseServer()
  const { url, drop } = await create(server.url)
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

/** A migrated store for the tests of one describe block, closed and removed afterwards. */
export function useTestDatabase(engine: Engine): { readonly database: Database } {
  const held: { database?: Database; place?: StorePlace } = {}
  before(async () => {
    Object.assign(held, await makeMigratedStore(engine, systemClock))
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
