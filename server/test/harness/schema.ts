import { DatabaseSync } from 'node:sqlite'
import { type Migration, writeFor } from '../../src/db/schema/migrations.ts'

interface Column {
  readonly type: string
  readonly required: boolean
}

/** The columns of tables, as code that inserts and reads rows sees them. */
export type Schema = Readonly<Record<string, Readonly<Record<string, Column>>>>

/** The last released schema. `unused`: tables and `table.column` that the released code no longer uses, so that they may go. */
export interface ReleasedSchema {
  /** Where the released code is in the history. */
  readonly commit: string
  readonly last_migration: string
  readonly unused: readonly string[]
  readonly tables: Schema
}

const embedded = { orderedId: 'INTEGER PRIMARY KEY AUTOINCREMENT', isEmbedded: true }

/** The schema that migrations make. Its tables and columns are the same in both databases, so the embedded one is enough. */
export function schemaOf(migrations: readonly Migration[]): Schema {
  const database = new DatabaseSync(':memory:')
  try {
    for (const { script } of migrations) {
      database.exec(writeFor(embedded, script))
    }
    const tables = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
      .all() as { name: string }[]
    return Object.fromEntries(tables.map(({ name }) => [name, columnsOf(database, name)]))
  } finally {
    database.close()
  }
}

function columnsOf(database: DatabaseSync, table: string): Record<string, Column> {
  const rows = database.prepare(`SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info('${table}')`).all()
  return Object.fromEntries(
    (rows as { name: string; type: string; notnull: number; dflt_value: string | null; pk: number }[]).map((row) => {
      const isGiven = row.pk > 0 && row.type !== 'INTEGER'
      const required = (row.notnull === 1 || isGiven) && row.dflt_value === null
      return [row.name, { type: row.type, required }]
    }),
  )
}

/** What the released code would run into on the new schema, one sentence each. */
export function findBreaks({ tables: before, unused }: ReleasedSchema, after: Schema): string[] {
  const mayGo = new Set(unused)
  return Object.entries(before).flatMap(([table, columns]) => {
    if (mayGo.has(table)) return []
    const now = after[table]
    if (!now) return [`the table ${table} is gone or has another name`]
    const old = Object.entries(columns).flatMap(([name, { type, required }]) => {
      const place = `${table}.${name}`
      const column = now[name]
      if (!column) return mayGo.has(place) ? [] : [`the column ${place} is gone or has another name`]
      return [
        ...(column.type === type ? [] : [`the column ${place} has another type: ${column.type} instead of ${type}`]),
        ...(column.required && !required ? [`the column ${place} must have a value now`] : []),
      ]
    })
    const added = Object.entries(now).flatMap(([name, { required }]) =>
      columns[name] || !required ? [] : [`the new column ${table}.${name} must have a value, and has no default`],
    )
    return [...old, ...added]
  })
}
