import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../../db/database.ts'
import { isAmongWaiting } from '../../../db/waiting.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import { writeTimestamp } from '../../../graph/input/timestamps.ts'
import type { LoggedRequest } from '../../../graph/ports.ts'
import { idSchema } from '../../../graph/schemas.ts'
import { type FeedItem, type FeedItemType, feedItemTypes } from '../../../stream/feed-item.ts'
import { readDeliveries, readEvents, readReplays, readTries } from '../../../stream/read.ts'
import { describeItems } from './describe-items.ts'

const orNull = () => Type.Union([Type.String(), Type.Null()])

export const feedItemSchema = Type.Object({
  id: Type.String({ description: 'The same on every process; Last-Event-ID of a stream.' }),
  type: Type.Enum([...feedItemTypes, 'audit']),
  time: Type.String({ format: 'date-time' }),
  business_id: orNull(),
  account_id: orNull(),
  phone_number_id: orNull(),
  trace: orNull(),
  data: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'What belongs to the type. What belongs to an event has a subject: what it is about in a few words, without text of a user, or null. A call has findings: what is wrong with its sound, as at the gateway, or null when its number has no such call, or none any more. The value of an event is null when it has more than 16 KiB, and when its content was removed, then with content_removed.',
  }),
})
export type ShownFeedItem = Static<typeof feedItemSchema>

export function showFeedItem({ time, ...item }: FeedItem): ShownFeedItem {
  return { ...item, data: { ...item.data }, time: writeTimestamp(time) }
}

export const exampleFeedItem = {
  id: 'event-4711',
  type: 'event' as const,
  time: '2026-06-01T12:00:00.000Z',
  business_id: '2000000000000001',
  account_id: '1000000000000001',
  phone_number_id: '4000000000000001',
  trace: '4bf92f3577b34da6a3ce929d0e0e4736',
  data: { event_id: '4711', field: 'messages', value: {}, subject: 'text from +16505551234' },
}

export const filterProperties = {
  account_id: Type.Optional(idSchema({ description: 'Only what belongs to this account.' })),
  phone_number_id: Type.Optional(idSchema({ description: 'Only what belongs to this number.' })),
}

export interface FeedFilter {
  readonly types: ReadonlySet<FeedItemType> | undefined
  readonly account_id: string | undefined
  readonly phone_number_id: string | undefined
  readonly limits: OperatorLimits | undefined
}

export function fits(item: FeedItem, { types, account_id, phone_number_id, limits }: FeedFilter): boolean {
  if (types && !types.has(item.type)) return false
  if (account_id !== undefined && item.account_id !== account_id) return false
  if (phone_number_id !== undefined && item.phone_number_id !== phone_number_id) return false
  if (!limits) return true
  const { accounts, businesses } = limits
  return (
    (item.account_id !== null && accounts?.has(item.account_id) === true) ||
    (item.business_id !== null && businesses?.has(item.business_id) === true)
  )
}

export function toFeedItem(request: LoggedRequest): FeedItem {
  const { id, time, business_id, account_id, phone_number_id, trace, number: _, ...data } = request
  return { id, type: 'request', time, business_id, account_id, phone_number_id, trace, data }
}

/** How many rows of each kind are looked at for what happened before. */
const limit = 1000

/** What is stored of a trace, in order. */
export async function readTrace(db: Db, trace: string) {
  const where = sql<boolean>`events.trace = ${trace}`
  const { found: events } = await readEvents(db, { where, limit })
  const { found: deliveries } = await readDeliveries(db, { where, limit })
  const tries = await readTries(db, { where, limit })
  const replays = await readReplays(db, { where: sql<boolean>`replays.trace = ${trace}`, limit })
  return inOrder(await describeItems(db, [...events, ...deliveries, ...tries, ...replays]))
}

/** What is stored of a type since a time, in order; each by the index of its time. */
export async function readSince(db: Db, since: number, type: FeedItemType): Promise<FeedItem[]> {
  const after = (column: string) => {
    const time = sql.ref(column)
    return { where: sql<boolean>`${time} >= ${since}`, order: time, limit }
  }
  if (type === 'try') return inOrder(await readTries(db, after('tries.time')))
  if (type === 'replay') return inOrder(await readReplays(db, after('replays.changed_time')))
  if (type !== 'delivery') return inOrder((await readEvents(db, after('events.created_time'))).found)
  const started = after('deliveries.started_time')
  const isOpen = sql<boolean>`${started.where} AND ${isAmongWaiting()}`
  const { found: waiting } = await readDeliveries(db, { ...started, where: isOpen })
  const { found: ended } = await readDeliveries(db, after('deliveries.finished_time'))
  return inOrder([...waiting, ...ended])
}

const order = ['request', 'audit', 'event', 'message', 'call', 'timer', 'replay', 'delivery', 'try']

/** By time, and within one moment causes before their effects. */
export function inOrder<T extends { readonly time: number; readonly type: string }>(
  items: readonly T[],
  timeOf: (item: T) => number = ({ time }) => time,
): T[] {
  return [...items].sort((a, b) => timeOf(a) - timeOf(b) || order.indexOf(a.type) - order.indexOf(b.type))
}
