import { sql } from 'kysely'
import type { Database, Transaction } from '../database.ts'

/**
 * What stays when the store is replaced as a whole: its schema and keys, which processes have in memory, and what is about processes and the sandbox itself. Blobs
 * and their uses are handled by whoever replaces it; the words that operators search by follow the tables that they are from.
 */
const keptTables: ReadonlySet<string> = new Set([
  'schema_migrations',
  'schema_floor',
  'service_secrets',
  'sealing_keys',
  'signing_keys',
  'sandbox',
  'snapshots',
  'processes',
  'process_settings',
  'store_clock',
  'sending_hold',
  'webhook_ids',
  'wanted_streams',
  'files',
  'file_uses',
  'searchable_names',
  'name_words',
])

/** The index over the words of messages is tables too, which begin like this. */
const wordIndex = 'message_words'

/** Milliseconds to wait for a write under way; then it is tried again. */
const lockTimeout = 200

interface Link {
  readonly child: string
  readonly parent: string
}

/** The tables whose rows are replaced, each before those that it refers to. */
export async function listReplacedTables(tx: Transaction, { isEmbedded }: Database): Promise<string[]> {
  if (isEmbedded) {
    const found = sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`
    const { rows } = await found.execute(tx.query)
    // The order does not matter: references are checked at the end of the transaction.
    await sql`PRAGMA defer_foreign_keys = ON`.execute(tx.query)
    return rows.map(({ name }) => name).filter((name) => !keptTables.has(name) && !name.startsWith(wordIndex))
  }
  const tables = sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`
  const links = sql<Link>`
    SELECT DISTINCT c.relname AS child, p.relname AS parent FROM pg_constraint
    JOIN pg_class c ON c.oid = conrelid JOIN pg_class p ON p.oid = confrelid
    WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND conrelid <> confrelid`
  const names = (await tables.execute(tx.query)).rows.map(({ name }) => name)
  return sortChildrenFirst(
    names.filter((name) => !keptTables.has(name)),
    (await links.execute(tx.query)).rows,
  )
}

function sortChildrenFirst(names: readonly string[], links: readonly Link[]): string[] {
  const parents = Map.groupBy(links, ({ child }) => child)
  const parentsFirst = new Set<string>()
  const visit = (name: string, way: readonly string[]) => {
    if (parentsFirst.has(name) || way.includes(name)) return
    for (const { parent } of parents.get(name) ?? []) visit(parent, [...way, name])
    parentsFirst.add(name)
  }
  for (const name of names) visit(name, [])
  return [...parentsFirst].filter((name) => names.includes(name)).reverse()
}

/**
 * Waits for writes under way and holds up new ones until the transaction ends; reads go on, with what was there before. The embedded store
 * has one writer anyway.
 */
export async function lockOutWriters(
  { query }: Transaction,
  { isEmbedded }: Database,
  tables: readonly string[],
): Promise<void> {
  if (isEmbedded) return
  // In the order in which most writes come to them; the audit log is the last of all.
  const inOrder = tables.toReversed().filter((name) => name !== 'activities')
  const names = [...inOrder, 'files', 'file_uses', 'activities'].map((name) => sql.table(name))
  // Shorter than PostgreSQL takes to find a deadlock with a write that holds one of them and waits for another.
  await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeout)}`.execute(query)
  await sql`LOCK TABLE ${sql.join(names)} IN EXCLUSIVE MODE`.execute(query)
}

export async function emptyTables({ query }: Transaction, tables: readonly string[]): Promise<void> {
  for (const table of tables) await sql`DELETE FROM ${sql.table(table)}`.execute(query)
}
