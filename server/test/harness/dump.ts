import { sql } from 'kysely'
import type { Database } from '../../src/db/database.ts'

/** What changes by itself: which processes there are, when each and each token was heard of last, and the index of words, which a worker fills. */
const changing = /^(?:processes|process_settings|token_notes|searchable_names|name_words|message_words.*)$/

/** The whole contents of a store, table by table, to detect changes. */
export async function dumpStore(database: Database): Promise<Record<string, string[]>> {
  const list = database.isEmbedded
    ? sql<{
        name: string
      }>`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`
    : sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`
  const tables = await list.execute(database.read.query)
  const dump: Record<string, string[]> = {}
  for (const { name } of tables.rows) {
    if (changing.test(name)) continue
    const { rows } = await sql`SELECT * FROM ${sql.table(name)}`.execute(database.read.query)
    dump[name] = rows.map((row) => JSON.stringify(row)).sort()
  }
  return dump
}
