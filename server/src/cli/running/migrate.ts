import { sql } from 'kysely'
import { openLog } from '../../base/log/log.ts'
import { systemClock } from '../../base/time/clock.ts'
import { second } from '../../base/time/duration.ts'
import type { Database } from '../../db/database.ts'
import { describeLock, readLocks } from '../../db/schema/locks.ts'
import { findPending, hasSchema, type MigrationProgress, migrate } from '../../db/schema/migrate.ts'
import { configFrom, openUnmigrated } from '../store.ts'

export interface MigrateFlags {
  readonly data?: string
  readonly check?: boolean
}

const exitCodeOfPending = 2

/** Brings the database's schema up to date and says what was done, or what would be. */
export async function runMigrations({ data, check }: MigrateFlags): Promise<void> {
  const config = configFrom({ DATA_DIR: data })
  const { log, close: closeLog } = openLog('warn', config.logFormat)
  const database = await openUnmigrated(config, log)
  try {
    if (check) {
      await printPending(database)
      return
    }
    const isNew = !(await hasSchema(database))
    const names = await migrate(database, systemClock, { progress: printProgress(isNew || database.isEmbedded) })
    if (names.length === 0) say('The schema is up to date.')
    else if (isNew || database.isEmbedded) for (const name of names) say(`Ran ${name}.`)
  } finally {
    await database.close()
    await closeLog()
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Migrations that run together are printed at the end. */
function printProgress(isTogether: boolean): MigrationProgress {
  return {
    begin(name) {
      if (!isTogether) say(`Running ${name}.`)
    },
    wait: (name, reason) =>
      say(`${name} was not run yet: ${reason}. It is tried again; nothing waits for it meanwhile.`),
    end(name, milliseconds) {
      if (!isTogether) say(`Ran ${name} in ${(milliseconds / second).toFixed(1)} s.`)
    },
    goBeside: (newer) => say(`A newer version has run ${newer.join(', ')}; this version can use that schema.`),
  }
}

async function printPending(database: Database): Promise<void> {
  const pending = await findPending(database)
  if (pending.length === 0) {
    say('The schema is up to date.')
    return
  }
  process.exitCode = exitCodeOfPending
  if (!(await hasSchema(database))) {
    say(`There is no schema yet: all ${pending.length} migrations would run, in one transaction.`)
    return
  }
  if (database.isEmbedded) {
    for (const { name } of pending) say(`${name} would run.`)
    say('They would run in one transaction, before the server starts.')
    return
  }
  const [locks, sizes] = [readLocks(), await readSizes(database)]
  for (const { name } of pending) {
    const tables = Object.entries(locks[name] ?? {})
    say(`${name} would run${tables.length === 0 ? ', and hold up nobody.' : ':'}`)
    for (const [table, lock] of tables) say(`  ${table} (${sizes.get(table) ?? 'new'}): ${describeLock(lock)}`)
  }
  say('Each is a transaction of its own, which waits 2 s for its locks and is tried again until it has them.')
}

/** As PostgreSQL last counted them. */
async function readSizes({ read }: Database): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; rows: string; size: string }>`
    SELECT relname AS name, greatest(reltuples, 0)::bigint::text AS rows, pg_size_pretty(pg_total_relation_size(oid)) AS size
    FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`.execute(read.query)
  return new Map(rows.map(({ name, rows, size }) => [name, `about ${rows} rows, ${size}`]))
}
