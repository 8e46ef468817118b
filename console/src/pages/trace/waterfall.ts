import type { FeedItem, ItemOf } from '../../data/feed-items.ts'
import { beginUpper } from '../../ui/begin-upper.ts'
import { aboutWhat, describe, type NameOf, nameType } from '../live/describe.ts'
import type { Tone } from '../live/tones.ts'

type EventItem = ItemOf<'event' | 'message' | 'call'>
type DeliveryItem = ItemOf<'delivery'>
type TryItem = ItemOf<'try'>

/** A row of the waterfall. */
export interface WaterfallRow {
  readonly id: string
  readonly depth: number
  readonly name: string
  readonly text: string
  readonly result: string
  readonly tone: Tone
  /** Milliseconds since the epoch. */
  readonly start: number
  /** The same as the start for what takes no time; undefined while it goes on. */
  readonly end: number | undefined
  /** What opens with it; undefined for a row that only groups others. */
  readonly item: FeedItem | undefined
}

export type Grouping = 'event' | 'subscriber'

/** All that belongs to a trace, each below what caused it. The message or call of an event is the event once more, and left out. */
export function layRows(items: readonly FeedItem[], by: Grouping, nameOf: NameOf): WaterfallRow[] {
  const shown = items.filter(({ type }) => type !== 'message' && type !== 'call')
  const events = shown
    .filter((one): one is EventItem => one.type === 'event')
    .toSorted((one, other) => Date.parse(one.time) - Date.parse(other.time))
  const deliveries = listLatest(shown.filter((one): one is DeliveryItem => one.type === 'delivery'))
  const tries = shown.filter((one): one is TryItem => one.type === 'try')
  const begins = new Map(events.map(({ data, time }) => [data.event_id, Date.parse(time)]))
  const attemptsOf = (id: string, depth: number) =>
    tries
      .filter(({ data }) => data.delivery_id === id)
      .toSorted((one, other) => one.data.number - other.data.number)
      .map((one) => layAttempt(one, depth, nameOf))
  const webhook = (one: DeliveryItem, depth: number) => [
    layWebhook(one, depth, begins.get(one.data.event_id ?? ''), by, nameOf),
    ...attemptsOf(one.data.delivery_id, depth + 1),
  ]
  const others = shown
    .filter(({ type }) => type !== 'event' && type !== 'delivery' && type !== 'try')
    .map((one) => layOther(one, nameOf))
    .toSorted((one, other) => order(one) - order(other) || one.start - other.start)
  const known = new Set(events.map(({ data }) => data.event_id))
  const eventRows = events.map((one) => layOther(one, nameOf))
  if (by === 'subscriber') {
    const groups = Map.groupBy(deliveries, ({ data }) => `${data.app_id} ${data.callback_url}`)
    const grouped = [...groups.values()].flatMap((some) => [
      laySubscriber(some, begins, nameOf),
      ...some.flatMap((one) => webhook(one, 1)),
    ])
    return [...others, ...eventRows, ...grouped]
  }
  const ofEvent = (id: string) => deliveries.filter(({ data }) => data.event_id === id)
  const nested = events.flatMap((event, index) => [
    ...eventRows.slice(index, index + 1),
    ...ofEvent(event.data.event_id).flatMap((one) => webhook(one, 1)),
  ])
  // Webhooks of an event that is not kept any more.
  const orphans = deliveries.filter(({ data }) => !known.has(data.event_id ?? '')).flatMap((one) => webhook(one, 0))
  return [...others, ...nested, ...orphans]
}

function order({ item }: WaterfallRow): number {
  const index = ['request', 'audit'].indexOf(item?.type ?? '')
  return index < 0 ? 2 : index
}

/** Of several states of one webhook the last. */
function listLatest(items: readonly DeliveryItem[]): DeliveryItem[] {
  return [...new Map(items.map((one) => [one.data.delivery_id, one])).values()]
}

function layOther(item: FeedItem, nameOf: NameOf): WaterfallRow {
  const { text, detail, result, tone } = describe(item, nameOf)
  const end = Date.parse(item.time)
  // A request is noted when it is answered.
  const start = item.type === 'request' ? end - item.data.milliseconds : end
  return { id: item.id, depth: 0, name: nameType(item.type), text: join(text, detail), result, tone, start, end, item }
}

function layWebhook(
  item: DeliveryItem,
  depth: number,
  raised: number | undefined,
  by: Grouping,
  nameOf: NameOf,
): WaterfallRow {
  const { result, tone } = describe(item, nameOf)
  const { data, time } = item
  const end = data.state === 'waiting' ? undefined : Date.parse(time)
  const start = raised ?? Date.parse(time)
  const text = by === 'event' ? nameOf(data.app_id) : aboutWhat(data)
  return { id: `delivery-${data.delivery_id}`, depth, name: 'Webhook', text, result, tone, start, end, item }
}

function layAttempt(item: TryItem, depth: number, nameOf: NameOf): WaterfallRow {
  const { result, tone } = describe(item, nameOf)
  const start = Date.parse(item.time)
  const { number, milliseconds, problem } = item.data
  const text = beginUpper(problem ?? 'accepted')
  return { id: item.id, depth, name: `Attempt ${number}`, text, result, tone, start, end: start + milliseconds, item }
}

function laySubscriber(
  some: readonly DeliveryItem[],
  begins: ReadonlyMap<string, number>,
  nameOf: NameOf,
): WaterfallRow {
  const [first] = some
  const starts = some.map(({ data, time }) => begins.get(data.event_id ?? '') ?? Date.parse(time))
  const delivered = some.filter(({ data }) => data.state === 'delivered').length
  const isWaiting = some.some(({ data }) => data.state === 'waiting')
  return {
    id: `subscriber-${first?.data.app_id} ${first?.data.callback_url}`,
    depth: 0,
    name: 'Subscriber',
    text: `${nameOf(first?.data.app_id)} · ${first?.data.callback_url ?? ''}`,
    result: `${delivered} of ${some.length} delivered`,
    tone: delivered === some.length ? 'good' : isWaiting ? 'warn' : 'bad',
    start: Math.min(...starts),
    end: isWaiting ? undefined : Math.max(...some.map(({ time }) => Date.parse(time))),
    item: undefined,
  }
}

function join(text: string, detail: string | undefined): string {
  return detail === undefined ? text : `${text} · ${detail}`
}
