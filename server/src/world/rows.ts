import { isDeepStrictEqual } from 'node:util'
import { type Kysely, sql } from 'kysely'
import type { Random } from '../base/random.ts'
import type { Transaction } from '../db/database.ts'
import type { Tables } from '../db/tables.ts'
import { inBatches } from './batches.ts'

/** Reads the rows whose column has one of the values, whatever their number. */
export async function* readRows<T extends keyof Tables, C extends keyof Tables[T] & string>(
  tx: Transaction,
  table: T,
  column: keyof Tables[T] & string,
  columns: readonly C[],
  values: readonly string[],
): AsyncGenerator<Pick<Tables[T], C>> {
  for await (const batch of inBatches(values)) {
    const { rows } = await sql<Pick<Tables[T], C>>`
      SELECT ${sql.join(columns.map((name) => sql.ref(name)))} FROM ${sql.table(table)}
      WHERE ${sql.ref(column)} IN (${sql.join(batch)})`.execute(tx.query)
    yield* rows
  }
}

/** How the things of one kind are kept in a table. */
export interface Target<Item, T extends keyof Tables> {
  readonly table: T
  /** The columns of the primary key, and an item's values of them. */
  readonly key: readonly (keyof Tables[T] & string)[]
  keyOf(item: Item): readonly string[]
  /** The node that the item is or hangs on: where the store does not have that, it has no row of the item either. */
  nodeOf?(item: Item): string
  /** The whole row of something new. */
  create(item: Item): Tables[T]
  /** The columns that the file gives for something that is there. */
  change(item: Item, stored: Tables[T]): Partial<Tables[T]>
  /** What is set besides, but only when something else changes. */
  readonly touch?: Partial<Tables[T]>
}

/** What every writer needs: one hour for all of them, and chance for what the file leaves out. */
export interface WriteParts {
  readonly tx: Transaction
  readonly now: number
  readonly random: Random
  readonly tally: Tally
  /** The nodes that the store has already. */
  readonly knownNodes: { has(id: string): boolean }
  /** Told of what the file says and was not done, with its place. */
  readonly warn: (place: string, problem: string) => void
}

/** How many entries were made, were brought to what the file says, and were so already. */
export class Tally {
  created = 0
  updated = 0
  unchanged = 0
}

type Row = Record<string, unknown>

/** Makes rows that are missing and sets those that differ; a row that is as the file says is not written at all. */
export async function bringRows<Item, T extends keyof Tables>(
  { tx, tally, knownNodes }: WriteParts,
  target: Target<Item, T>,
  items: readonly Item[],
): Promise<void> {
  const mayBeStored = (item: Item) => !target.nodeOf || knownNodes.has(target.nodeOf(item))
  for await (const batch of inBatches(items)) {
    const stored = await readStored(tx, target, batch.filter(mayBeStored))
    const missing: object[] = []
    const changed = new Map<string, { columns: string[]; rows: Row[] }>()
    for (const item of batch) {
      const row = stored.get(target.keyOf(item).join(' '))
      if (!row) {
        missing.push(target.create(item))
        continue
      }
      const changes = differences(row, { ...target.change(item, row as unknown as Tables[T]) })
      if (Object.keys(changes).length === 0) {
        tally.unchanged++
        continue
      }
      tally.updated++
      const whole = { ...changes, ...target.touch }
      const columns = Object.keys(whole).sort()
      const alike = changed.get(columns.join(' ')) ?? { columns, rows: [] }
      alike.rows.push({ ...row, ...whole })
      changed.set(columns.join(' '), alike)
    }
    tally.created += missing.length
    await insertRows(tx, target.table, missing)
    for (const { columns, rows } of changed.values()) await updateRows(tx, target.table, target.key, columns, rows)
  }
}

/** Puts new rows into a table. */
export async function insertRows(tx: Transaction, table: keyof Tables, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return
  await untyped(tx)
    .insertInto(table)
    .values([...rows] as Row[])
    .execute()
}

/**
 * Sets the same columns of many rows with one statement: an insert that always meets a row that is there. Of the rest of the
 * row nothing is written, so what others change in it meanwhile stays.
 */
async function updateRows(
  tx: Transaction,
  table: keyof Tables,
  key: readonly string[],
  columns: readonly string[],
  rows: Row[],
): Promise<void> {
  await untyped(tx)
    .insertInto(table)
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns([...key])
        .doUpdateSet((values) =>
          Object.fromEntries(columns.map((column) => [column, values.ref(`excluded.${column}`)])),
        ),
    )
    .execute()
}

async function readStored<Item, T extends keyof Tables>(
  tx: Transaction,
  { table, key, keyOf }: Target<Item, T>,
  items: readonly Item[],
): Promise<Map<string, Row>> {
  if (items.length === 0) return new Map()
  const wanted = sql.join(items.map((item) => sql`(${sql.join([...keyOf(item)])})`))
  const columns = sql.join(key.map((column) => sql.ref(column)))
  const { rows } = await sql<Row>`
    SELECT * FROM ${sql.table(table)} WHERE (${columns}) IN (VALUES ${wanted})`.execute(tx.query)
  return new Map(rows.map((row) => [key.map((column) => row[column]).join(' '), row]))
}

function differences(stored: Row, wanted: Row): Row {
  return Object.fromEntries(
    Object.entries(wanted).filter(([column, value]) => !isDeepStrictEqual(stored[column], value)),
  )
}

/** One function for every table is more than the types of the query builder can follow; `Target` holds them together. */
function untyped(tx: Transaction): Kysely<Record<string, Row>> {
  return tx.query as unknown as Kysely<Record<string, Row>>
}
