import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import type { Clock } from '../base/time/clock.ts'
import { type Database, MigrationsOutOfOrder, type Transaction, UnknownMigrations } from './database.ts'
import { defineStatement } from './statement.ts'

export interface Migration {
  readonly name: string
  readonly script: string
}

const folder = new URL('./migrations/', import.meta.url)

/** The migrations in order, one set for both databases. */
export function readMigrations(): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: file.replace(/\.sql$/, ''), script: readFileSync(new URL(file, folder), 'utf8') }))
}

/**
 * Runs the missing migrations in one transaction and returns their names. Processes that start together wait for each other, and the
 * later ones find nothing to do.
 */
export async function migrate(
  database: Database,
  clock: Clock,
  migrations: readonly Migration[] = readMigrations(),
): Promise<string[]> {
  return database.transaction(async (tx) => {
    await database.lockForMigration(tx)
    await database.runScript(
      tx,
      'CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, applied_time BIGINT NOT NULL)',
    )
    const applied = await readApplied(tx)
    const known = new Set(migrations.map(({ name }) => name))
    const unknown = [...applied].filter((name) => !known.has(name))
    if (unknown.length > 0) {
      throw new UnknownMigrations(
        `the database was migrated by a newer version (${unknown.join(', ')}): start that version, or restore a backup`,
      )
    }
    const pending = migrations.filter(({ name }) => !applied.has(name))
    checkOrder(pending, applied)
    for (const { name, script } of pending) {
      await database.runScript(tx, writeFor(database, script))
      await sql`INSERT INTO schema_migrations (name, applied_time) VALUES (${name}, ${clock.now()})`.execute(tx.query)
    }
    return pending.map(({ name }) => name)
  })
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

/** Puts in what differs: the type of ordered ids, and lines for one of the databases alone. */
export function writeFor(
  { orderedId, isEmbedded }: Pick<Database, 'orderedId' | 'isEmbedded'>,
  script: string,
): string {
  return script
    .replaceAll('ORDERED_ID', orderedId)
    .replaceAll(/^ON_POSTGRESQL (.*)$/gm, isEmbedded ? '' : '$1')
    .replaceAll(/^ON_SQLITE (.*)$/gm, isEmbedded ? '$1' : '')
}

const selectApplied = defineStatement<object>()((db) => db.selectFrom('schema_migrations').select('name'))

/** Whether every migration has run, for the readiness probe; a newer version may have run others. */
export async function isMigrated(
  database: Database,
  migrations: readonly Migration[] = readMigrations(),
): Promise<boolean> {
  const applied = new Set((await database.reserved.list(selectApplied, {})).map(({ name }) => name))
  return migrations.every(({ name }) => applied.has(name))
}

/** Whether PostgreSQL has a schema of ours, of any version; the check creates nothing. */
export async function hasPostgresSchema({ read }: Database): Promise<boolean> {
  const found = sql<{ name: string | null }>`SELECT to_regclass('schema_migrations')::text AS name`
  return (await found.execute(read.query)).rows[0]?.name !== null
}

async function readApplied(tx: Transaction): Promise<Set<string>> {
  const result = await sql<{ name: string }>`SELECT name FROM schema_migrations`.execute(tx.query)
  return new Set(result.rows.map(({ name }) => name))
}
