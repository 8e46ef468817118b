import { isDeepStrictEqual } from 'node:util'
import { type Kysely, sql } from 'kysely'
import type { Db, Transaction } from '../db/database.ts'
import type { Tables } from '../db/tables.ts'
import { inBatches } from './batches.ts'
import type { Entry, Release, WriteContext } from './part.ts'

/** Reads the rows whose column has one of the values, in any number. */
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

/** The rows whose column has one of the ids, which fit one batch. */
export async function readByIds<T extends keyof Tables>(
  db: Db,
  table: T,
  column: keyof Tables[T] & string,
  ids: readonly string[],
  order: readonly (keyof Tables[T] & string)[],
): Promise<Tables[T][]> {
  if (ids.length === 0) return []
  let query = untyped(db)
    .selectFrom(table as string)
    .selectAll()
    .where(column as string, 'in', [...ids])
  for (const one of order) query = query.orderBy(one)
  return (await query.execute()) as unknown[] as Tables[T][]
}

/** How a table stores the entries of a part. */
export interface Target<Item, T extends keyof Tables> {
  readonly table: T
  /** The columns of the primary key, and their values for an item. */
  readonly key: readonly (keyof Tables[T] & string)[]
  keyOf(item: Item): readonly string[]
  /** The node that the item is or belongs to: if the store does not have it, the item has no row either. */
  nodeOf?(item: Item): string
  /** The whole row of a new entry. */
  create(item: Item): Tables[T]
  /** The columns that the file sets for an existing entry. */
  change(item: Item, stored: Tables[T]): Partial<Tables[T]>
  /** Columns set in addition, but only when something else changes. */
  readonly touch?: Partial<Tables[T]>
}

type Row = Record<string, unknown>
type Changes<Item, T extends keyof Tables> = Pick<Target<Item, T>, 'create' | 'change' | 'touch'>

/** Upserts entries that are nodes, in a table with their ids. */
export async function upsertNodes<Item extends Entry<{ id: string }>, T extends TableOf<'id'>>(
  context: WriteContext,
  table: T,
  entries: readonly Item[],
  changes: Changes<Item, T>,
): Promise<void> {
  const idOf = ({ given }: Item) => given.id
  const key = ['id' as keyof Tables[T] & string]
  await upsertChanged(context, { ...changes, table, key, keyOf: (item) => [idOf(item)], nodeOf: idOf }, entries)
}

/** Upserts entries of which each phone number has one. */
export async function upsertOfNumbers<
  Item extends Entry<unknown, Entry<{ id: string }>>,
  T extends TableOf<'phone_number_id'>,
>(context: WriteContext, table: T, entries: readonly Item[], changes: Changes<Item, T>): Promise<void> {
  const idOf = ({ parent }: Item) => parent.given.id
  const key = ['phone_number_id' as keyof Tables[T] & string]
  await upsertChanged(context, { ...changes, table, key, keyOf: (item) => [idOf(item)], nodeOf: idOf }, entries)
}

type TableOf<C extends string> = { [T in keyof Tables]: C extends keyof Tables[T] ? T : never }[keyof Tables]

/** Gives the rows a temporary unique value, so that others may take theirs. */
export function vacate<T extends TableOf<'id'>>(
  table: T,
  column: keyof Tables[T] & string,
  ids: readonly string[],
): Release {
  return async (tx) => {
    for await (const batch of inBatches(ids)) {
      await untyped(tx)
        .updateTable(table as string)
        .set({ [column]: sql`'~' || id` })
        .where('id', 'in', batch)
        .execute()
    }
  }
}

/** Inserts missing rows and updates those that differ; a row that is up to date is not written. */
export async function upsertChanged<Item, T extends keyof Tables>(
  { tx, tally, knownNodes }: WriteContext,
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
async function insertRows(tx: Transaction, table: keyof Tables, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return
  await untyped(tx)
    .insertInto(table)
    .values([...rows] as Row[])
    .execute()
}

/**
 * Sets the same columns of many rows with one statement: an insert that always conflicts with an existing row. The other columns are
 * not written, so concurrent changes to them stay.
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

/** One function for every table is beyond the types of the query builder; `Target` keeps them consistent. */
export function untyped(tx: Pick<Db, 'query'>): Kysely<Record<string, Row>> {
  return tx.query as unknown as Kysely<Record<string, Row>>
}
