import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import type { Database, Transaction } from '../database.ts'

/**
 * Copies of the whole store. The embedded one copies its file into `snapshots/` beside it; PostgreSQL copies its tables into a schema of their
 * own. Ids are ours, never a caller's text.
 */
export interface StoreCopy {
  /** Rows of a table of the copy, put into the table of the same name; with `spare`, rows that are there already stay. */
  load(table: string, options?: { readonly spare?: boolean; readonly where?: string }): Promise<void>
  /** By how much the clock was ahead. */
  readOffset(): Promise<number>
  close(): void
}

/** A copy that was begun in a transaction, as the store was before it. */
export interface BegunCopy {
  /** Called after the commit. */
  finish(): Promise<void>
  /** Called instead, or when that failed: nothing of what it held or began to write is left. */
  abandon(): Promise<void>
}

const rowsAtOnce = 200

export async function beginCopy(tx: Transaction, { isEmbedded }: Database, id: string): Promise<BegunCopy> {
  return isEmbedded ? beginFile(tx, id) : copySchema(tx, id)
}

export async function openCopy(tx: Transaction, { isEmbedded }: Database, id: string): Promise<StoreCopy> {
  return isEmbedded ? openFileCopy(tx, await fileOf(tx, id)) : openSchemaCopy(tx, id)
}

/** After the commit, for files: the returned function removes what no row names any more. */
export async function removeCopy(tx: Transaction, { isEmbedded }: Database, id: string): Promise<() => Promise<void>> {
  if (!isEmbedded) {
    await sql`DROP SCHEMA IF EXISTS ${sql.id(schemaOf(id))} CASCADE`.execute(tx.query)
    return async () => undefined
  }
  const file = await fileOf(tx, id)
  return async () => {
    for (const end of ['', '-wal', '-shm', '.new']) await rm(`${file}${end}`, { force: true })
  }
}

async function mainFile({ query }: Transaction): Promise<string> {
  const { rows } = await sql<{ file: string }>`SELECT file FROM pragma_database_list WHERE name = 'main'`.execute(query)
  return rows[0]?.file ?? ''
}

async function fileOf(tx: Transaction, id: string): Promise<string> {
  return join(dirname(await mainFile(tx)), 'snapshots', `${id}.db`)
}

/** The transaction holds the only writer, so what a new reader sees now is the store just before it. */
async function beginFile(tx: Transaction, id: string): Promise<BegunCopy> {
  const file = await fileOf(tx, id)
  const source = new DatabaseSync(await mainFile(tx))
  const close = () => {
    if (source.isOpen) source.close()
  }
  try {
    source.exec('BEGIN')
    source.prepare('SELECT COUNT(*) FROM sqlite_schema').get()
  } catch (error) {
    close()
    throw error
  }
  return {
    async finish() {
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 })
        // In pieces, between which requests are served.
        await backup(source, `${file}.new`, { rate: 500 })
        await rename(`${file}.new`, file)
      } finally {
        close()
      }
    },
    async abandon() {
      close()
      await rm(`${file}.new`, { force: true })
    },
  }
}

function openFileCopy(tx: Transaction, file: string): StoreCopy {
  const source = new DatabaseSync(file)
  return {
    async load(table, { spare = false, where = 'TRUE' } = {}) {
      const statement = source.prepare(`SELECT * FROM "${table}" WHERE ${where}`)
      const columns = sql.join(statement.columns().map(({ name }) => sql.ref(name)))
      const insert = async (rows: readonly Record<string, unknown>[]) => {
        const values = sql.join(rows.map((row) => sql`(${sql.join(Object.values(row))})`))
        const end = spare ? sql`ON CONFLICT DO NOTHING` : sql``
        await sql`INSERT INTO ${sql.table(table)} (${columns}) VALUES ${values} ${end}`.execute(tx.query)
      }
      let rows: Record<string, unknown>[] = []
      for (const row of statement.iterate()) {
        rows.push(row as Record<string, unknown>)
        if (rows.length < rowsAtOnce) continue
        await insert(rows)
        rows = []
      }
      if (rows.length > 0) await insert(rows)
    },
    async readOffset() {
      return Number(source.prepare('SELECT clock_offset FROM sandbox').get()?.['clock_offset'] ?? 0)
    },
    close: () => source.close(),
  }
}

function schemaOf(id: string): string {
  return `snapshot_${id}`
}

async function listColumns(tx: Transaction, schema: string, table: string): Promise<string[]> {
  const found = sql<{ name: string }>`
    SELECT column_name AS name FROM information_schema.columns WHERE table_schema = ${schema} AND table_name = ${table}
    ORDER BY ordinal_position`
  return (await found.execute(tx.query)).rows.map(({ name }) => name)
}

/** All tables as of one time: the transaction must have begun with `beginConsistentRead`. */
async function copySchema(tx: Transaction, id: string): Promise<BegunCopy> {
  const tables = sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`
  const { rows } = await tables.execute(tx.query)
  const schema = schemaOf(id)
  await sql`CREATE SCHEMA ${sql.id(schema)}`.execute(tx.query)
  for (const { name } of rows) {
    await sql`CREATE TABLE ${sql.id(schema, name)} AS TABLE ${sql.table(name)}`.execute(tx.query)
  }
  // It is there with the commit, and without it not at all.
  return { finish: async () => undefined, abandon: async () => undefined }
}

/** First of all in a transaction that copies: every statement of it sees the same moment. */
export async function beginConsistentRead({ query }: Transaction, { isEmbedded }: Database): Promise<void> {
  if (!isEmbedded) await sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`.execute(query)
}

function openSchemaCopy(tx: Transaction, id: string): StoreCopy {
  const schema = schemaOf(id)
  return {
    async load(table, { spare = false, where = 'TRUE' } = {}) {
      const columns = sql.join((await listColumns(tx, schema, table)).map((name) => sql.ref(name)))
      const end = spare ? sql`ON CONFLICT DO NOTHING` : sql``
      await sql`INSERT INTO ${sql.table(table)} (${columns})
        SELECT ${columns} FROM ${sql.id(schema, table)} WHERE ${sql.raw(where)} ${end}`.execute(tx.query)
    },
    async readOffset() {
      const found = sql<{ clock_offset: number }>`SELECT clock_offset FROM ${sql.id(schema, 'sandbox')}`
      return (await found.execute(tx.query)).rows[0]?.clock_offset ?? 0
    },
    close: () => undefined,
  }
}
