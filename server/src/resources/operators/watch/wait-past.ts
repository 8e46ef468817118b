import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../db/database.ts'
import type { OperatorContext } from '../../../graph/context.ts'
import { badArgument } from '../../../graph/define-error.ts'
import type { FeedItem } from '../../../stream/feed-item.ts'
import { readEvents } from '../../../stream/read.ts'
import { afterUnknown } from '../errors.ts'
import { describeItems } from './describe-items.ts'
import { fits, readSince, toFeedItem } from './feed-items.ts'
import { isOneOf, typesWithKind, type WaitFilter } from './wait-filter.ts'

/** Where a wait goes on. */
export interface Start {
  /** Whether an item that comes while it waits came before the start, or is the start. */
  isReached(item: FeedItem): boolean
  /** What is known to have come since then; undefined: it is read from the store. */
  readonly later?: readonly FeedItem[]
  readonly eventId?: number
}

/**
 * The start behind an item. This process knows in which order items came as long as it watches; that order holds what was committed
 * late, which the ids of events do not. Otherwise the ids of events are the order, and the numbers of the kept requests. Throws the
 * 400 for an item that was removed, or that the caller may not see.
 */
export async function findStart(context: OperatorContext, { owner, wanted }: WaitFilter, id: string): Promise<Start> {
  const { db, ports, limits } = context
  const isSeen = (item: FeedItem) =>
    fits(item, { types: undefined, account_id: undefined, phone_number_id: undefined, limits })
  const kept = ports.feed.listSince(id)
  if (kept && isSeen(kept.item)) return { isReached: (item) => item.id === id, later: kept.later }
  const eventId = Number(/^(?:event|message|call)-(\d{1,15})$/.exec(id)?.[1] ?? Number.NaN)
  if (isOneOf(typesWithKind, wanted.type) && !Number.isNaN(eventId)) {
    const { found } = await readEvents(db, { where: sql`events.id = ${eventId}`, limit: 1 })
    if (found[0] && isSeen(found[0])) return { isReached: (item) => Number(item.data['event_id']) <= eventId, eventId }
  }
  const requests = owner.types?.has('request') ? ports.listRequests() : []
  const request = requests.find((one) => one.id === id)
  if (request && isSeen(toFeedItem(request))) {
    const later = requests.filter(({ number }) => number > request.number).reverse()
    return { isReached: (item) => item.id === id, later: later.map((one) => toFeedItem(one.whole())) }
  }
  throw badArgument(afterUnknown('after'))
}

/** The first item of the past that fits. */
export async function findPast(
  { db, ports }: OperatorContext,
  filter: WaitFilter,
  start: Start | undefined,
  isOver: () => boolean,
): Promise<FeedItem | undefined> {
  const { type, since } = filter.wanted
  if (start?.later) return start.later.find((item) => filter.takes(item))
  if (isOneOf(typesWithKind, type)) {
    if (start?.eventId === undefined && since === undefined) return undefined
    const found = await findEvent(db, filter, start?.eventId, isOver)
    return found && (await describeItems(db, [found]))[0]
  }
  if (since === undefined || type === 'timer') return undefined
  if (type === 'request') {
    const first = ports.listRequests().findLast((one) => filter.takes(toFeedItem(one)))
    return first && toFeedItem(first.whole())
  }
  const found = (await readSince(db, since, type)).find((item) => filter.takes(item))
  return found && (await describeItems(db, [found]))[0]
}

const pageSize = 500

/** By the index of the ids or, without a start, of the time, page by page until one fits or the wait is over. */
async function findEvent(
  db: Db,
  filter: WaitFilter,
  after: number | undefined,
  isOver: () => boolean,
): Promise<FeedItem | undefined> {
  const { type, since = 0 } = filter.wanted
  const { account_id, phone_number_id } = filter.owner
  const field = { event: undefined, message: 'messages', call: 'calls' }[type as (typeof typesWithKind)[number]]
  const owned = [
    field === undefined ? undefined : sql`events.field = ${field}`,
    account_id === undefined ? undefined : sql`events.account_id = ${account_id}`,
    phone_number_id === undefined ? undefined : sql`events.phone_number_id = ${phone_number_id}`,
  ].filter((condition) => condition !== undefined)
  let last: { readonly id: number; readonly time: number } = { id: after ?? 0, time: since }
  for (;;) {
    const beyond: RawBuilder<boolean> =
      after === undefined
        ? sql`events.created_time >= ${last.time} AND (events.created_time > ${last.time} OR events.id > ${last.id})`
        : sql`events.id > ${last.id}`
    const { found } = await readEvents(db, {
      where: sql`${sql.join([beyond, ...owned], sql` AND `)}`,
      order: after === undefined ? sql`events.created_time, events.id` : sql.ref('events.id'),
      limit: pageSize,
    })
    const fitting = found.find((item) => filter.takes(item))
    const end = found.at(-1)
    if (fitting || !end || isOver()) return fitting
    last = { id: Number(end.data['event_id']), time: end.time }
  }
}
