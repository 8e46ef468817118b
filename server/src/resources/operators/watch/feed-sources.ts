import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../db/database.ts'
import { isAmongWaiting } from '../../../db/waiting.ts'
import type { KeptRequest } from '../../../graph/ports.ts'
import type { FeedItem } from '../../../stream/feed-item.ts'
import { readDeliveries, readEvents, readReplays, readTries, type Selection } from '../../../stream/read.ts'
import { type Activity, listRecordsForOperators, type NamedActivity } from '../../audit/store.ts'
import { isSeen } from '../limits.ts'
import { type FeedFilter, fits, toFeedItem } from './feed-items.ts'
import {
  comparePlaces,
  type HistoryRange,
  type Ids,
  isPlaceWithin,
  isWithin,
  type OrderColumns,
  orderOf,
  type Place,
  type RecordedType,
} from './feed-order.ts'

export type RecordedItem = Omit<FeedItem, 'type'> & { readonly type: RecordedType }

/** An item of the history, with its place in it. */
export interface Recorded {
  readonly place: Place
  readonly item: RecordedItem
}

/** Where items of one type come from. */
export interface FeedSource {
  /** Those that fit, in the order of the range, up to a limit. */
  read(range: HistoryRange, limit: number): Promise<Recorded[]>
  /** The place so many rows from the beginning of the range, whether they fit or not; undefined when there are fewer. */
  findEdge(range: HistoryRange, distance: number): Promise<Place | undefined>
}

export interface SourceDeps {
  readonly db: Db
  readonly filter: Omit<FeedFilter, 'types'>
  /** Which audit records this operator sees; the columns are those of `activities`. */
  readonly isRecordSeen: RawBuilder<boolean>
  readonly listRequests: () => readonly KeptRequest[]
}

/** The sources of a type. */
export function sourcesOf(type: RecordedType, deps: SourceDeps): FeedSource[] {
  if (type === 'request') return [new RequestSource(deps)]
  if (type === 'delivery') {
    return [
      deliveries(deps, sql`deliveries.finished_time`, sql`deliveries.finished_time IS NOT NULL`),
      deliveries(deps, sql`deliveries.started_time`, isAmongWaiting()),
    ]
  }
  if (type === 'try') return [tries(deps)]
  if (type === 'replay') return [replays(deps)]
  if (type === 'audit') return [records(deps)]
  return [events(deps, type)]
}

interface TableOptions extends OrderColumns {
  /** The table of the time and the ids, as the columns name it. */
  readonly table: RawBuilder<unknown>
  /** The rows that the index of the time has. */
  readonly isIndexed?: RawBuilder<boolean>
  /** What fits, by columns of that table alone: a join would let a database begin with another table. */
  readonly isWanted: RawBuilder<boolean>
  /** The items of some rows, in any order. */
  readonly list: (rows: readonly Place[]) => Promise<Recorded[]>
}

class TableSource implements FeedSource {
  readonly #db: Db
  readonly #options: TableOptions

  constructor(db: Db, options: TableOptions) {
    this.#db = db
    this.#options = options
  }

  async read(range: HistoryRange, limit: number): Promise<Recorded[]> {
    const rows = await this.#select(range, this.#options.isWanted, sql`LIMIT ${sql.lit(limit)}`)
    return rows.length === 0 ? [] : this.#options.list(rows)
  }

  async findEdge(range: HistoryRange, distance: number): Promise<Place | undefined> {
    const [edge] = await this.#select(range, sql`TRUE`, sql`LIMIT 1 OFFSET ${sql.lit(distance - 1)}`)
    return edge
  }

  async #select(range: HistoryRange, isWanted: RawBuilder<boolean>, limit: RawBuilder<unknown>): Promise<Place[]> {
    const { type, time, ids, table, isIndexed = sql<boolean>`TRUE` } = this.#options
    const columns = [time, ...ids].map((column, index) => sql`${column} AS ${sql.ref(`c${index}`)}`)
    const { rows } = await sql<Record<string, number | string>>`
      SELECT ${sql.join(columns)} FROM ${table}
      WHERE ${isIndexed} AND ${isWithin(this.#options, range)} AND ${isWanted}
      ORDER BY ${orderOf(this.#options, range)} ${limit}`.execute(this.#db.query)
    return rows.map((row) => ({
      time: Number(row['c0']),
      type,
      ids: ids.map((_, index) => row[`c${index + 1}`] as number | string),
    }))
  }
}

const anyNumber = Number.MAX_SAFE_INTEGER

/** The rows whose first id is one of these. A join names the column of both tables, because PostgreSQL looks by an index in one alone otherwise. */
function withIds(columns: readonly string[], rows: readonly Place[]): Selection {
  const ids = [...new Set(rows.map(({ ids }) => ids[0] as number | string))]
  const conditions = columns.map((column) => sql<boolean>`${sql.ref(column)} IN (${sql.join(ids)})`)
  return { where: all(conditions), limit: anyNumber }
}

function events({ db, filter }: SourceDeps, type: 'event' | 'message' | 'call'): FeedSource {
  const field = { event: undefined, message: 'messages', call: 'calls' }[type]
  return new TableSource(db, {
    type,
    table: sql`events`,
    time: sql.ref('events.created_time'),
    ids: [sql.ref('events.id')],
    isWanted: all([
      isOwned(filter, { account: sql.ref('events.account_id'), number: sql.ref('events.phone_number_id') }),
      field === undefined ? undefined : sql`events.field = ${field}`,
    ]),
    list: async (rows) => {
      const { found } = await readEvents(db, withIds(['events.id'], rows))
      const ofType = found.filter((item) => item.type === type)
      return locate(ofType, type, ({ data }) => [Number(data['event_id'])])
    },
  })
}

/** Those that wait and those that ended have indexes of their own. */
function deliveries({ db, filter }: SourceDeps, time: RawBuilder<unknown>, isIndexed: RawBuilder<boolean>): FeedSource {
  return new TableSource(db, {
    type: 'delivery',
    table: sql`deliveries`,
    time,
    ids: [sql.ref('deliveries.id')],
    isIndexed,
    isWanted: isOwned(filter, {
      account: sql`(deliveries.account_id || '')`,
      number: sql`(SELECT e.phone_number_id FROM events e WHERE e.id = deliveries.event_id)`,
    }),
    list: async (rows) => {
      const { found } = await readDeliveries(db, withIds(['deliveries.id'], rows))
      // At the place where it was found, though it may have ended since.
      const places = new Map(rows.map((place) => [String(place.ids[0]), place]))
      return found.map((item) => ({
        place: places.get(String(item.data['delivery_id'])) as Place,
        item: item as RecordedItem,
      }))
    },
  })
}

function tries({ db, filter }: SourceDeps): FeedSource {
  return new TableSource(db, {
    type: 'try',
    table: sql`delivery_attempts tries`,
    time: sql.ref('tries.time'),
    ids: [sql.ref('tries.delivery_id'), sql.ref('tries.number')],
    isWanted: isOwned(filter, {
      account: sql`(SELECT d.account_id FROM deliveries d WHERE d.id = tries.delivery_id)`,
      number: sql`(SELECT e.phone_number_id FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.id = tries.delivery_id)`,
    }),
    list: async (rows) => {
      const wanted = new Set(rows.map(({ ids }) => ids.join(' ')))
      const found = await readTries(db, withIds(['tries.delivery_id', 'deliveries.id'], rows))
      const located = locate(found, 'try', ({ data }) => [Number(data['delivery_id']), Number(data['number'])])
      return located.filter(({ place }) => wanted.has(place.ids.join(' ')))
    },
  })
}

interface Owner {
  readonly account: RawBuilder<string>
  readonly number: RawBuilder<string | null>
}

/**
 * Whether a row belongs to what is asked for. The owners of deliveries and tries are expressions, so that neither an index of the account
 * nor a join is used: both would lead through all rows of the account at each page.
 */
function isOwned({ account_id, phone_number_id, limits }: SourceDeps['filter'], { account, number }: Owner) {
  return all([
    isSeen(limits, { account }),
    account_id === undefined ? undefined : sql`${account} = ${account_id}`,
    phone_number_id === undefined ? undefined : sql`${number} = ${phone_number_id}`,
  ])
}

function replays({ db, filter }: SourceDeps): FeedSource {
  const { account_id, phone_number_id, limits } = filter
  const owner = { account: sql.ref<string>('replays.account_id'), business: sql.ref<string>('replays.business_id') }
  return new TableSource(db, {
    type: 'replay',
    table: sql`replays`,
    time: sql.ref('replays.changed_time'),
    ids: [sql.ref('replays.id')],
    isWanted: all([
      isSeen(limits, owner),
      account_id === undefined ? undefined : sql`replays.account_id = ${account_id}`,
      // No replay is of a number alone.
      phone_number_id === undefined ? undefined : sql`FALSE`,
    ]),
    list: async (rows) =>
      locate(await readReplays(db, withIds(['replays.id'], rows)), 'replay', ({ data }) => [String(data['replay_id'])]),
  })
}

function records({ db, filter, isRecordSeen }: SourceDeps): FeedSource {
  const { account_id, phone_number_id } = filter
  return new TableSource(db, {
    type: 'audit',
    table: sql`activities`,
    time: sql.ref('activities.time'),
    ids: [sql.ref('activities.id')],
    isWanted: all([
      isRecordSeen,
      account_id === undefined ? undefined : sql`activities.account_id = ${account_id}`,
      phone_number_id === undefined ? undefined : sql`activities.node_id = ${phone_number_id}`,
    ]),
    list: async (rows) => {
      const found = await listRecordsForOperators(
        db,
        rows.map(({ ids }) => Number(ids[0])),
      )
      return found.map((record) => ({
        place: { time: record.time, type: 'audit', ids: [Number(record.id)] },
        item: toRecordItem(record),
      }))
    },
  })
}

/** A record of a write as an item. */
export function toRecordItem(record: Activity & Partial<NamedActivity>): RecordedItem & { readonly type: 'audit' } {
  const { id, time, business_id, account_id, trace, actor_name, ...data } = record
  const phone_number_id = data.node_kind === 'phone_number' ? data.node_id : null
  const actor = typeof actor_name === 'string' && { actor_name }
  const owner = { business_id, account_id, phone_number_id }
  return { id: `audit-${id}`, type: 'audit', time, ...owner, trace, data: { ...data, ...actor } }
}

/** The requests that this process keeps. */
class RequestSource implements FeedSource {
  readonly #deps: SourceDeps

  constructor(deps: SourceDeps) {
    this.#deps = deps
  }

  async read(range: HistoryRange, limit: number): Promise<Recorded[]> {
    const { listRequests, filter } = this.#deps
    const found = listRequests()
      .map((request) => ({ request, place: { time: request.time, type: 'request' as const, ids: [request.number] } }))
      .filter(
        ({ place, request }) =>
          isPlaceWithin(place, range) && fits(toFeedItem(request), { ...filter, types: undefined }),
      )
      .sort((one, other) => comparePlaces(one.place, other.place))
    if (!range.isAscending) found.reverse()
    return found
      .slice(0, limit)
      .map(({ place, request }) => ({ place, item: toFeedItem(request.whole()) as RecordedItem }))
  }

  /** They are few, and looked at all at once. */
  async findEdge(): Promise<undefined> {
    return undefined
  }
}

function all(conditions: readonly (RawBuilder<boolean> | undefined)[]): RawBuilder<boolean> {
  const given = conditions.filter((condition) => condition !== undefined)
  return sql`${sql.join(given, sql` AND `)}`
}

function locate(items: readonly FeedItem[], type: RecordedType, idsOf: (item: FeedItem) => Ids): Recorded[] {
  return items.map((item) => ({ place: { time: item.time, type, ids: idsOf(item) }, item: item as RecordedItem }))
}
