import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import type { CursorKey } from './cursors.ts'

/** How many rows the first look passes, whether they fit or not: few enough that nobody waits for it, on an embedded store either. */
export const lookedAtFirst = 2000
const lookedAtMost = 64 * lookedAtFirst
/**
 * Where a look takes less than this, in milliseconds, the next one passes twice as many rows; where it takes more, half as many. An
 * embedded store lets nothing else run meanwhile.
 */
const timeOfLook = { embedded: 8, remote: 80 }
/** How long one request looks on, in milliseconds; then its page ends with what was found by then. */
const scanTimeoutMs = 2000

/** A list whose filters no index serves, and which is therefore scanned in the order of its sort, in looks that are bounded. */
export interface Scan {
  readonly db: Db
  /** What is scanned: a table, or a query with the columns of the order, in brackets and with a name. */
  readonly table: keyof Tables | RawBuilder<unknown>
  /** A condition by whose index the rows come in the order of the list; absent: the order has an index of its own. */
  readonly by?: RawBuilder<boolean> | undefined
  /** Between which values of the column that the list is sorted by. */
  readonly bounds?: SortBounds | undefined
}

/** A list of rows of several tables, each scanned by an index of its own: finds the key behind which a look has passed enough. */
export interface MergedScan {
  readonly findEdge: (
    side: 'after' | 'before',
    from: CursorKey | undefined,
    distance: number,
  ) => Promise<CursorKey | undefined>
}

export interface SortBounds {
  readonly atLeast: number | undefined
  readonly below: number | undefined
}

/** Part of a list: behind `from`, up to `to`; where one is undefined, from the list's beginning or to its end. */
export interface Stretch<Key> {
  readonly from: Key | undefined
  readonly to: Key | undefined
}

/** Rows that were found, and the key up to which was looked; undefined: to the end of the list. */
export interface Found<Row, Key> {
  readonly rows: Row[]
  readonly reached: Key | undefined
}

export interface ScanOptions<Row, Key> {
  readonly from: Key | undefined
  readonly limit: number
  /** The key of the row that is so many rows behind `from`; undefined when there are fewer. */
  readonly findEdge: (from: Key | undefined, rows: number) => Promise<Key | undefined>
  readonly look: (stretch: Stretch<Key>, limit: number) => Promise<Row[]>
}

/** Looks at one stretch after the other, until there are `limit` rows, the list ends, or it has taken long enough. */
export async function scanInSteps<Row, Key>({
  from,
  limit,
  findEdge,
  look,
}: ScanOptions<Row, Key>): Promise<Found<Row, Key>> {
  const rows: Row[] = []
  const end = performance.now() + scanTimeoutMs
  let size = lookedAtFirst
  for (let key = from; ; ) {
    const reached = await inTurn(async () => {
      const began = performance.now()
      let timeAllowed = timeOfLook.embedded
      const othersRan = setImmediate(() => {
        timeAllowed = timeOfLook.remote
      })
      const to = await findEdge(key, size)
      rows.push(...(await look({ from: key, to }, limit - rows.length)))
      clearImmediate(othersRan)
      const isQuick = performance.now() - began < timeAllowed
      size = Math.min(lookedAtMost, Math.max(lookedAtFirst, isQuick ? size * 2 : size / 2))
      return to
    })
    if (reached === undefined || rows.length >= limit) return { rows, reached: undefined }
    if (performance.now() >= end) return { rows, reached }
    key = reached
  }
}

let last: Promise<unknown> = Promise.resolve()

/**
 * The looks of all scans of this process, one after the other, each in a turn of the event loop of its own: however many dear lists
 * are asked for at once, they hold one connection, and what others ask for comes in between.
 */
function inTurn<T>(look: () => Promise<T>): Promise<T> {
  const result = last.then(() => nextTurn()).then(look)
  last = result.catch(() => undefined)
  return result
}

/** The key of the row that is so many rows further; `order` is that of the list. */
export async function findRowBehind(
  { db, table, by }: Scan,
  columns: readonly [string, string],
  condition: RawBuilder<boolean>,
  order: RawBuilder<unknown>,
  distance: number,
): Promise<[string | number, string] | undefined> {
  const [sort, id] = columns
  const { rows } = await sql<{ sort: string | number; id: string }>`
    SELECT ${sql.ref(sort)} AS sort, ${sql.ref(id)} AS id FROM ${typeof table === 'string' ? sql.table(table) : table}
    WHERE ${by ?? sql`TRUE`} AND ${condition}
    ORDER BY ${order} LIMIT 1 OFFSET ${sql.lit(distance - 1)}`.execute(db.query)
  const row = rows[0]
  return row && [row.sort, row.id]
}
