import type { FeedItem } from '../../data/feed-items.ts'
import type { Tone } from './tones.ts'

/** The line between two days. */
export interface DayRow {
  readonly type: 'day'
  readonly id: string
  readonly time: string
}

/** What belongs to one trace, in one line. */
export interface GroupRow {
  readonly type: 'group'
  readonly id: string
  readonly trace: string
  readonly time: string
  /** What stands for it: its request, or what came first. */
  readonly lead: FeedItem
  readonly items: readonly FeedItem[]
  readonly isOpen: boolean
}

/** A line of a group that is open. */
interface MemberRow {
  readonly type: 'member'
  readonly id: string
  readonly time: string
  readonly item: FeedItem
}

export type LiveRow = FeedItem | DayRow | GroupRow | MemberRow

/** Puts a line before each day, the newest first. Only where days change is looked for, because there are thousands. */
export function addDays<Row extends { readonly time: string }>(rows: readonly Row[]): (Row | DayRow)[] {
  const all: (Row | DayRow)[] = []
  let from = 0
  while (from < rows.length) {
    const { time } = rows[from] as Row
    const start = startOfDay(time)
    let to = rows.length
    // The first row of an earlier day lies between the two.
    for (let low = from + 1; low < to; ) {
      const middle = (low + to) >> 1
      if ((rows[middle] as Row).time < start) to = middle
      else low = middle + 1
    }
    all.push({ type: 'day', id: `day-${start}`, time })
    for (let index = from; index < to; index++) all.push(rows[index] as Row)
    from = to
  }
  return all
}

/** When the day of a time began, in the zone of the browser, as a time of the service. */
function startOfDay(time: string): string {
  const date = new Date(time)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).toISOString()
}

/** One line for each trace, in the order in which they began; below it, when it is open, what belongs to it, the oldest first. */
export function groupByTrace(items: readonly FeedItem[], open: ReadonlySet<string>): LiveRow[] {
  const groups = [...Map.groupBy(items, ({ trace, id }) => trace ?? id).values()]
  const rows = groups.map((some): FeedItem | GroupRow => {
    const [only] = some
    const { trace } = only as FeedItem
    const earliest = some.at(-1) as FeedItem
    if (trace === null || some.length === 1) return only as FeedItem
    const lead = some.find(({ type }) => type === 'request') ?? earliest
    const id = `group-${trace}`
    return { type: 'group', id, trace, time: earliest.time, lead, items: some.toReversed(), isOpen: open.has(id) }
  })
  rows.sort((one, other) => (one.time < other.time ? 1 : one.time > other.time ? -1 : 0))
  return addDays(rows).flatMap((row): LiveRow[] => {
    if (row.type !== 'group' || !row.isOpen) return [row]
    // They keep the day of their trace.
    const members = row.items.map((item): LiveRow => ({ type: 'member', id: `in-${item.id}`, time: item.time, item }))
    return [row, ...members]
  })
}

export interface GroupSummary {
  readonly result: string
  readonly tone: Tone
}

/** How a trace fares: its webhooks by their last state, and whether anything failed. */
export function summarizeGroup(items: readonly FeedItem[], toneOf: (item: FeedItem) => Tone): GroupSummary {
  const webhooks = new Map<string, FeedItem & { readonly type: 'delivery' }>()
  for (const one of items) if (one.type === 'delivery') webhooks.set(one.data.delivery_id, one)
  const last = [...webhooks.values()]
  const delivered = last.filter(({ data }) => data.state === 'delivered').length
  const tones = [...items.filter(({ type }) => type === 'request' || type === 'event'), ...last].map(toneOf)
  const tone = tones.includes('bad')
    ? 'bad'
    : tones.includes('warn')
      ? 'warn'
      : tones.includes('good')
        ? 'good'
        : 'plain'
  return { result: last.length === 0 ? `${items.length} lines` : `${delivered}/${last.length} webhooks`, tone }
}
