import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { type TSchema, Type } from 'typebox'
import { badArgument } from '../define-error.ts'
import { bothCursors, cursorUnknown, limitTwice } from '../errors.ts'
import type { CursorKey, CursorSealer } from './cursors.ts'
import { type FilterField, readFilter } from './filtering.ts'
import {
  type Found,
  findRowBehind,
  type MergedScan,
  type Scan,
  type SortBounds,
  type Stretch,
  scanInSteps,
} from './scan.ts'

/** The options of a list. */
export interface ListOptions {
  readonly maxLimit: number
  /** How many a page holds when `limit` is left out. */
  readonly defaultLimit?: number
  /** Further names of the argument `limit`. */
  readonly limitNames?: readonly LimitName[]
  /** The column of the tie-breaking id. */
  readonly idColumn: string
  /** Each sort and its column. */
  readonly sorts: Readonly<Record<string, { readonly column: string; readonly direction: Direction }>>
  readonly defaultSort: string
  /** Whether `sort` is an argument; otherwise only the default order exists. */
  readonly sortable: boolean
  readonly filters?: Readonly<Record<string, FilterField>>
}

type Direction = 'asc' | 'desc'
type LimitName = 'first' | 'last'

/** A list in one order only: newest first. */
export function newestFirst(maxLimit: number, column = 'created_time', idColumn = 'id'): ListOptions {
  const defaultSort = `${column}.desc`
  return { maxLimit, idColumn, sortable: false, defaultSort, sorts: { [defaultSort]: { column, direction: 'desc' } } }
}

const usualLimit = 25
/** As much as the head of a request can hold. */
const maxFilteringLength = 16_384

/** The arguments of a list, as received. */
export interface PageArguments {
  readonly limit?: number
  readonly first?: number
  readonly last?: number
  readonly after?: string
  readonly before?: string
  readonly sort?: string
  readonly filtering?: string
}

/** The schema of those arguments. */
export function pageArguments(options: ListOptions): Record<string, TSchema> {
  const { maxLimit, limitNames = [], sorts, defaultSort, sortable, filters } = options
  const limit = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: maxLimit, description }))
  return {
    limit: limit(`How many items a page holds at the most; ${defaultLimitOf(options)} when left out.`),
    ...Object.fromEntries(limitNames.map((name) => [name, limit('Another name of `limit`.')])),
    after: Type.Optional(cursor('The cursor of the item that the page starts behind.')),
    before: Type.Optional(cursor('The cursor of the item that the page ends in front of.')),
    ...(sortable && {
      sort: Type.Optional(
        Type.Enum(Object.keys(sorts), { description: `The order of the list; ${defaultSort} when left out.` }),
      ),
    }),
    ...(filters && {
      filtering: Type.Optional(
        Type.String({
          maxLength: maxFilteringLength,
          description: `A JSON array of conditions {field, operator, value} over ${Object.keys(filters).join(', ')}; operators EQUAL, NOT_EQUAL, IN, NOT_IN.`,
        }),
      ),
    }),
  }
}

function defaultLimitOf({ maxLimit, defaultLimit = usualLimit }: ListOptions): number {
  return Math.min(defaultLimit, maxLimit)
}

function cursor(description: string) {
  return Type.String({ maxLength: 2000, description })
}

/** How many items a page holds at the most, under whichever name that came. */
function limitOf({ limit, first, last }: PageArguments, options: ListOptions): number {
  const given = Object.entries({ limit, first, last }).filter(([, value]) => value !== undefined)
  const [one, other] = given
  if (one && other) throw limitTwice({ one: one[0], other: other[0] })
  return one?.[1] ?? defaultLimitOf(options)
}

/** What every list returns besides its data. */
export const pagingSchema = Type.Object({
  cursors: Type.Object({
    before: Type.Optional(Type.String({ description: 'The cursor of the first item of this page.' })),
    after: Type.Optional(Type.String({ description: 'The cursor of the last item of this page.' })),
  }),
  previous: Type.Optional(
    Type.String({ format: 'uri', description: 'The page before this one; absent at the start.' }),
  ),
  next: Type.Optional(Type.String({ format: 'uri', description: 'The page after this one; absent at the end.' })),
})

/** The request's own URL, for links to the neighbouring pages. */
export interface Self {
  /** Without the query. */
  readonly url: string
  /** As received, without what must not be repeated (a token). */
  readonly query: string
}

/** Which rows, for a list that is not one query: a stretch of it, read from `from` on. */
export interface PagePosition extends Stretch<CursorKey> {
  /** `after`: in the order of the list; `before`: in the opposite one. */
  readonly side: 'after' | 'before'
  readonly limit: number
}

/** What a store adds to its query: which rows, in which order, and how many. */
export class PageRange {
  readonly position: PagePosition
  readonly #condition: RawBuilder<boolean>
  readonly #order: RawBuilder<unknown>
  readonly #limit: number

  constructor(condition: RawBuilder<boolean>, order: RawBuilder<unknown>, position: PagePosition) {
    this.position = position
    this.#condition = condition
    this.#order = order
    this.#limit = position.limit
  }

  apply<DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O> {
    return this.within(query).orderBy(this.#order).limit(this.#limit)
  }

  /** Only which rows, of a query that is not the list itself. */
  within<DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O> {
    return query.where(this.#condition)
  }
}

/** The page of a list that a request asks for. */
export class Page {
  /** The time of the list: filters and items must derive their values from the same time. */
  readonly now: number
  readonly #options: ListOptions
  readonly #limit: number
  readonly #list: string
  readonly #sealer: CursorSealer
  readonly #self: Self
  readonly #filter: RawBuilder<boolean> | undefined
  readonly #cursor: { key: CursorKey; side: 'after' | 'before' } | undefined
  readonly #sort: { column: string; direction: Direction }

  /** `list` names the operation and node, so that another list refuses its cursors. */
  constructor(options: ListOptions, args: PageArguments, list: string, sealer: CursorSealer, self: Self, now: number) {
    const sortName = args.sort ?? options.defaultSort
    const sort = options.sorts[sortName]
    if (!sort) throw new Error(`${sortName} is not a sort of this list`)
    this.now = now
    this.#options = options
    this.#limit = limitOf(args, options)
    this.#list = `${list}?sort=${sortName}`
    this.#sealer = sealer
    this.#self = self
    this.#sort = sort
    this.#filter = readFilter(options.filters ?? {}, args.filtering, now)
    this.#cursor = this.#openCursor(args)
  }

  /**
   * Reads one page by key and not by offset, so that the last page costs the same as the first, and rows that come or go in between
   * neither repeat nor hide others. A list that is scanned may end its page early, with a link to where it would have looked on.
   */
  async fetch<Row extends object>(
    rows: (range: PageRange) => Promise<Row[]>,
    toItem: (row: Row) => Record<string, unknown>,
    scan?: Scan | MergedScan,
  ): Promise<{ data: Record<string, unknown>[]; paging: Record<string, unknown> }> {
    const limit = this.#limit
    const backwards = this.#cursor?.side === 'before'
    const side = backwards ? 'before' : 'after'
    const { rows: found, reached } = await this.#find(rows, side, this.#cursor?.key, limit + 1, scan)
    const hasMore = found.length > limit || reached !== undefined
    const page = found.slice(0, limit)
    if (backwards) page.reverse()
    const [start, end] = [page[0], page.at(-1)].map((row) => row && this.#keyOf(row))
    const first = (backwards && reached) || (start ?? reached)
    const last = (!backwards && reached) || (end ?? reached)
    if (!first || !last) return { data: [], paging: { cursors: {} } }

    const hasOther =
      this.#cursor !== undefined && (!start || (await this.#hasAny(rows, backwards, backwards ? last : first, scan)))
    const before = this.#sealer.seal(this.#list, first)
    const after = this.#sealer.seal(this.#list, last)
    return {
      data: page.map(toItem),
      paging: {
        cursors: { before, after },
        ...((backwards ? hasMore : hasOther) && { previous: this.#link('before', before) }),
        ...((backwards ? hasOther : hasMore) && { next: this.#link('after', after) }),
      },
    }
  }

  /** Whether there are rows on the side that the cursor came from: there are, unless they were removed since. */
  async #hasAny<Row extends object>(
    rows: (range: PageRange) => Promise<Row[]>,
    backwards: boolean,
    key: CursorKey,
    scan: Scan | MergedScan | undefined,
  ): Promise<boolean> {
    const found = await this.#find(rows, backwards ? 'after' : 'before', key, 1, scan)
    return found.rows.length > 0 || found.reached !== undefined
  }

  async #find<Row extends object>(
    rows: (range: PageRange) => Promise<Row[]>,
    side: 'after' | 'before',
    from: CursorKey | undefined,
    limit: number,
    scan: Scan | MergedScan | undefined,
  ): Promise<Found<Row, CursorKey>> {
    if (!scan) return { rows: await rows(this.#range(side, { from, to: undefined }, limit)), reached: undefined }
    const columns = [this.#sort.column, this.#options.idColumn] as const
    return scanInSteps({
      from,
      limit,
      findEdge: (from, distance) => {
        if ('findEdge' in scan) return scan.findEdge(side, from, distance)
        const { condition, order } = this.#stretch(side, { from, to: undefined }, scan.bounds)
        return findRowBehind(scan, columns, condition, order, distance)
      },
      look: (stretch, limit) => rows(this.#range(side, stretch, limit, 'findEdge' in scan ? undefined : scan)),
    })
  }

  /** Rows include the columns that the list is sorted by. */
  #keyOf(row: object): CursorKey {
    const columns = row as Record<string, number | string>
    return [columns[this.#sort.column] as number | string, columns[this.#options.idColumn] as string]
  }

  #range(side: 'after' | 'before', stretch: Stretch<CursorKey>, limit: number, scan?: Scan): PageRange {
    const { condition, order } = this.#stretch(side, stretch, scan?.bounds)
    const conditions = [condition, ...(this.#filter ? [this.#filter] : []), ...(scan?.by ? [scan.by] : [])]
    return new PageRange(sql<boolean>`${sql.join(conditions, sql` AND `)}`, order, { side, limit, ...stretch })
  }

  /** At most one condition for either end: of two, a database may use the one that leaves more rows. */
  #stretch(side: 'after' | 'before', { from, to }: Stretch<CursorKey>, { atLeast, below }: Partial<SortBounds> = {}) {
    const { column, direction } = this.#sort
    const ascending = (direction === 'asc') === (side === 'after')
    const sortColumn = sql.ref(column)
    const idColumn = sql.ref(this.#options.idColumn)
    const compare = (sign: string, [sort, id]: CursorKey) =>
      sql<boolean>`(${sortColumn}, ${idColumn}) ${sql.raw(sign)} (${sort}, ${id})`
    const [low, high] = ascending ? [from, to] : [to, from]
    const conditions: RawBuilder<boolean>[] = []
    if (low) conditions.push(compare(ascending ? '>' : '>=', low))
    else if (atLeast !== undefined) conditions.push(sql`${sortColumn} >= ${atLeast}`)
    if (high) conditions.push(compare(ascending ? '<=' : '<', high))
    else if (below !== undefined) conditions.push(sql`${sortColumn} < ${below}`)
    if (conditions.length === 0) conditions.push(sql<boolean>`TRUE`)
    const way = sql.raw(ascending ? 'ASC' : 'DESC')
    return {
      condition: sql<boolean>`${sql.join(conditions, sql` AND `)}`,
      order: sql`${sortColumn} ${way}, ${idColumn} ${way}`,
    }
  }

  #openCursor({ after, before }: PageArguments): { key: CursorKey; side: 'after' | 'before' } | undefined {
    if (after !== undefined && before !== undefined) throw bothCursors()
    const side = before === undefined ? 'after' : 'before'
    const text = before ?? after
    if (text === undefined || text === '') return undefined
    const key = this.#sealer.open(this.#list, text)
    if (!key) {
      throw badArgument(cursorUnknown(side))
    }
    return { key, side }
  }

  #link(side: 'after' | 'before', cursor: string): string {
    const query = new URLSearchParams(this.#self.query)
    query.delete('after')
    query.delete('before')
    query.append(side, cursor)
    return `${this.#self.url}?${query}`
  }
}
