import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { systemRandom } from '../../src/base/keys/random.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { type Clock, systemClock } from '../../src/base/time/clock.ts'
import { minute } from '../../src/base/time/duration.ts'
import type { Database } from '../../src/db/database.ts'
import { openDatabase } from '../../src/db/open.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { readMigrations } from '../../src/db/schema/migrations.ts'
import { unlockSecrets } from '../../src/db/secrets/unlock.ts'
import { createDatabase, ensureTemplate, type TestDatabase, testDatabaseServer } from './postgres.ts'

export type Engine = 'sqlite' | 'postgres'

/** The names of files in a store's folder. */
const sqliteFile = 'switchboard.db'
const keyFile = 'secrets.key'
const migrations = readMigrations()

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

/** What tests for one database run on (TEST_DATABASES): `npm run test:quick` runs them on both. */
const chosenDatabases = (process.env['TEST_DATABASES'] ?? 'usual') as 'usual' | 'swapped' | 'both'

/**
 * Declares tests for one database: of commands, processes, doors, the checks of input and the rules of a chapter, whose code is the same
 * on both. Every operation runs on both all the same (every-operation.test.ts), and so do the stories of journeys/, which use pages too;
 * the long form runs these tests on the other database (databases-exchanged.long.test.ts).
 */
export function onOneDatabase(name: string, usual: Engine, declare: (engine: Engine) => void): void {
  const other: Engine = usual === 'sqlite' ? 'postgres' : 'sqlite'
  const engines = { usual: [usual], swapped: [other], both: [usual, other] }[chosenDatabases]
  for (const engine of engines) describe(`${name} (${engine})`, () => declare(engine))
}

/** An empty place for a store. */
export function makeStorePlace(engine: Engine): Promise<StorePlace> {
  return makePlace(engine)
}

/** A place with a store as `switchboard migrate` leaves it: servers that start on it have less to do. */
export function makeMigratedPlace(engine: Engine): Promise<StorePlace> {
  return copyTemplate(engine, {
    name: `migrated_${hash(migrations)}`,
    async build(empty) {
      const database = await openPlace(empty)
      await migrate(database, systemClock, { migrations })
      await database.close()
    },
  })
}

/** A migrated store with a key of its own. */
export async function makeMigratedStore(engine: Engine, clock: Clock): Promise<OpenStore> {
  return openStore(await makeMigratedPlace(engine), clock)
}

/** A migrated store with contents. All stores with the same contents have the same key, and the secrets that `fill` drew. */
export async function makeFilledStore(engine: Engine, clock: Clock, { name, fill }: Contents): Promise<OpenStore> {
  const place = await copyTemplate(engine, {
    name: `filled_${hash([migrations, name])}`,
    async build(empty) {
      await writeSharedKey(empty)
      const { database } = await openStore(empty, clock)
      await fill(database)
      await database.close()
    },
  })
  await writeSharedKey(place)
  return openStore(place, clock)
}

export interface OpenStore {
  readonly place: StorePlace
  readonly database: Database
}

/** What `makeFilledStore` puts into a store; other contents have another name. */
export interface Contents {
  readonly name: string
  fill(database: Database): Promise<void>
}

/** A store that others are copies of: to migrate or fill each of them costs ten times as much. */
interface Template {
  readonly name: string
  /** Makes it in an empty place, and closes it. */
  build(empty: StorePlace): Promise<void>
}

/** The bytes of templates on SQLite, by name. */
const builtFiles = new Map<string, Promise<Buffer>>()

async function copyTemplate(engine: Engine, { name, build }: Template): Promise<StorePlace> {
  if (engine === 'postgres') {
    return makePlace(engine, async (url) => {
      await ensureTemplate(url, name, async (databaseUrl) => {
        const empty = await makePlace('sqlite')
        await build({ ...empty, engine, databaseUrl })
        await empty.remove()
      })
      return createDatabase(url, name)
    })
  }
  const bytes = builtFiles.get(name) ?? buildFile(build)
  builtFiles.set(name, bytes)
  const place = await makePlace(engine)
  await writeFile(join(place.dataDir, sqliteFile), await bytes, { mode: 0o600 })
  return place
}

async function buildFile(build: Template['build']): Promise<Buffer> {
  const empty = await makePlace('sqlite')
  await build(empty)
  const bytes = await readFile(join(empty.dataDir, sqliteFile))
  await empty.remove()
  return bytes
}

async function openStore(place: StorePlace, clock: Clock): Promise<OpenStore> {
  const database = await openPlace(place)
  await migrate(database, clock, { migrations })
  await unlockPlace(place, database, clock)
  return { place, database }
}

function writeSharedKey({ dataDir }: StorePlace): Promise<void> {
  return writeFile(join(dataDir, keyFile), `${'5e'.repeat(32)}\n`, { mode: 0o600 })
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}

/** Unlocks the secrets of a migrated store with the key file in its folder, which is created if missing. */
export async function unlockPlace(
  { dataDir }: StorePlace,
  database: Database,
  clock: Clock = systemClock,
): Promise<void> {
  const source = { current: undefined, old: [], file: join(dataDir, keyFile) }
  await unlockSecrets(database, { source, clock, random: systemRandom, log: silentLog })
}

async function makePlace(
  engine: Engine,
  create: (url: string) => Promise<TestDatabase> = (url) => createDatabase(url),
): Promise<StorePlace> {
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

/** A database of a busy machine is waited for: only what never answers takes so long. */
const timeouts = { timeout: 4 * minute, lockTimeout: 2 * minute }

export async function openPlace(place: StorePlace, { maxConnections = 10 } = {}): Promise<Database> {
  const { dataDir, databaseUrl } = place
  return openDatabase({ dataDir, databaseUrl, maxConnections, ...timeouts }, silentLog)
}
