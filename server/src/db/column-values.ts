import { sql } from 'kysely'
import type { Db, Transaction } from './database.ts'
import { lockRowsOf } from './row-locks.ts'

/** A text column of a table, and the key columns of the table. */
export interface TextColumn {
  readonly table: string
  readonly column: string
  readonly key: readonly string[]
}

export interface ColumnValue {
  readonly key: readonly string[]
  readonly value: string
}

/** How many values one statement reads or writes: a few milliseconds' work. */
export const valueBatch = 500

/**
 * The next values of a column after a key, in the order of the keys, locked until the transaction ends. Skips rows without a value,
 * and rows whose value begins with `unless`.
 */
export async function lockValues(
  tx: Transaction,
  { table, column, key }: TextColumn,
  after: readonly string[],
  unless?: string,
): Promise<ColumnValue[]> {
  const keys = sql.join(key.map((name) => sql.ref(name)))
  const isWanted = unless === undefined ? sql`IS NOT NULL` : sql`NOT LIKE ${`${unless}%`}`
  const { rows } = await sql<Record<string, string>>`
    SELECT ${keys}, ${sql.ref(column)} AS value FROM ${sql.table(table)}
    WHERE (${keys}) > (${sql.join([...after])}) AND ${sql.ref(column)} ${isWanted}
    ORDER BY ${keys} LIMIT ${valueBatch} ${lockRowsOf(table, 'ForNoKeyUpdate')}`.execute(tx.query)
  return rows.map((row) => ({ key: key.map((name) => row[name] as string), value: row['value'] as string }))
}

/** Where reading a column begins. */
export function beforeFirst({ key }: TextColumn): readonly string[] {
  return key.map(() => '')
}

/** Sets the column of many rows with one statement. */
export async function setValues(
  tx: Transaction,
  { table, column, key }: TextColumn,
  values: readonly ColumnValue[],
): Promise<void> {
  if (values.length === 0) return
  const rows = sql.join(values.map(({ key, value }) => sql`(${sql.join([...key, value])})`))
  // Both databases name the columns of VALUES this way.
  const isSameRow = key.map((name, index) => sql`${sql.ref(`${table}.${name}`)} = ${numbered(index)}`)
  await sql`
    UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${numbered(key.length)}
    FROM (VALUES ${rows}) AS given WHERE ${sql.join(isSameRow, sql` AND `)}`.execute(tx.query)
}

function numbered(index: number) {
  return sql.ref(`given.column${index + 1}`)
}

/** How many values of a column begin with a text. */
export async function countValues({ query }: Db, { table, column }: TextColumn, beginning: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM ${sql.table(table)} WHERE ${sql.ref(column)} LIKE ${`${beginning}%`}`.execute(query)
  return Number(rows[0]?.count ?? 0)
}
