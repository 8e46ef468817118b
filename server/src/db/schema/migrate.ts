import { sql } from 'kysely'
import type { Clock } from '../../base/time/clock.ts'
import {
  type Database,
  DatabaseBusy,
  type Db,
  type LiveMigration,
  type MigrationPatience,
  type MigrationSession,
  MigrationsOutOfOrder,
  UnknownMigrations,
} from '../database.ts'
import { defineStatement } from '../statement.ts'
import { listLiveIndexes, type Migration, readMigrations, usableSince, writeFor } from './migrations.ts'

/** The migration that made `schema_floor`. */
const floorMigration = '054-oldest-version'

/** Called at each step of a migration, which may take long. */
export interface MigrationProgress {
  begin(name: string): void
  /** A lock was not to be had in time; nothing was changed, and it is tried again. */
  wait(name: string, reason: string): void
  end(name: string, milliseconds: number): void
  /** The store was migrated by a newer version, whose schema this one can use. */
  goBeside(newer: readonly string[]): void
}

export const silentProgress: MigrationProgress = {
  begin: () => undefined,
  wait: () => undefined,
  end: () => undefined,
  goBeside: () => undefined,
}

export interface MigrateOptions {
  readonly migrations?: readonly Migration[]
  readonly progress?: MigrationProgress
  /** What processes must know that start on the store afterwards. */
  readonly floor?: string
  readonly patience?: MigrationPatience
}

const usualPatience: MigrationPatience = { lockTimeout: 2000, pause: 3000 }

/**
 * Runs the missing migrations and returns their names. Processes that start together wait for each other, and the later ones find
 * nothing to do. A new store and an embedded one are migrated in one transaction. Otherwise each migration is a transaction of its own
 * that waits seconds for a lock: whatever queues behind it, such as every write to a table, waits no longer. It is tried again
 * until whoever is in the way, such as a backup, has ended.
 */
export async function migrate(database: Database, clock: Clock, options: MigrateOptions = {}): Promise<string[]> {
  const {
    migrations = readMigrations(),
    progress = silentProgress,
    floor = usableSince,
    patience = usualPatience,
  } = options
  const found = await readSchema(database)
  if (found && listPending(found, migrations).length === 0) {
    const newer = listNewer(found, migrations)
    if (newer.length > 0) progress.goBeside(newer)
    return []
  }
  return database.migrate(patience, async (session) => {
    const done: string[] = []
    for (;;) {
      const ran = await runNext({ database, session, clock, migrations, progress, floor })
      if (ran.length === 0) return done
      done.push(...ran)
    }
  })
}

interface Run extends Required<Omit<MigrateOptions, 'patience'>> {
  readonly database: Database
  readonly session: MigrationSession
  readonly clock: Clock
}

/** Runs the next migration, or all of them where nobody else uses the store; returns their names. */
async function runNext(run: Run): Promise<string[]> {
  const found = await readSchema(run.database)
  const pending = listPending(found, run.migrations)
  const [next] = pending
  if (!next) return []
  const { live } = run.session
  return found && live ? runLive(run, live, next) : runTogether(run, pending)
}

async function runLive(run: Run, live: LiveMigration, migration: Migration): Promise<string[]> {
  const { progress } = run
  const { name, script } = migration
  const began = performance.now()
  progress.begin(name)
  const indexes = listLiveIndexes(script)
  for (const index of indexes ?? []) await live.buildIndex(index.name, index.statement)
  for (;;) {
    try {
      const ran = await runTogether(run, [indexes ? { name, script: '' } : migration])
      progress.end(name, performance.now() - began)
      return ran
    } catch (error) {
      if (!(error instanceof DatabaseBusy)) throw error
      progress.wait(name, await live.describeObstacle())
      await live.pause()
    }
  }
}

/** Another process may have run some of them since: those are left out. */
function runTogether({ database, session, clock, floor }: Run, chosen: readonly Migration[]): Promise<string[]> {
  return database.transaction(async (tx) => {
    await session.begin(tx)
    await database.runScript(
      tx,
      'CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, applied_time BIGINT NOT NULL)',
    )
    const applied = await readApplied(tx)
    const left = chosen.filter(({ name }) => !applied.has(name))
    for (const { name, script } of left) {
      await database.runScript(tx, writeFor(database, script))
      await sql`INSERT INTO schema_migrations (name, applied_time) VALUES (${name}, ${clock.now()})`.execute(tx.query)
      applied.add(name)
    }
    if (applied.has(floorMigration)) {
      await sql`UPDATE schema_floor SET migration = ${floor} WHERE migration < ${floor}`.execute(tx.query)
    }
    return left.map(({ name }) => name)
  })
}

/** What has run, and what a process must know to use it. */
interface Schema {
  readonly applied: ReadonlySet<string>
  readonly floor: string | undefined
}

/** Undefined: there is none yet. */
async function readSchema(database: Database): Promise<Schema | undefined> {
  if (!(await hasSchema(database))) return undefined
  const applied = await readApplied(database.read)
  if (applied.size === 0) return undefined
  return { applied, floor: applied.has(floorMigration) ? await readFloor(database.read) : undefined }
}

/** The migrations that a start would run, in order; throws where this version cannot use the store. */
export async function findPending(database: Database, migrations = readMigrations()): Promise<Migration[]> {
  return listPending(await readSchema(database), migrations)
}

function listPending(schema: Schema | undefined, migrations: readonly Migration[]): Migration[] {
  if (!schema) return [...migrations]
  const pending = migrations.filter(({ name }) => !schema.applied.has(name))
  const newer = listNewer(schema, migrations)
  const newest = migrations.at(-1)?.name ?? ''
  if (newer.length > 0 && (schema.floor === undefined || newest < schema.floor)) {
    throw new UnknownMigrations(
      `the database was migrated by a newer version (${newer.join(', ')}), and this one is too old for it: start that version, or restore a backup`,
    )
  }
  checkOrder(pending, schema.applied)
  return pending
}

function listNewer({ applied }: Schema, migrations: readonly Migration[]): string[] {
  const known = new Set(migrations.map(({ name }) => name))
  return [...applied].filter((name) => !known.has(name)).sort()
}

/** New stores would run it before the applied ones, and this store after them: the two could end with different schemas. */
function checkOrder([first]: readonly Migration[], applied: ReadonlySet<string>): void {
  const newest = [...applied].sort().at(-1)
  if (first === undefined || newest === undefined || first.name > newest) return
  throw new MigrationsOutOfOrder(
    `the database was migrated by another version, perhaps one under development (it has run ${newest}, but not ${first.name}, which comes before): ` +
      `start that version, or restore a backup of this one; if you are adding ${first.name}, give it a number above ${newest}`,
  )
}

const selectApplied = defineStatement<object>()((db) => db.selectFrom('schema_migrations').select('name'))
const selectFloor = defineStatement<object>()((db) => db.selectFrom('schema_floor').select('migration'))

/** Whether every migration has run, for the readiness probe; a newer version may have run others. */
export async function isMigrated(
  database: Database,
  migrations: readonly Migration[] = readMigrations(),
): Promise<boolean> {
  const applied = await readApplied(database.reserved)
  return migrations.every(({ name }) => applied.has(name))
}

/** Whether there is a schema of ours, of any version; the check creates nothing. */
export async function hasSchema({ read, isEmbedded }: Database): Promise<boolean> {
  const found = isEmbedded
    ? sql<{ name: string | null }>`SELECT MAX(name) AS name FROM sqlite_schema WHERE name = 'schema_migrations'`
    : sql<{ name: string | null }>`SELECT to_regclass('schema_migrations')::text AS name`
  return (await found.execute(read.query)).rows[0]?.name !== null
}

async function readApplied(db: Db): Promise<Set<string>> {
  return new Set((await db.list(selectApplied, {})).map(({ name }) => name))
}

async function readFloor(db: Db): Promise<string | undefined> {
  return (await db.first(selectFloor, {}))?.migration
}
