import { type RawBuilder, sql } from 'kysely'
import type { CursorKey } from '../../../graph/lists/cursors.ts'
import type { PagePosition } from '../../../graph/lists/paging.ts'
import type { FeedItemType } from '../../../stream/feed-item.ts'

/** What is kept of what happened; causes before their effects of the same moment. */
export const recordedTypes = ['request', 'audit', 'event', 'message', 'call', 'replay', 'delivery', 'try'] as const
export type RecordedType = (typeof recordedTypes)[number] & (FeedItemType | 'audit')

/** The ids that break a tie of two items of one type and time. */
export type Ids = readonly (number | string)[]

/** Where an item is in the history: its time, then its type, then its ids. */
export interface Place {
  readonly time: number
  readonly type: RecordedType
  readonly ids: Ids
}

export function toKey({ time, type, ids }: Place): CursorKey {
  return [time, [type, ...ids].join(' ')]
}

function readKey([time, text]: CursorKey): Place {
  const [type, ...ids] = text.split(' ') as [RecordedType, ...string[]]
  const isText = type === 'replay'
  return { time: Number(time), type, ids: isText ? ids : ids.map(Number) }
}

/** The oldest first. */
export function comparePlaces(one: Place, other: Place): number {
  const byType = recordedTypes.indexOf(one.type) - recordedTypes.indexOf(other.type)
  if (one.time !== other.time || byType !== 0) return one.time - other.time || byType
  const at = one.ids.findIndex((id, index) => id !== other.ids[index])
  if (at < 0) return 0
  return (one.ids[at] as number | string) < (other.ids[at] as number | string) ? -1 : 1
}

/** One end of a stretch. */
interface End {
  readonly place: Place
  readonly isIncluded: boolean
}

/** Which part of the history, and in which direction it is read. */
export interface HistoryRange {
  readonly from: End | undefined
  readonly to: End | undefined
  readonly isAscending: boolean
  readonly since: number | undefined
  readonly until: number | undefined
}

/** Read from one key, which is left out, to another one, which is not. */
export function toHistoryRange(
  { side, from, to }: Pick<PagePosition, 'side' | 'from' | 'to'>,
  period: Pick<HistoryRange, 'since' | 'until'>,
): HistoryRange {
  const isAscending = side === 'before'
  const start = from && { place: readKey(from), isIncluded: false }
  const end = to && { place: readKey(to), isIncluded: true }
  return isAscending
    ? { from: start, to: end, isAscending, ...period }
    : { from: end, to: start, isAscending, ...period }
}

/** The columns of a source of items of one type. */
export interface OrderColumns {
  readonly type: RecordedType
  readonly time: RawBuilder<unknown>
  readonly ids: readonly RawBuilder<unknown>[]
}

/** The condition of a range. The time has one bound at either end, by which its index is read. */
export function isWithin(columns: OrderColumns, { from, to, since, until }: HistoryRange): RawBuilder<boolean> {
  const conditions: RawBuilder<boolean>[] = []
  if (from && (since === undefined || from.place.time >= since)) conditions.push(compare(columns, '>', from))
  // Always a bound, because SQLite prefers to sort a table to an index that it may only walk.
  else conditions.push(sql`${columns.time} >= ${since ?? 0}`)
  if (to && (until === undefined || to.place.time < until)) conditions.push(compare(columns, '<', to))
  else if (until !== undefined) conditions.push(sql`${columns.time} < ${until}`)
  return sql`${sql.join(conditions, sql` AND `)}`
}

/** Items beyond a place, of a type that comes before, after or at it within one moment. */
function compare({ type, time, ids }: OrderColumns, sign: '<' | '>', { place, isIncluded }: End): RawBuilder<boolean> {
  const beyond = sql.raw(sign)
  const byType = recordedTypes.indexOf(type) - recordedTypes.indexOf(place.type)
  if (byType !== 0) {
    const takesMoment = sign === '<' ? byType < 0 : byType > 0
    return sql`${time} ${sql.raw(takesMoment ? `${sign}=` : sign)} ${place.time}`
  }
  const orSame = sql.raw(isIncluded ? `${sign}=` : sign)
  return sql`${time} ${sql.raw(`${sign}=`)} ${place.time} AND (${time} ${beyond} ${place.time}
    OR (${sql.join([...ids])}) ${orSame} (${sql.join([...place.ids])}))`
}

export function isPlaceWithin(place: Place, { from, to, since, until }: HistoryRange): boolean {
  if (since !== undefined && place.time < since) return false
  if (until !== undefined && place.time >= until) return false
  const afterFrom = from ? comparePlaces(place, from.place) : 1
  const beforeTo = to ? comparePlaces(place, to.place) : -1
  return (
    (afterFrom > 0 || (afterFrom === 0 && from?.isIncluded === true)) &&
    (beforeTo < 0 || (beforeTo === 0 && to?.isIncluded === true))
  )
}

export function orderOf({ time, ids }: OrderColumns, { isAscending }: HistoryRange): RawBuilder<unknown> {
  const direction = sql.raw(isAscending ? 'ASC' : 'DESC')
  return sql.join([time, ...ids].map((column) => sql`${column} ${direction}`))
}
