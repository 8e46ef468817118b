import { sql } from 'kysely'
import { tokensLeftOut } from '../auth/world.ts'
import type { LeftOut } from '../chapter.ts'
import type { Db } from '../db/database.ts'
import type { Tables } from '../db/tables.ts'
import { chapters } from '../operations.ts'
import { batchSize } from '../world-part/batches.ts'
import type { ExportedRow, RowsExport, ValueExport } from '../world-part/part.ts'
import { untyped } from '../world-part/rows.ts'

/** The rows of a table in the order of their keys, in batches. */
export async function* readPages(db: Db, { table, key }: RowsExport): AsyncGenerator<ExportedRow[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)))
  for (let last = key.map(() => ''); ; ) {
    let query = untyped(db)
      .selectFrom(table as string)
      .selectAll()
      .where(sql<boolean>`(${columns}) > (${sql.join(last)})`)
      .limit(batchSize)
    for (const column of key) query = query.orderBy(column)
    const rows = await query.execute()
    if (rows.length > 0) yield rows
    const end = rows.at(-1)
    if (!end || rows.length < batchSize) return
    last = key.map((column) => String(end[column]))
  }
}

/** The rows for the values of some holders, which fit one batch. */
export async function readValues(
  db: Db,
  { table, of, order }: ValueExport,
  holder_ids: readonly string[],
): Promise<ReadonlyMap<string, ExportedRow[]>> {
  let query = untyped(db)
    .selectFrom(table as string)
    .selectAll()
    .where(of, 'in', [...holder_ids])
  for (const column of order) query = query.orderBy(column)
  return Map.groupBy(await query.execute(), (row) => String(row[of]))
}

export interface Exported {
  readonly id: string
  readonly entry: object
}

/** Entries in the order of their holders, consumed holder by holder. */
export interface Feed {
  takeOf(holder_id: string): AsyncGenerator<object>
}

/**
 * The entries of one kind for many holders. Only ids are kept for all holders at once; rows come in batches across holders, so that
 * neither one holder with very many rows nor very many holders with one each is slow.
 */
export async function feedRows(
  db: Db,
  { table, of }: RowsExport,
  holder_ids: readonly string[],
  toEntries: (rows: readonly ExportedRow[]) => Promise<Exported[]>,
): Promise<Feed> {
  if (of === undefined) throw new Error(`the export of ${table} does not say whose rows they are`)
  const listed = await untyped(db)
    .selectFrom(table as string)
    .select(['id', of])
    .where(of, 'in', [...holder_ids])
    .orderBy(of)
    .orderBy('id')
    .execute()
  const owned = listed.map((row) => ({ id: String(row['id']), holder: String(row[of]) }))
  let next = 0
  let batch: ReadonlyMap<string, object> = new Map()
  return {
    async *takeOf(holder_id) {
      for (let head = owned[next]; head?.holder === holder_id; head = owned[next]) {
        if (!batch.has(head.id)) {
          const ids = owned.slice(next, next + batchSize).map(({ id }) => id)
          const rows = await untyped(db)
            .selectFrom(table as string)
            .selectAll()
            .where('id', 'in', ids)
            .execute()
          batch = new Map((await toEntries(rows)).map(({ id, entry }) => [id, entry]))
        }
        const entry = batch.get(head.id)
        if (entry === undefined) throw new Error(`${head.id} is listed but not there`)
        next++
        yield entry
      }
    },
  }
}

/** What a world file cannot hold, and how much of it the store has. */
export async function countLeftOut(db: Db): Promise<{ what: string; count: number }[]> {
  const leftOut: LeftOut = Object.assign({}, tokensLeftOut, ...chapters.map(({ leftOutOfWorld }) => leftOutOfWorld))
  const found: { what: string; count: number }[] = []
  for (const [what, how] of Object.entries(leftOut)) {
    const count = typeof how === 'function' ? await how(db) : await countRows(db, how)
    if (count > 0) found.push({ what, count })
  }
  return found
}

async function countRows(db: Db, table: keyof Tables): Promise<number> {
  const row = await untyped(db)
    .selectFrom(table as string)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}
